//go:build unix

package harness

import (
	"errors"
	"os"
	"syscall"
)

// ownFile refuses a file that is not this user's or root's, or on which others have one of some rights.
func ownFile(path string, rights os.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a plain file")
	case !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&rights != 0:
		return errors.New("others have rights on it")
	}
	return nil
}
