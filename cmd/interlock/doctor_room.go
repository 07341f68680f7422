package main

import (
	"errors"
	"os"

	"interlock/internal/console"
)

// roomNeeded is what some thousand decisions take.
const roomNeeded = 4 << 20

// room writes and removes a file of roomNeeded bytes in the home: where nothing can be written nothing can be recorded, and what
// can't be recorded is refused. SQLite's own trial would be a decision that is no canary's. Where it can be written, how much
// room is left is told as soon as it is little: a full disk stops every agent at once.
func (d *diagnosis) room() {
	file, err := os.CreateTemp(d.settings.Home, "doctor-*.tmp")
	if err == nil {
		defer os.Remove(file.Name())
		_, err = file.Write(make([]byte, roomNeeded))
		err = errors.Join(err, file.Sync(), file.Close())
	}
	switch {
	case errors.Is(err, os.ErrNotExist): // without a home the store has failed and said so
	case err != nil:
		d.note("room", "", statusFail, "nothing can be written to %s, so every call is refused; free some space or mend its mode: %s", d.settings.Home, err)
	default:
		d.littleRoom()
	}
}

// littleRoom warns of a disk that will be full soon. One whose room the system does not tell is not warned of.
func (d *diagnosis) littleRoom() {
	space, err := d.disk(d.settings.Home)
	if err == nil && space.Total > 0 && space.Little() {
		d.note("room", "", statusWarn, "%s of %s are free on the disk of %s, fewer than %s; once it is full every call is refused: free "+
			"some space, or move old events elsewhere with `interlock audit archive`", console.InWords(space.Free),
			console.InWords(space.Total), d.settings.Home, console.InWords(console.LittleSpace))
	}
}
