package call

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/program"
	"interlock/internal/lex"
)

// What tools that move, copy or link call where from and where to, folded. Elsewhere most of these words mean something else:
// a source is code, to is somebody, a target a machine.
var (
	transferFromKeys = slices.Concat(fileTargetKeys,
		[]string{"sourcefile", "sourcedir", "sources", "srcpath", "frompath", "old", "oldname", "origin",
			"originpath", "original", "originalpath", "currentpath", "item", "itempath"})
	transferToKeys = slices.Concat(fileToKeys,
		[]string{"destinationdir", "destinationfolder", "destpath", "destdir", "dstpath", "topath", "targetpath",
			"targetdir", "new", "newname", "newlocation", "linkpath", "link", "into"})
)

// transferOf says whether the words of a tool's name are those of one that moves, copies or links files.
func transferOf(know *know.ToolTable, words []string) string {
	for _, word := range words {
		if op := know.Files[word]; op == "move" || op == "copy" || op == "link" {
			return op
		}
	}
	return ""
}

// transferred reads what such a tool takes from where to where. A move takes away what is at its source, a copy or a link
// shows it. It adds to what the names of the arguments say by themselves.
func (s callRun) transferred(c *call, object map[string]any) {
	folded := foldKeys(object)
	from, to := gather(folded, transferFromKeys), gather(folded, transferToKeys)
	switch {
	case !slices.ContainsFunc(from, namesPath) && !slices.ContainsFunc(to, namesPath):
		return
	case c.transfers == "link":
		s.link(c.name, from, folded)
		for _, name := range gather(folded, transferToKeys) {
			if s.afford(c) && namesPath(name) {
				s.placesFolder(c, name)
			}
		}
		return
	case len(from) == 0 || len(to) == 0: // the other place has a name of its own
		for _, name := range slices.Concat(from, to) {
			s.sensitivePlace(c, name)
		}
		return
	}
	for _, name := range from {
		if s.afford(c) && (!holdsAddress(name) || namesPath(name)) {
			s.takenFrom(c, name)
		}
	}
	for _, name := range to {
		if s.afford(c) && namesPath(name) {
			path, i := spelled(name, interlock.Impact{Kind: interlock.ImpactWrite, Via: c.name, Traits: slices.Clone(c.traits)})
			s.Touch(path, i)
			s.placesFolder(c, path)
			c.placed = true
		}
	}
}

// placesFolder records that a folder with what it holds, which nobody looks through here, may become one of the home in which
// a program looks for what it begins with: what is copied, moved, linked or unpacked there under that folder's own name.
func (s callRun) placesFolder(c *call, name string) {
	p := s.Place(name)
	if p.Reach != interlock.ReachHome || fact.HasTrait(p.Traits, fact.TraitStartup) || !s.Spend(50) || !s.BeginsPrograms(p.Path) {
		return
	}
	s.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: c.name, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitOverwrite, fact.TraitStartup}})
}

// afford spends a step of the work that one action may be, or says that the rest of the call is not known.
func (s callRun) afford(c *call) bool {
	if s.Spend(1) {
		return true
	}
	s.Unknown(c.name, fact.TraitWork)
	return false
}

func (s callRun) takenFrom(c *call, name string) {
	path, i := spelled(name, interlock.Impact{Kind: interlock.ImpactRead, Via: c.name, Traits: slices.Clone(c.traits)})
	if c.transfers == "move" {
		i.Kind, i.Traits = interlock.ImpactWrite, append(slices.Clip(i.Traits), fact.TraitMoved)
	}
	if program.Climbs(path) {
		i.Traits = append(slices.Clip(i.Traits), fact.TraitClimbing)
	}
	s.Touch(path, i)
}

// namesPath reports whether a text has the form of a path, and is more than a name.
func namesPath(text string) bool {
	if holdsAddress(text) {
		return lex.Ascends(text) || lex.BeginsPath(text)
	}
	return strings.ContainsAny(text, `/\`) || strings.HasPrefix(text, "~") || strings.HasPrefix(text, ".")
}
