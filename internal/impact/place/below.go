package place

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
)

// What lies below a directory. A program that goes through a whole tree reads, changes or deletes what is protected in it as
// well, so a home directory means the keys below it.

// How deep the files lie that a field means.
const (
	WholeTree  = 1 // everything below the path
	NamedBelow = 2 // what has the path's last part for its name, however far below
)

// holdsSecrets reports whether stores of secrets lie below a directory of somebody's home, or below one that holds homes.
// What the system keeps for itself is not looked for: who has no rights to it doesn't read it.
func (w *World) holdsSecrets(clean string) bool {
	return w.Holds(strings.TrimSuffix(clean, "/*"), "*", fact.TraitSecret)
}

// sharedFolders are where many programs keep what is theirs, each under a name of its own.
var sharedFolders = []string{"", ".config", ".local", ".local/share", "Library", "Library/Application Support", "AppData",
	"AppData/Roaming", "AppData/Local"}

// BeginsPrograms reports whether a folder of somebody's home is one in which a program looks for what it begins with, so that
// to put a whole folder there is to put such a file there.
func (w *World) BeginsPrograms(clean string) bool {
	below, inHome := w.belowHome(clean)
	return inHome && !slices.Contains(sharedFolders, below) && w.Holds(clean, "*", fact.TraitStartup)
}

// Holds reports whether something with a trait, whose name fits, lies below a directory of somebody's home or one that holds
// homes.
func (w *World) Holds(clean, name, trait string) bool {
	table := w.Know.PathTable()
	home, inHome := w.belowHome(clean)
	switch {
	case clean == "/" || clean == "/home" || clean == "/Users" || w.View.Home != "" && strings.HasPrefix(clean, "/") &&
		Below(w.View.Home, clean):
		home = ""
	case !inHome:
		return false
	}
	dirs := 0
	if home != "" {
		dirs = strings.Count(home, "/") + 1
	}
	for _, m := range table.ByTrait[trait] {
		if len(m.Parts) > dirs && liesBelow(m.Parts, home) && fits(m, name) {
			return true
		}
	}
	return false
}

// liesBelow reports whether the directory that the first parts name could be the given one.
func liesBelow(parts []string, dir string) bool {
	for i := 0; dir != ""; i++ {
		name, after, _ := strings.Cut(dir, "/")
		if name != parts[i] && !(know.LettersOf(parts[i]) > 0 && know.MatchGlob(parts[i], name)) &&
			!(know.IsGlob(name) && know.MayName(name, parts[i], true)) {
			return false
		}
		dir = after
	}
	return true
}

// fits reports whether a protected file could have a name, or a protected tree hold a file of any name.
func fits(m *know.PathPattern, name string) bool {
	if strings.Trim(name, "*?") == "" {
		return true
	}
	last := m.Parts[len(m.Parts)-1]
	return last == name || know.MatchGlob(last, name) || know.IsGlob(name) && know.GlobsMeet(name, strings.TrimRight(last, "*"))
}

// Found gives a place that means what a search finds anywhere below a directory what is protected there.
func (w *World) Found(p *know.Place, depth int) {
	dir, name := p.Path, "*"
	if depth == NamedBelow {
		if at := strings.LastIndexByte(p.Path, '/'); at >= 0 {
			dir, name = p.Path[:at], p.Path[at+1:]
		}
	}
	dir = strings.TrimSuffix(dir, "/*")
	if dir == "" {
		dir = "/"
	}
	if !w.Spend(50) {
		return
	}
	for _, trait := range [...]string{fact.TraitSecret, fact.TraitStartup, fact.TraitAgentConfig} {
		switch all := strings.Trim(name, "*?") == ""; {
		case all && trait != fact.TraitSecret || !w.Holds(dir, name, trait):
		case all:
			p.Opened = true
		default:
			p.Traits = append(p.Traits, trait)
		}
	}
	for _, self := range w.View.Self {
		last := self[strings.LastIndexByte(self, '/')+1:]
		if Below(self, dir) && (strings.Trim(name, "*?") == "" || last == name || know.IsGlob(name) &&
			know.GlobsMeet(name, last)) {
			p.MaybeSelf = true
		}
	}
}

// locateSelf notes that a path is, or could be, one of Interlock's own.
func (w *World) locateSelf(p *know.Place) {
	glob := know.IsGlob(p.Path)
	for _, self := range w.View.Self {
		if Below(p.Path, self) || glob && know.GlobReaches(p.Path, self, false) {
			p.Reach = interlock.ReachSelf
		}
		p.MaybeSelf = p.MaybeSelf || glob && know.GlobReaches(p.Path, self, true)
	}
	if p.Reach == interlock.ReachSelf {
		p.Traits = append(p.Traits, fact.TraitSelf)
		if last := p.Path[strings.LastIndexByte(p.Path, '/')+1:]; glob && know.IsGlob(last) && know.GlobsMeet(last, "log.key") {
			p.Traits = append(p.Traits, fact.TraitSecret)
		}
	}
}

// protects adds to an impact what follows from the places that a path means and does not name.
func (w *World) protects(p *know.Place, i *interlock.Impact) {
	changes := i.Kind == interlock.ImpactWrite || i.Kind == interlock.ImpactDelete
	if p.MaybeSelf && changes && i.Reach != interlock.ReachSelf && !fact.HasTrait(p.Traits, fact.TraitRoot) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), fact.TraitSelf)
	}
	if i.Reach != interlock.ReachSelf && replaces(p, i) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), fact.TraitSelf)
	}
	if i.Kind == interlock.ImpactPrivilege && w.HoldsSelf(p.Path) &&
		(i.Has(fact.TraitRecursive) && !fact.HasTrait(p.Traits, fact.TraitRoot) || i.Has(fact.TraitBreaking)) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), fact.TraitSelf)
	}
	if i.Kind == interlock.ImpactRead && !p.Listed && (p.Opened || i.Has(fact.TraitRecursive) && w.holdsSecrets(p.Path)) {
		p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], fact.TraitSecret)
	}
}
