package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/flow"
)

// programAt is where a program lies that PATH finds by its name, as which, type -P and command -v print it: in one of the
// folders of the system, and it doesn't matter which. The shell's own commands and functions lie nowhere.
func (r *shellRun) programAt(name flow.Field) flow.Field {
	if name.Dynamic || name.Glob || name.Text == "" || strings.ContainsAny(name.Text, "/\\ ") ||
		strings.HasPrefix(name.Text, "-") ||
		r.funcs[name.Text] != nil || builtinFor(name.Text) != nil {
		return flow.Field{Text: name.Text}
	}
	return flow.Field{Text: "/usr/bin/" + name.Text}
}

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
