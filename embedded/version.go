package embedded

import (
	"runtime/debug"
	"strings"
)

// Release is the version of this tree, and the only place where it is written: `make release` and all that it makes take it from
// here.
const Release = "0.1.0-dev"

// built is the commit that a release was built from. A release is built from a copy without a history, and this is written
// into it.
const built = ""

// Version is the version of this program.
func Version() string { return Release }

// Commit is what this program was built from, as the release or the Go toolchain recorded it, and whether that had been
// changed; empty where it was built from files without a history.
func Commit() (revision string, changed bool) {
	if built != "" {
		return strings.CutSuffix(built, "+changed")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return revision, changed
}
