//go:build unix

package cli

import (
	"fmt"
	"syscall"

	"interlock/internal/console"
)

// RoomOf is how much room the disk has that a directory is on, for a user other than root.
func RoomOf(dir string) (console.Space, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return console.Space{}, fmt.Errorf("asking for the room of a disk: %w", err)
	}
	size := uint64(s.Bsize)
	return console.Space{Free: uint64(s.Bavail) * size, Total: uint64(s.Blocks) * size}, nil
}
