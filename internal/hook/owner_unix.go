//go:build unix

package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ownSocket refuses a socket that somebody else may have put there: whoever answers on it decides. The socket has to be
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

// owner is the user a file belongs to; -1 where the system does not say.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
