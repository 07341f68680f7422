package groundrules

import "slices"

// A Change is one way in which ground rules differ.
type Change struct {
	How  string `json:"how"` // added, removed or changed
	What string `json:"what"`
}

// Diff says how the second rules differ from the first, in the order of the second, removed ones last.
func Diff(from, to *Rules) []Change {
	out := []Change{}
	if from.title != to.title || !slices.Equal(from.intro, to.intro) {
		out = append(out, Change{"changed", "title or introduction"})
	}
	if !slices.Equal(from.conflicts, to.conflicts) {
		out = append(out, Change{"changed", "conflict rule"})
	}
	for n := range to.layers {
		if from.layers[n].title != to.layers[n].title {
			out = append(out, Change{"changed", "title of layer " + string(rune('1'+n))})
		}
	}
	was, is := from.order(), to.order()
	for _, id := range is {
		before, now := from.byID[id], to.byID[id]
		switch {
		case before == nil:
			out = append(out, Change{"added", "rule " + id})
		case !before.same(now):
			out = append(out, Change{"changed", "rule " + id})
		}
	}
	kept := func(ids []string, other *Rules) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return other.byID[id] == nil })
	}
	for _, id := range was {
		if to.byID[id] == nil {
			out = append(out, Change{"removed", "rule " + id})
		}
	}
	if !slices.Equal(kept(was, to), kept(is, from)) {
		out = append(out, Change{"changed", "order of rules"})
	}
	return out
}

func (r *Rules) order() []string {
	var ids []string
	for n := range r.layers {
		for i := range r.layers[n].rules {
			ids = append(ids, r.layers[n].rules[i].ID)
		}
	}
	return ids
}

func (r *Rule) same(o *Rule) bool {
	return r.Title == o.Title && r.Conditional == o.Conditional && r.Instead == o.Instead && slices.Equal(r.Text, o.Text) &&
		slices.Equal(r.Allowed, o.Allowed) && slices.Equal(r.Disallowed, o.Disallowed)
}
