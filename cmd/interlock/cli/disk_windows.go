package cli

import (
	"fmt"

	"golang.org/x/sys/windows"

	"interlock/internal/console"
)

// RoomOf is how much room the disk has that a directory is on.
func RoomOf(dir string) (console.Space, error) {
	var s console.Space
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &s.Free, &s.Total, nil)
	}
	if err != nil {
		return console.Space{}, fmt.Errorf("asking for the room of a disk: %w", err)
	}
	return s, nil
}
