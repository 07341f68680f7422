package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What [Own] takes of a file that is one's own.
type Keep int

// The ways of keeping a file.
const (
	Settled Keep = iota // nobody else may write it: settings and rules
	Secret              // nobody else may read it either: keys, passwords, tokens
)

// ErrKind is why what is no ordinary file is not read: reading a pipe or a device may wait, or never end.
var ErrKind = errors.New("it is no ordinary file")

// Plain reads an ordinary file whole, and refuses one that is longer than so many bytes. It waits for nothing: what is opened is
// looked at before it is read, and a pipe or a device is opened without waiting for its other end.
func Plain(path string, most int64) ([]byte, error) {
	data, _, err := Look(path, most)
	return data, err
}

// Own is Plain for a file that only its owner may change, or, for a secret, read. What is checked is what was opened, whatever links
// led to it. On systems of Unix's kind the file must belong to this user or to root (root takes anybody's), its mode must keep others
// out, and so must that of the directory it lies in, or they could put another in its place. Windows keeps who may do what elsewhere,
// in lists that are not looked at here: there it is only held to be an ordinary file.
func Own(path string, most int64, keep Keep) ([]byte, error) {
	data, info, err := Look(path, most)
	if err != nil {
		return nil, err
	}
	if err := kept(info, keep, "it"); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := OwnDir(filepath.Dir(real)); err != nil {
		return nil, err
	}
	return data, nil
}

// OwnDir refuses a directory in which others may put one file in another's place.
func OwnDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // in /tmp and the like nobody can replace another's files
		return nil
	}
	return kept(info, Settled, "its directory")
}

// Kept refuses what others may write, or, for a secret, read.
func Kept(info fs.FileInfo, keep Keep) error { return kept(info, keep, "it") }

// An openError says that others can get at a file.
type openError struct{ text string }

func (e openError) Error() string { return e.text }

// IsOpen reports whether an error says that others can get at a file, not that it can't be read.
func IsOpen(err error) bool {
	var open openError
	return errors.As(err, &open)
}

func kept(info fs.FileInfo, keep Keep, what string) error {
	if !modesCount {
		return nil
	}
	mode := info.Mode().Perm()
	switch {
	case keep == Secret && mode&0o077 != 0:
		return openError{fmt.Sprintf("%s may be read by others (mode %04o); run: chmod 600 on it", what, mode)}
	case mode&0o022 != 0:
		return openError{fmt.Sprintf("%s may be written by others (mode %04o); run: chmod go-w on it", what, mode)}
	case !ownedHere(info):
		return openError{what + " belongs to another user, who may write it; run: chown on it"}
	}
	return nil
}

// Open opens an ordinary file, for what is read in parts. Like Plain it waits for nothing.
func Open(path string) (*os.File, error) {
	f, _, err := open(path, fs.FileMode.IsRegular)
	return f, err
}

// OpenDir opens a directory, and nothing that has taken its place.
func OpenDir(path string) (*os.File, error) {
	f, _, err := open(path, fs.FileMode.IsDir)
	return f, err
}

func open(path string, kind func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	f, err := openAtOnce(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !kind(info.Mode()) {
		err = ErrKind
	}
	if err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, nil, err
	}
	return f, info, nil
}

// Look is Plain, and says what file it was.
func Look(path string, most int64) ([]byte, fs.FileInfo, error) {
	f, info, err := open(path, fs.FileMode.IsRegular)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := All(f, most)
	return data, info, err
}
