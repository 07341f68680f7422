package shell

import (
	"interlock"
	"interlock/internal/impact/flow"
)

// ownCopies records that a command copies or links Interlock's program, which is then run by another name.
func (r *shellRun) ownCopies(u *flow.Use) {
	if u.Spec.Style == "pairs" {
		r.ownPair(u)
		return
	}
	if !u.Spec.Copies && !u.Spec.Links || len(u.Operands) == 0 {
		return
	}
	sources, name := u.Operands, "."
	if len(sources) > 1 {
		name, sources = sources[len(sources)-1].Text, sources[:len(sources)-1]
	}
	for _, from := range sources {
		if !r.S.Spend(1) {
			return
		}
		r.S.OwnCopy(from.Text, name, u.Via)
	}
}

// ownPair is [shellRun.ownCopies] of a command whose flags name both files.
func (r *shellRun) ownPair(u *flow.Use) {
	from, to := "", ""
	for _, g := range u.Flags {
		for _, e := range g.Option.Impacts {
			switch {
			case e.Target == "value" && e.Kind == interlock.ImpactRead:
				from = g.Value.Text
			case e.Target == "value" && e.Kind == interlock.ImpactWrite:
				to = g.Value.Text
			}
		}
	}
	if u.Spec.Copies && from != "" && to != "" {
		r.S.OwnCopy(from, to, u.Via)
	}
}
