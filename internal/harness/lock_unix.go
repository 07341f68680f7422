//go:build unix

package harness

import (
	"os"
	"syscall"
	"time"
)

// lockTries bounds the wait for the lock, a millisecond each: the answer is out already, and a hook that lingers runs into
// its harness's timeout.
const lockTries = 25

// lockDirectory takes the advisory lock on a directory. The lock goes with the process.
func lockDirectory(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { d.Close() }, nil
		}
		time.Sleep(time.Millisecond)
	}
	d.Close()
	return nil, err
}
