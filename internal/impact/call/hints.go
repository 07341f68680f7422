package call

import (
	"interlock"
)

// annotations reads what the tool's server says of it, as the view has it, and what a caller says beside the arguments, as
// some doors pass it along. They can raise what the name says; a tool that calls itself read-only gains nothing by it.
func (s callRun) annotations(c *call, folded map[string]any) {
	if hints, ok := folded["annotations"].(map[string]any); ok {
		destructive, _ := hints["destructiveHint"].(bool)
		open, _ := hints["openWorldHint"].(bool)
		readOnly, said := hints["readOnlyHint"].(bool)
		c.raise(destructive, said && !readOnly, open)
	}
	if a := s.View.Annotations; a != nil {
		c.raise(isTrue(a.Destructive), isFalse(a.ReadOnly), isTrue(a.OpenWorld))
	}
}

// raise takes a call for what is said of it, where that is more than its name says.
func (c *call) raise(destructive, writes, open bool) {
	if destructive && c.kind != interlock.ImpactDelete {
		c.also = append(c.also, interlock.ImpactDelete)
		if moreReversible(c.reversibility, interlock.Window) {
			c.reversibility = interlock.Window
		}
	}
	if writes && c.kind == interlock.ImpactRead {
		c.kind, c.reversibility = interlock.ImpactWrite, interlock.Reversible
	}
	if open && c.reach == interlock.ReachWorkspace {
		c.reach = interlock.ReachExternal
	}
}

// annotated adds what a server says of a tool that was read as one of a coding agent's own, from the impact with this index
// on. Where it reaches is known from its arguments better than from a hint, so that only what it does is raised.
func (s callRun) annotated(name string, from int) {
	a := s.View.Annotations
	if a == nil || len(s.Impacts) == from {
		return
	}
	first, changes, deletes := s.Impacts[from], false, false
	for n := len(s.Impacts) - 1; n >= from; n-- {
		i := &s.Impacts[n]
		if i.Reversibility != interlock.Readonly {
			first, changes = *i, true
		}
		deletes = deletes || i.Kind == interlock.ImpactDelete
	}
	said := interlock.Impact{Target: first.Target, Reach: first.Reach, Via: name, Confidence: interlock.Inferred}
	switch {
	case isTrue(a.Destructive) && !deletes:
		said.Kind, said.Reversibility = interlock.ImpactDelete, interlock.Window
	case isFalse(a.ReadOnly) && !changes:
		said.Kind, said.Reversibility = interlock.ImpactWrite, interlock.Reversible
	default:
		return
	}
	s.Add(said)
}

func isTrue(b *bool) bool { return b != nil && *b }

func isFalse(b *bool) bool { return b != nil && !*b }
