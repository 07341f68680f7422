package main

import (
	"os"
	"path/filepath"

	"interlock"
	"interlock/internal/console"
)

// homeNeeds is the room that a new home takes with its first decisions.
const homeNeeds = 2 * roomNeeded

// lookRoom refuses a disk that is too full for what would be written. One whose room the system does not tell is tried.
func (s *setup) lookRoom(disk func(dir string) (console.Space, error)) error {
	type need struct {
		dir  string
		size uint64
	}
	needs := []need{{s.home, homeNeeds}}
	for _, c := range s.copies {
		if info, err := os.Stat(c.from); err == nil && !c.same {
			needs = append(needs, need{filepath.Dir(c.to), uint64(info.Size())})
		}
	}
	total := map[console.Space]uint64{} // two directories on disks of equal room are taken to be on one
	for _, n := range needs {
		dir := n.dir
		if missing := missingDirs(dir); len(missing) > 0 {
			dir = filepath.Dir(missing[len(missing)-1])
		}
		space, err := disk(dir)
		if err != nil || space.Total == 0 {
			continue
		}
		if total[space] += n.size; total[space] > space.Free {
			return interlock.Errorf(interlock.CodeUnavailable, "", "the disk of %s is full: %s are free and %s are needed; free some space", dir,
				console.InWords(space.Free), console.InWords(total[space]+1<<20-1)) // rounded up
		}
	}
	return nil
}
