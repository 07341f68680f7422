package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"unsafe"
)

// asked is how Interlock asks for a word: the reader of the screen finds it there, and nowhere before.
var asked = regexp.MustCompile(`to go on, type ([a-z0-9]{4}-[a-z0-9]{4}) and Enter: $`)

// Run runs a command at a terminal of its own, as the leader of a session, and types back the word it shows. Its standard streams stay
// as they are. It returns what was to be seen on the screen.
func Run(command *exec.Cmd) (screen string, err error) {
	keyboard, far, err := open()
	if err != nil {
		return "", err
	}
	defer keyboard.Close()
	command.ExtraFiles = append(command.ExtraFiles, far)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2 + len(command.ExtraFiles)}
	if err := command.Start(); err != nil {
		far.Close()
		return "", err
	}
	far.Close()
	seen := make(chan string)
	go func() { seen <- play(keyboard) }()
	err = command.Wait()
	return <-seen, err
}

// play reads the screen and answers until the program is gone.
func play(keyboard *os.File) string {
	var screen bytes.Buffer
	for some := make([]byte, 1024); ; {
		n, err := keyboard.Read(some) // fails once nobody has the other side open
		screen.Write(some[:n])
		if word := asked.FindSubmatch(screen.Bytes()); n > 0 && word != nil {
			_, _ = keyboard.Write(append(word[1], '\n')) // a program that is gone has said why
		}
		if err != nil {
			return screen.String()
		}
	}
}

// open makes a pseudo-terminal: the side a person has, and the program's.
func open() (keyboard, far *os.File, err error) {
	keyboard, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var number, unlocked int32
	if err = control(keyboard, syscall.TIOCSPTLCK, &unlocked); err == nil {
		err = control(keyboard, syscall.TIOCGPTN, &number)
	}
	if err == nil {
		far, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		keyboard.Close()
		return nil, nil, fmt.Errorf("making a terminal: %w", err)
	}
	return keyboard, far, nil
}

func control(file *os.File, request uintptr, value *int32) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
	})
	if failed != 0 {
		return failed
	}
	return err
}
