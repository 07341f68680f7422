package admission

import (
	"context"
	"slices"

	"interlock"
	"interlock/internal/ledger"
)

// A grounds loads what a change is computed from, with one loader or another.
type grounds func(context.Context, loader) (ground, error)

// whom says, of what was loaded, whose freedom an operator's words are about.
type whom func(ledger.Standing) interlock.Requester

// said is the ground of what an operator says: what refs name, the operator, those on whose word any of it rests, and, where it
// is about somebody's freedom, the agent and every operator who is or answers for it: nobody has a say in their own case,
// whatever name and key they come with.
func (a *Admission) said(operator string, about whom, refs ...ledger.Ref) grounds {
	return func(ctx context.Context, load loader) (ground, error) {
		g, words := ground{reads: slices.Clone(refs)}, names{}
		more := func(refs ...ledger.Ref) error {
			refs = slices.DeleteFunc(refs, func(r ledger.Ref) bool {
				return r.Key == "" && r.Mark == "" || slices.Contains(g.reads, r)
			})
			g.reads = append(g.reads, refs...)
			return a.extend(ctx, load, &g, &words, refs)
		}
		if err := a.extend(ctx, load, &g, &words, g.reads); err != nil {
			return g, err
		}
		asked := []ledger.Ref{key(ledger.Operator, operator)}
		for _, name := range words {
			asked = append(asked, key(ledger.Operator, name))
		}
		if about == nil {
			return g, more(asked...)
		}
		r := about(g.Standing)
		asked = append(asked, key(ledger.Agent, r.Agent), key(ledger.Operator, r.Agent), key(ledger.Operator, r.Principal))
		if err := more(asked...); err != nil {
			return g, err
		}
		return g, more(key(ledger.Operator, g.Agents[r.Agent].Principal))
	}
}

// also is a ground that is held against more than it loads: against whatever comes to stand under marks that were only counted.
func (g grounds) also(marks ...ledger.Ref) grounds {
	return func(ctx context.Context, load loader) (ground, error) {
		made, err := g(ctx, load)
		made.reads = append(made.reads, marks...)
		return made, err
	}
}
