//go:build unix

package cosign

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// syncDir has a directory's names on disk, which renaming alone does not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Lock keeps a second witness out of a directory for as long as this process lives or until unlock: two that share one could both
// cosign, each from what it remembers.
func Lock(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(errors.New("another witness uses the directory"), f.Close())
	}
	return f.Close, nil
}
