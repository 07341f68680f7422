package shell

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// sourcesGiven runs the files among the words of a command that its description says it runs, by how their names end: a
// runner of programs is given some of its own language and others to look up. It reports whether one stood in their place.
func (r *shellRun) sourcesGiven(u *flow.Use, io flow.Streams) (ran bool) {
	for n := u.Spec; n != nil; n = n.Parent {
		for i := range n.When {
			if n.When[i].Option.File == "" {
				continue
			}
			for at, f := range words(u) {
				if at >= fact.MaxItems || !r.S.Spend(1) {
					break
				}
				if fits(&n.When[i], at, f) && r.S.Know.Lookup(path.Base(f.Text)) == nil { // a program that is known is read as that
					ran = n.When[i].Option.Alone || ran
					if n.When[i].Option.File == "other" {
						r.looksThrough(u, f)
						continue
					}
					r.codeFile(u, flow.Given{Value: f, Option: n.When[i].Option}, io)
				}
			}
		}
	}
	return ran
}

// looksThrough judges what languages share in a source file of one that nobody reads, where its text is known. A compiler
// runs it, as it runs whatever is built every day, so that it could not be read is nothing to ask about.
func (r *shellRun) looksThrough(u *flow.Use, name flow.Field) {
	p := r.PlaceOf(name, true)
	r.S.RanIn(p.Path)
	held := r.files[p.Path]
	if held.Taint(r.treeAt(p.Path)); held.Network {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachWorkspace, Via: u.Via,
			Reversibility: interlock.Reversible, Traits: []string{held.RunTrait()}})
		return
	}
	if text, ok := r.textOf(name.Text); ok && !name.Dynamic {
		r.S.Within++
		r.subshell(func() flow.Flow { return r.foreign("other", text) })
		r.S.Within--
	}
}

// fits reports whether a word at a position is what one of a condition's patterns says.
func fits(w *know.Condition, at int, f flow.Field) bool {
	return slices.ContainsFunc(w.Patterns, func(pattern string) bool {
		if len(pattern) > 1 && pattern[1] == ':' {
			if int(pattern[0]-'1') != at {
				return false
			}
			pattern = pattern[2:]
		}
		return know.MatchGlob(pattern, f.Text)
	})
}

// placesFolder records that a whole folder of unknown files becomes one of the home in which programs look for what they begin
// with: the settings of an editor, a shell or a desktop, copied, moved, linked, unpacked or checked out there.
func (r *shellRun) placesFolder(u *flow.Use, own []interlock.Impact) {
	if len(own) == 0 || !r.wholeFolder(u, own) {
		return
	}
	for n := range own {
		i := &own[n]
		if i.Kind != interlock.ImpactWrite || i.Reach != interlock.ReachHome || i.Has(fact.TraitDryRun) || i.Has(fact.TraitMoved) ||
			i.Has(fact.TraitStartup) || i.Target == "" || !r.S.Spend(50) {
			continue
		}
		p := r.S.Place(i.Target)
		if !r.S.BeginsPrograms(p.Path) {
			continue
		}
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.Via, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitOverwrite, fact.TraitStartup}})
		return
	}
}

// wholeFolder reports whether a command puts a folder with all that is in it somewhere.
func (r *shellRun) wholeFolder(u *flow.Use, own []interlock.Impact) bool {
	switch {
	case u.Tree, unpacks(own[0].Via), u.Spec.Links, slices.ContainsFunc(own, treeWritten):
		return true
	case !u.Spec.Copies && !putsInto(u.Spec):
		return false
	}
	// what is moved, or copied by a program that takes folders as well as files, is a folder if it has a folder's name
	into := len(u.Operands) - 1
	for i, from := range u.Operands[:max(into, 0)] {
		if i > MaxBraces {
			break
		}
		if strings.HasSuffix(from.Text, "/") || path.Ext(from.Text) == "" && movesFolders(u, own) {
			return true
		}
	}
	return false
}

// treeWritten reports whether an impact says itself that a whole tree is written.
func treeWritten(i interlock.Impact) bool {
	return i.Kind == interlock.ImpactWrite && i.Has(fact.TraitRecursive)
}

// movesFolders reports whether a command takes folders without being told to.
func movesFolders(u *flow.Use, own []interlock.Impact) bool {
	return slices.ContainsFunc(own, func(i interlock.Impact) bool { return i.Has(fact.TraitMoved) })
}
