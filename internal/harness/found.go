package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/fileio"
	"interlock/internal/witness"
)

// Found reports whether a coding agent is on this machine for this user: it has settings of its own, or its program can be
// started.
func (h Harness) Found(place Place, program func(name string) bool) bool {
	dir := filepath.Dir(h.Settings(place))
	if h.below {
		dir = filepath.Dir(dir)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return true
	}
	return program(h.Name) || slices.ContainsFunc(h.programs, program)
}

// Backups lists the copies that installing left beside a settings file, oldest first.
func Backups(path string) []string { return backupsOf(path) }

// Forget removes what was kept beside a harness of an Interlock home that is going: the name of its key, and the heads of its
// log. Those of other homes stay. An empty origin leaves the heads, which say what a log that stays must still hold.
func Forget(userHome, agent, home, origin string) error {
	failed := unpin(PinFile(userHome, agent), home)
	if origin == "" {
		return failed
	}
	for _, file := range KeptFiles(userHome, agent) {
		text, err := quickRead(file, 0)
		if err != nil {
			continue
		}
		if head, ok := witness.ParseHead(text); ok && head.Origin == origin {
			failed = errors.Join(failed, os.Remove(file))
		}
	}
	return failed
}

// unpin takes the line of a home out of a file, and the file where no other is left.
func unpin(path, home string) error {
	have, err := quickRead(path, 0o022)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return about(path, errors.New("can't be read: "+fileio.Reason(err)))
	}
	var lines []string
	for _, line := range strings.Split(string(have), "\n") {
		if _, of, ok := strings.Cut(line, " "); ok && of != home {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return os.Remove(path)
	}
	return replace(path, []byte(strings.Join(lines, "\n")+"\n"), nil)
}
