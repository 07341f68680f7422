package embedded

import (
	"os"
	"time"
)

// Remembered returns how many directories a Views holds.
func Remembered(v *Views) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.directories)
}

// DateByModification has a Views go by modification times, which a test can set.
func DateByModification(v *Views) {
	v.changed = func(info os.FileInfo) (time.Time, bool) { return info.ModTime(), true }
}

// The gateway's key and shelf.
var (
	GatewayKey = gatewayKey
	NewShelf   = newShelf
)
