//go:build unix

package main

import (
	"os"
	"syscall"
)

// lockDirectory waits for the advisory lock on a directory. The lock goes with the process.
func lockDirectory(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		d.Close()
		return nil, err
	}
	return func() { d.Close() }, nil
}
