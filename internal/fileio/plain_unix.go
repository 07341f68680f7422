//go:build unix

package fileio

import (
	"io/fs"
	"os"
	"syscall"
)

const modesCount = true

// openAtOnce opens a file for reading, and does not wait for who writes to it.
func openAtOnce(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// ownedHere reports whether a file belongs to this user or to root. Root takes anybody's: it acts for them.
func ownedHere(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return !ok || owner.Uid == 0 || os.Geteuid() == 0 || int(owner.Uid) == os.Geteuid()
}

// Chown gives a file the owner of another, if this is root, who is the only one that could have changed it.
func Chown(f *os.File, like fs.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}

// ChownAt is Chown by name. It follows no link: the owner of the directory may put one there in between.
func ChownAt(path string, like fs.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}
