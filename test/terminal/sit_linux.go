package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"unsafe"
)

// An Answer is what the person types once the screen shows something.
type Answer struct {
	Shown *regexp.Regexp // looked for behind what was there when the answer before was typed
	Type  string
}

// Sit runs a command whose standard input, output and error are a terminal of its own, of so many lines and columns, types the
// answers, each once, in order, and returns everything that was on the screen.
func Sit(command *exec.Cmd, lines, columns uint16, answers []Answer) (screen string, err error) {
	keyboard, far, err := open()
	if err != nil {
		return "", err
	}
	defer keyboard.Close()
	size := struct{ lines, columns, x, y uint16 }{lines, columns, 0, 0}
	if err := resize(far, unsafe.Pointer(&size)); err != nil {
		far.Close()
		return "", fmt.Errorf("giving the terminal its size: %w", err)
	}
	command.Stdin, command.Stdout, command.Stderr = far, far, far
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		far.Close()
		return "", err
	}
	far.Close()
	seen := make(chan string)
	go func() { seen <- answer(keyboard, answers) }()
	err = command.Wait()
	return <-seen, err
}

// answer reads the screen and types until the program is gone.
func answer(keyboard *os.File, answers []Answer) string {
	var screen bytes.Buffer
	from := 0
	for some := make([]byte, 4096); ; {
		n, err := keyboard.Read(some) // fails once nobody has the other side open
		screen.Write(some[:n])
		for len(answers) > 0 && answers[0].Shown.Match(screen.Bytes()[from:]) {
			from = screen.Len()
			_, _ = keyboard.WriteString(answers[0].Type) // a program that is gone has said why
			answers = answers[1:]
		}
		if err != nil {
			return screen.String()
		}
	}
}

func resize(file *os.File, size unsafe.Pointer) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCSWINSZ, uintptr(size))
	})
	if failed != 0 {
		return failed
	}
	return err
}
