//go:build unix

package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// quickRead reads a small plain file that nobody else could have put there: one of this user's or root's on which others have none
// of some rights. Every call of a hook reads some, and each step that package os takes beyond these costs it as much as all else
// that is done with them.
func quickRead(path string, rights fs.FileMode) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case stat.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return nil, errors.New("it is not a plain file")
	case int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return nil, errors.New("it belongs to another user")
	case fs.FileMode(stat.Mode&0o777)&rights != 0:
		return nil, errors.New("others have rights on it")
	case stat.Size > maxSmall:
		return nil, errors.New("it is too long")
	}
	data := make([]byte, stat.Size)
	for read := 0; read < len(data); {
		n, err := syscall.Read(fd, data[read:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return nil, errors.New("it can't be read to its end")
		}
		read += n
	}
	return data, nil
}

// quickWrite writes a small file whole or not at all.
func quickWrite(path string, data []byte) error {
	temporary := filepath.Join(filepath.Dir(path), ".interlock-"+strconv.Itoa(os.Getpid())+"-"+
		strconv.FormatInt(time.Now().UnixNano(), 36))
	fd, err := syscall.Open(temporary, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "open", Path: temporary, Err: err}
	}
	n, err := syscall.Write(fd, data)
	if err == nil && n != len(data) {
		err = syscall.ENOSPC
	}
	if closeErr := syscall.Close(fd); err == nil {
		err = closeErr
	}
	if err == nil {
		err = syscall.Rename(temporary, path)
	}
	if err != nil {
		_ = syscall.Unlink(temporary)
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
