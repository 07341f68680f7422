//go:build unix

package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ownSocket refuses a socket that somebody else may have put there: what answers on it decides. The socket has to be
// this user's, in a directory of this user's (or root's) that nobody else may write.
func ownSocket(path string) error {
	socket, err := os.Lstat(path)
	if err != nil {
		return err
	}
	dir, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if socket.Mode().Type() != fs.ModeSocket || owner(socket) != os.Geteuid() {
		return errors.New("the server's socket is not this user's")
	}
	if who := owner(dir); !dir.IsDir() || who != os.Geteuid() && who != 0 || dir.Mode().Perm()&0o022 != 0 {
		return errors.New("the directory of the server's socket may be written by others")
	}
	return nil
}

// systemSocket is whose server listens on a socket, if none but root and that user could have put it there: every directory above
// it is root's or that user's, and nobody else can write there, or at least not replace what others own.
func systemSocket(path string) (user int, err error) {
	socket, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if user = owner(socket); socket.Mode().Type() != fs.ModeSocket || user < 0 {
		return 0, errors.New("the system's socket is no socket")
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil {
			return 0, err
		}
		who, open := owner(info), info.Mode().Perm()&0o022 != 0
		if !info.IsDir() || who != 0 && who != user || open && !(who == 0 && info.Mode()&fs.ModeSticky != 0) {
			return 0, errors.New("a directory above the system's socket may be written by others: " + dir)
		}
		if dir == filepath.Dir(dir) {
			return user, nil
		}
	}
}

// owner is the user a file belongs to; -1 where the system does not say.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
