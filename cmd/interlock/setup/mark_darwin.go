package setup

import (
	"fmt"
	"os"
	"syscall"
)

func systemMark(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d %d.%d", stat.Ino, stat.Ctimespec.Sec, stat.Ctimespec.Nsec)
	}
	return ""
}
