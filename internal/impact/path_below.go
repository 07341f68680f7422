package impact

import (
	"strings"

	"interlock"
)

// What lies below a directory. A program that goes through a whole tree reads, changes or deletes what is protected in it as
// well, so a home directory stands for the keys below it.

// How deep the files lie that a field stands for.
const (
	wholeTree  = 1 // everything below the path
	namedBelow = 2 // what has the path's last part for its name, however far below
)

// holdsSecrets reports whether stores of secrets lie below a directory of somebody's home, or below one that holds homes.
// What the system keeps for itself is not looked for: who has no rights to it doesn't read it.
func (w *world) holdsSecrets(clean string) bool {
	return w.holds(strings.TrimSuffix(clean, "/*"), "*", TraitSecret)
}

// holds reports whether something with a trait, whose name fits, lies below a directory of somebody's home or one that holds
// homes.
func (w *world) holds(clean, name, trait string) bool {
	table := w.know.pathTable()
	home, inHome := w.belowHome(clean)
	switch {
	case clean == "/" || clean == "/home" || clean == "/Users" || w.view.Home != "" && strings.HasPrefix(clean, "/") && below(w.view.Home, clean):
		home = ""
	case !inHome:
		return false
	}
	dirs := 0
	if home != "" {
		dirs = strings.Count(home, "/") + 1
	}
	for _, key := range table.homeKeys {
		list := table.home[key]
		for i := range list {
			m := &list[i]
			if m.trait == trait && !m.negate && len(m.parts) > dirs && liesBelow(m.parts, home) && fits(m, name) {
				return true
			}
		}
	}
	return false
}

// liesBelow reports whether the directory that the first parts name could be the given one.
func liesBelow(parts []string, dir string) bool {
	for i := 0; dir != ""; i++ {
		name, after, _ := strings.Cut(dir, "/")
		if name != parts[i] && !(lettersOf(parts[i]) > 0 && matchGlob(parts[i], name)) && !(isGlob(name) && mayName(name, parts[i], true)) {
			return false
		}
		dir = after
	}
	return true
}

// fits reports whether a protected file could have a name, or a protected tree hold a file of any name.
func fits(m *pathPattern, name string) bool {
	if strings.Trim(name, "*?") == "" {
		return true
	}
	last := m.parts[len(m.parts)-1]
	return last == name || matchGlob(last, name) || isGlob(name) && globsMeet(name, strings.TrimRight(last, "*"))
}

// found gives a place that stands for what a search finds anywhere below a directory what is protected there.
func (w *world) found(p *place, depth int) {
	dir, name := p.Path, "*"
	if depth == namedBelow {
		if at := strings.LastIndexByte(p.Path, '/'); at >= 0 {
			dir, name = p.Path[:at], p.Path[at+1:]
		}
	}
	dir = strings.TrimSuffix(dir, "/*")
	if dir == "" {
		dir = "/"
	}
	if !w.spend(50) {
		return
	}
	for _, trait := range [...]string{TraitSecret, TraitStartup, TraitAgentConfig} {
		switch all := strings.Trim(name, "*?") == ""; {
		case all && trait != TraitSecret || !w.holds(dir, name, trait):
		case all:
			p.opened = true
		default:
			p.Traits = append(p.Traits, trait)
		}
	}
	for _, self := range w.view.Self {
		last := self[strings.LastIndexByte(self, '/')+1:]
		if below(self, dir) && (strings.Trim(name, "*?") == "" || last == name || isGlob(name) && globsMeet(name, last)) {
			p.maybeSelf = true
		}
	}
}

// keptFrom reports whether a search is narrowed to files that are no secrets: by a kind of files, or by names none of which
// is protected below a home directory.
func (u *use) keptFrom(s *scan) bool {
	kept := false
	for _, g := range u.flags {
		switch {
		case g.option.sorting:
			kept = true
		case g.option.naming && g.value.text != "" && g.value.text[0] != '!':
			if name := g.value.text[strings.LastIndexByte(g.value.text, '/')+1:]; s.holds("/", name, TraitSecret) {
				return false
			}
			kept = true
		}
	}
	return kept
}

// locateSelf notes that a path is, or could be, one of Interlock's own.
func (w *world) locateSelf(p *place) {
	glob := isGlob(p.Path)
	for _, self := range w.view.Self {
		if below(p.Path, self) || glob && globReaches(p.Path, self, false) {
			p.Reach = interlock.ReachSelf
		}
		p.maybeSelf = p.maybeSelf || glob && globReaches(p.Path, self, true)
	}
	if p.Reach == interlock.ReachSelf {
		p.Traits = append(p.Traits, TraitSelf)
		if last := p.Path[strings.LastIndexByte(p.Path, '/')+1:]; glob && isGlob(last) && globsMeet(last, "log.key") {
			p.Traits = append(p.Traits, TraitSecret)
		}
	}
}

// protects adds to an impact what follows from the places that a path stands for and does not name.
func (w *world) protects(p *place, i *interlock.Impact) {
	changes := i.Kind == interlock.ImpactWrite || i.Kind == interlock.ImpactDelete
	if p.maybeSelf && changes && i.Reach != interlock.ReachSelf && !hasTrait(p.Traits, TraitRoot) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), TraitSelf)
	}
	if i.Kind == interlock.ImpactPrivilege && i.Has(TraitRecursive) && w.holdsSelf(p.Path) && !hasTrait(p.Traits, TraitRoot) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), TraitSelf)
	}
	if i.Kind == interlock.ImpactRead && !p.listed && (p.opened || i.Has(TraitRecursive) && w.holdsSecrets(p.Path)) {
		p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], TraitSecret)
	}
}

// searched are the places a search goes through.
func (u *use) searched() []field {
	targets := u.operands
	if u.spec.seeks && !u.has("-e") && !u.has("-f") && len(targets) > 0 { // the first is what is looked for
		targets = targets[1:]
	}
	if len(targets) == 0 {
		targets = []field{literal(".")}
	}
	return narrowed(u, targets)
}

// withDepth marks fields that stand for all that lies below them.
func withDepth(found []field) []field {
	for i := range found {
		if found[i].depth == 0 {
			found[i].depth = wholeTree
		}
	}
	return found
}
