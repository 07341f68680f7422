package impact

import (
	"slices"
	"strings"

	"interlock"
)

// What tools that move, copy or link call where from and where to, folded. Elsewhere most of these words mean something else:
// a source is code, to is somebody, a target a machine.
var (
	transferFromKeys = []string{"source", "sourcepath", "sourcefile", "sourcedir", "sources", "src", "srcpath", "from", "frompath", "old", "oldpath", "oldname",
		"origin", "originpath", "original", "originalpath", "currentpath", "file", "filepath", "path", "item", "itempath"}
	transferToKeys = []string{"destination", "destinationpath", "destinationdir", "destinationfolder", "dest", "destpath", "destdir", "dst", "dstpath", "to", "topath", "target", "targetpath",
		"targetdir", "new", "newpath", "newname", "newlocation", "linkpath", "link", "into"}
)

// transferOf says whether the words of a tool's name are those of one that moves, copies or links files.
func transferOf(know *toolKnowledge, words []string) string {
	for _, word := range words {
		if op := know.files[word]; op == "move" || op == "copy" || op == "link" {
			return op
		}
	}
	return ""
}

// transferred reads what such a tool takes from where to where. A move takes away what stands at its source, a copy or a link
// shows it. It adds to what the names of the arguments say by themselves.
func (s *scan) transferred(c *call, object map[string]any) {
	folded := foldKeys(object)
	from, to := gather(folded, transferFromKeys), gather(folded, transferToKeys)
	if !slices.ContainsFunc(from, namesPath) && !slices.ContainsFunc(to, namesPath) {
		return
	}
	if c.transfers == "link" {
		s.link(c.name, from, folded)
		return
	}
	if len(from) == 0 || len(to) == 0 {
		return
	}
	for _, path := range from {
		if transferable(path) && s.spend(1) {
			s.takenFrom(c, path)
		}
	}
	for _, path := range to {
		if namesPath(path) && transferable(path) && s.spend(1) {
			s.touch(path, interlock.Impact{Kind: interlock.ImpactWrite, Via: c.name, Traits: append([]string(nil), c.traits...)})
			c.placed = true
		}
	}
}

func (s *scan) takenFrom(c *call, name string) {
	path, odd := plainPath(name)
	i := interlock.Impact{Kind: interlock.ImpactRead, Via: c.name, Traits: append([]string(nil), c.traits...)}
	if c.transfers == "move" {
		i.Kind, i.Traits = interlock.ImpactWrite, append(i.Traits, TraitMoved)
	}
	if odd {
		i.Confidence, i.Traits = interlock.Unknown, append(i.Traits, TraitObfuscated, TraitInjection)
	}
	if climbs(path) {
		i.Traits = append(i.Traits, TraitClimbing)
	}
	s.touch(path, i)
}

// namesPath reports whether a text has the form of a path, and is more than a name.
func namesPath(text string) bool {
	return transferable(text) && (strings.ContainsAny(text, `/\`) || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "."))
}

func transferable(text string) bool {
	return text != "" && len(text) <= 4096 && !strings.ContainsAny(text, "\n{}") && (!strings.Contains(text, "://") || strings.HasPrefix(text, "file://"))
}
