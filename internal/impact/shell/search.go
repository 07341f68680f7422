package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
)

// keptFrom reports whether a search is narrowed to files that are no secrets: by a kind of files, or by names none of which
// is protected below a home directory.
func keptFrom(u *flow.Use, s *flow.Scan) bool {
	kept := false
	for _, g := range u.Flags {
		switch {
		case g.Option.Sorting:
			kept = true
		case g.Option.Naming && g.Value.Text != "" && g.Value.Text[0] != '!':
			if name := g.Value.Text[strings.LastIndexByte(g.Value.Text, '/')+1:]; s.Holds("/", name, fact.TraitSecret) {
				return false
			}
			kept = true
		}
	}
	return kept
}

// searched are the places a search goes through.
func searched(u *flow.Use) []flow.Field {
	targets := u.Operands
	if u.Spec.Seeks && !has(u, "-e") && !has(u, "-f") && len(targets) > 0 { // the first is what is looked for
		targets = targets[1:]
	}
	if len(targets) == 0 {
		targets = []flow.Field{flow.Literal(".")}
	}
	return narrowed(u, targets)
}

// withDepth marks fields that stand for all that lies below them.
func withDepth(found []flow.Field) []flow.Field {
	for i := range found {
		if found[i].Depth == 0 {
			found[i].Depth = place.WholeTree
		}
	}
	return found
}
