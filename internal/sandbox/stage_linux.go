package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stageWord is the first argument that makes this program a sandbox's helper.
const stageWord = "interlock-sandbox-stage"

// bridgeProgram is where this program is found inside a sandbox that has a network.
const bridgeProgram = "/.interlock"

// Stage does the part of setting up a sandbox that a process of its own must do, if the arguments ask for it, and reports
// whether they did. A program that uses this package calls it first thing in main. It becomes another program where it
// succeeds, so it returns true only after a failure, which it has told on standard error.
func Stage(args []string) bool {
	if len(args) < 5 || args[1] != stageWord {
		return false
	}
	socket, err := strconv.Atoi(args[3])
	switch {
	case err != nil:
	case args[2] == "layer":
		err = layer(socket, args[4:])
	case args[2] == "bridge":
		err = bridge(socket, args[4:])
	default:
		err = fmt.Errorf("%.40q is not known", args[2])
	}
	fmt.Fprintln(os.Stderr, "setting up the sandbox:", err)
	os.Exit(1)
	return true
}

// A layering is what the layer helper is told.
type layering struct {
	Dir       string `json:"dir"`       // of the run; the copy is mounted below it, in this process's own mount namespace
	Workspace string `json:"workspace"` // what it is a copy of
	Size      int64  `json:"size"`      // of what may be written
	User      bool   `json:"user"`      // it is mounted in a user namespace of our own
}

func (l layering) merged() string { return filepath.Join(l.Dir, "layer", "merged") }

// layer mounts a throw-away copy of the workspace, hands the directory of what is written to it back, and becomes
// bubblewrap. It runs in a mount namespace of its own, and unless it is root in a user namespace of its own.
func layer(socket int, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("nothing to start")
	}
	var l layering
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return err
	}
	base := filepath.Join(l.Dir, "layer")
	if err := os.Mkdir(base, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", base, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV,
		fmt.Sprintf("size=%d,mode=0700", l.Size)); err != nil {
		return fmt.Errorf("mounting the copy's memory: %w", err)
	}
	upper := filepath.Join(base, "upper")
	for _, dir := range []string{upper, filepath.Join(base, "work"), l.merged()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	// The paths go through file descriptors, because a comma or a colon in them would mean something to the kernel.
	options := []string{"redirect_dir=nofollow", "index=off", "metacopy=off"}
	if l.User {
		options = append(options, "userxattr")
	}
	for _, dir := range [][2]string{{"lowerdir", l.Workspace}, {"upperdir", upper}, {"workdir", filepath.Join(base, "work")}} {
		fd, err := syscall.Open(dir[1], syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening the %s: %w", dir[0], err)
		}
		options = append(options, fmt.Sprintf("%s=/proc/self/fd/%d", dir[0], fd))
		if dir[0] == "upperdir" {
			if err := hand(socket, fd); err != nil {
				return err
			}
		}
	}
	if err := syscall.Mount("overlay", l.merged(), "overlay", syscall.MS_NOSUID|syscall.MS_NODEV,
		strings.Join(options, ",")); err != nil {
		return fmt.Errorf("mounting the copy: %w", err)
	}
	return fmt.Errorf("starting bubblewrap: %w", syscall.Exec(args[1], args[1:], os.Environ()))
}

// bridge opens the door to the proxy: it listens inside, hands the listener out, where this program answers, and becomes
// the command. A socket belongs to the network it was made in, no matter who holds it.
func bridge(socket int, args []string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	tcp := listener.(*net.TCPListener)
	file, err := tcp.File()
	if err != nil {
		return err
	}
	if err := hand(socket, int(file.Fd())); err != nil {
		return err
	}
	address := "http://" + listener.Addr().String()
	env := os.Environ()
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		env = append(env, name+"="+address)
	}
	program, err := lookPath(args[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("starting %s: %w", args[0], syscall.Exec(program, args, env))
}

// lookPath finds a command as execvp does.
func lookPath(name string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%.80q is not found", name)
}

// hand passes a file descriptor to the process that started this one, and closes the way to it.
func hand(socket, fd int) error {
	err := syscall.Sendmsg(socket, []byte{0}, syscall.UnixRights(fd), nil, 0)
	if err != nil {
		return fmt.Errorf("handing over: %w", err)
	}
	return syscall.Close(socket)
}

// handed waits for what a helper hands over.
func handed(socket *os.File) (*os.File, error) {
	data, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := syscall.Recvmsg(int(socket.Fd()), data, rights, syscall.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("nothing was handed over")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("nothing was handed over")
	}
	return os.NewFile(uintptr(fds[0]), "handed"), nil
}

// socketpair makes both ends of a way for handing over.
func socketpair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}
