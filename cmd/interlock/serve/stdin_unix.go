//go:build unix

package serve

import (
	"io"
	"os"
	"syscall"
)

// waitable returns a pipe or socket as a file whose readers wait without a thread of their own. A read that holds one keeps
// the call it has just read waiting until another thread has woken up: on an idle machine that is longer than the decision
// takes. What a terminal or a file is read by stays as it is.
func waitable(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in
	}
	fd, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		return in
	}
	syscall.CloseOnExec(fd)
	if syscall.SetNonblock(fd, true) != nil {
		syscall.Close(fd)
		return in
	}
	return os.NewFile(uintptr(fd), file.Name())
}
