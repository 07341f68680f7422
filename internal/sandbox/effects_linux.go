package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// isWhiteout reports whether an entry of an overlay's upper directory says that something was deleted.
func isWhiteout(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && stat.Rdev == 0
}

// isOpaque reports whether a directory of an overlay's upper directory covers what is below it.
func isOpaque(root *os.Root, name string) bool {
	dir, err := root.Open(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	var value [1]byte
	for _, attribute := range []string{"trusted.overlay.opaque", "user.overlay.opaque"} {
		n, err := syscall.Getxattr(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), attribute, value[:])
		if err == nil && n == 1 && value[0] == 'y' {
			return true
		}
	}
	return false
}
