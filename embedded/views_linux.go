package embedded

import (
	"os"
	"syscall"
	"time"
)

// changeTime is when a directory's entries or attributes last changed. It is the inode's change time and not its
// modification time, because anybody who may write a directory can set the latter back.
func changeTime(info os.FileInfo) (time.Time, bool) {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(status.Ctim.Unix()), true
}
