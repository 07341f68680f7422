package render

import (
	"strings"

	"interlock"
)

// A Branch is one place that an action would touch, with the places within it.
type Branch struct {
	Name    string
	Kids    []*Branch
	Impacts []numberedImpact
}

// A numberedImpact is an impact as findings refer to it, counted from 1.
type numberedImpact struct {
	interlock.Impact
	Number int
}

// Touches puts impacts where they would happen: how far away first, then by place.
func Touches(impacts []interlock.Impact) []*Branch {
	var roots []*Branch
	for i, impact := range impacts {
		at := within(&roots, reachWords(impact.Reach))
		for _, part := range places(impact.Target) {
			at = within(&at.Kids, part)
		}
		at.Impacts = append(at.Impacts, numberedImpact{impact, i + 1})
	}
	for _, root := range roots {
		root.shorten()
	}
	return roots
}

// within is the branch of a name among others, added if it is new.
func within(list *[]*Branch, name string) *Branch {
	for _, one := range *list {
		if one.Name == name {
			return one
		}
	}
	one := &Branch{Name: name}
	*list = append(*list, one)
	return one
}

// shorten joins what has nothing beside it: a/b/c is one line where nothing else is in a or a/b.
func (b *Branch) shorten() {
	for i, kid := range b.Kids {
		for len(kid.Impacts) == 0 && len(kid.Kids) == 1 {
			only := kid.Kids[0]
			kid = &Branch{Name: kid.Name + only.Name, Kids: only.Kids, Impacts: only.Impacts}
		}
		kid.shorten()
		b.Kids[i] = kid
	}
}

// maxPlaces bounds how deep a tree of places goes.
const maxPlaces = 12

// places takes a target apart where it is a path or an address.
func places(target string) []string {
	if target == "" {
		return nil
	}
	if strings.ContainsAny(target, " \n\t") || !strings.Contains(target, "/") {
		return []string{target}
	}
	scheme, rest, found := strings.Cut(target, "://")
	if !found {
		scheme, rest = "", target
	} else {
		scheme += "://"
	}
	parts := strings.SplitAfterN(rest, "/", maxPlaces)
	if parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if parts[0] == "/" && len(parts) > 1 {
		parts = append([]string{"/" + parts[1]}, parts[2:]...)
	}
	parts[0] = scheme + parts[0]
	return parts
}

func reachWords(reach interlock.Reach) string {
	switch reach {
	case interlock.ReachWorkspace:
		return "in the project"
	case interlock.ReachHome:
		return "in the user's home"
	case interlock.ReachSystem:
		return "on this machine"
	case interlock.ReachExternal:
		return "elsewhere"
	case interlock.ReachProduction:
		return "in production"
	case interlock.ReachSelf:
		return "Interlock itself"
	}
	return string(reach)
}

// Undoing says what it takes to undo an impact.
func Undoing(r interlock.Reversibility) string {
	switch r {
	case interlock.Readonly:
		return "changes nothing"
	case interlock.Reversible:
		return "can be undone"
	case interlock.Window:
		return "can be undone for a while"
	case interlock.Irreversible:
		return "can't be undone"
	}
	return string(r)
}

// Sureness says how an impact is known, where that is worth a word.
func Sureness(c interlock.Confidence) string {
	switch c {
	case interlock.Inferred:
		return "likely"
	case interlock.Unknown:
		return "can't be told for sure"
	default:
		return ""
	}
}

// DangerWords say a level of danger without its own name twice.
func DangerWords(d interlock.Danger) string {
	switch d {
	case interlock.DangerSafe:
		return "safe: it only looks"
	case interlock.DangerReversible:
		return "reversible: it can be undone"
	case interlock.DangerDestructive:
		return "destructive: what it takes away is gone"
	case interlock.DangerDangerous:
		return "dangerous: it may do serious harm"
	case interlock.DangerForbidden:
		return "forbidden"
	}
	return d.String()
}

// The bounds of what a page says about similar questions.
const (
	SimilarLooked = 200 // newest requests
	SimilarListed = 5
)

// A Precedent is what became of questions like one.
type Precedent struct {
	Rows    []interlock.ApprovalRequest // the newest
	All     int
	Yes, No int
}
