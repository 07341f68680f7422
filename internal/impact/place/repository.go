package place

import (
	"path"
	"strings"

	"interlock/internal/impact/know"
)

// Repository reports whether a path is that of a folder in which git keeps a repository, by the name everybody gives
// such a folder, or lies in one: .git, app.git, a folder of somebody's home that begins with a dot. Git obeys the
// settings it finds there, and who looks at a project knows to look there.
func (w *World) Repository(clean string) bool {
	home, inHome := w.belowHome(clean)
	for rest := strings.ToLower(clean); rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if name == ".git" {
			return true
		}
	}
	last := strings.ToLower(path.Base(clean))
	for _, pattern := range w.Know.PathTable().Repository {
		below, ofHome := strings.CutPrefix(pattern, "~/")
		switch {
		case !ofHome && know.MatchGlob(pattern, last),
			ofHome && inHome && strings.Count(home, "/") == strings.Count(below, "/") && know.MatchGlob(below, home):
			return true
		}
	}
	return false
}
