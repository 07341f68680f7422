//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// Nothing makes such entries here.

const nonBlocking = 0

func isWhiteout(fs.FileInfo) bool { return false }

func isOpaque(*os.Root, string) bool { return false }
