package core

import (
	"context"
	"slices"

	"interlock"
	"interlock/internal/ledger"
)

// A DecisionRows is what a change is computed from: those rows of the ledger that it needs, and the standing that they make.
type DecisionRows struct {
	ledger.Standing
	Reads []ledger.Ref
	Rows  []ledger.Row
}

// All are the values of one type among the rows of a ground, as they were read.
func All[T any](g *DecisionRows) (values []T) {
	for n := range g.Rows {
		if v, is := g.Rows[n].Value.(T); is {
			values = append(values, v)
		}
	}
	return values
}

// Found is the value of a row of a ground by its key; the zero value where there is none.
func Found[T any](g *DecisionRows, ref ledger.Ref) (value T) {
	for n := range g.Rows {
		if r := &g.Rows[n]; r.Key == ref.Key && r.Kind == ref.Kind {
			value, _ = r.Value.(T)
		}
	}
	return value
}

// A LoadRows loads rows: [Store].Load or [Store].Recall.
type LoadRows func(context.Context, ...ledger.Ref) ([]ledger.Row, int64, error)

// Key names one row, and under names all rows of a kind under a mark.
func Key(kind, key string) ledger.Ref { return ledger.Ref{Kind: kind, Key: key} }

func Under(kind, mark string) ledger.Ref { return ledger.Ref{Kind: kind, Mark: mark} }

// GroundOf loads what decisions about one requester's actions read, and what else is named: its agent, what it asked and what
// was answered, its challenges and grants, every suppression, what holds it or the snapshots it is decided under, and the
// operators on whose word any of it rests. How many others are registered, have asked or are blocked makes no difference to what
// that costs.
func (a *Core) GroundOf(ctx context.Context, load LoadRows, r interlock.Requester, more ...ledger.Ref) (DecisionRows, error) {
	g := DecisionRows{Reads: make([]ledger.Ref, 0, 16+len(more))}
	var operators Names
	g.Reads = append(append(g.Reads, Key(ledger.Agent, r.Agent), Under(ledger.Order, ledger.Ordered(interlock.VerbSuppress)),
		Under(ledger.Challenge, ledger.Of(r.Agent))), more...)
	g.Reads = append(append(append(g.Reads, a.Holdable()...), a.overRefs(r)...), a.RunRefs(r)...)
	g.Reads = append(g.Reads, a.contextRefs(r.Agent, r.Run)...)
	if a.Config.Record.Governance != nil { // which snapshots of who is known and of what is kept it is decided under
		g.Reads = append(g.Reads, Key(ledger.Setting, SettingRegistry), Key(ledger.Setting, SettingMemory))
	}
	if err := a.Extend(ctx, load, &g, &operators, g.Reads); err != nil {
		return g, err
	}
	r = Owned(r, g.Standing)
	own, read := ledger.Of(r.Agent, r.Principal), len(g.Reads)
	g.Reads = append(g.Reads, Under(ledger.Request, own), Under(ledger.Order, own))
	g.Reads = append(g.Reads, a.typeRefs(g.Agents[r.Agent])...)
	id := g.RunOf(r)
	run, open := g.Run(r.Agent, id)
	if id != "" {
		g.Reads = append(g.Reads, Key(ledger.Plan, ledger.RunKey(r.Agent, id))) // what it is to do
	}
	if open {
		g.Reads = append(g.Reads, ChainRefs(run)...) // what it was delegated by
	} else if id != "" && id != r.Run {
		g.Reads = append(g.Reads, Key(ledger.Run, ledger.RunKey(r.Agent, id)), // a session is bound to it
			Under(ledger.Hold, ledger.Over(ledger.HoldRun, id)))
		g.Reads = append(g.Reads, a.contextRefs(r.Agent, id)...)
	}
	if id != "" && len(a.contextRefs(r.Agent, id)) > 0 {
		g.Reads = append(g.Reads, Key(ledger.Checkpoint, ledger.RunKey(r.Agent, id)))
	}
	if err := a.Extend(ctx, load, &g, &operators, g.Reads[read:]); err != nil {
		return g, err
	}
	if run, now := g.Run(r.Agent, id); now && !open && len(run.Chain) > 0 {
		read = len(g.Reads)
		g.Reads = append(g.Reads, ChainRefs(run)...)
		if err := a.Extend(ctx, load, &g, &operators, g.Reads[read:]); err != nil {
			return g, err
		}
	}
	if len(operators) == 0 {
		return g, nil
	}
	read = len(g.Reads)
	for _, name := range append(operators, r.Agent, r.Principal) { // whether an operator's key is also the requester's
		if name != "" {
			g.Reads = append(g.Reads, Key(ledger.Operator, name))
		}
	}
	err := a.Extend(ctx, load, &g, &operators, g.Reads[read:])
	return g, err
}

// Rows is the ground of a change that reads what refs name and nothing else.
func (a *Core) Rows(refs ...ledger.Ref) RowLoader {
	return func(ctx context.Context, load LoadRows) (DecisionRows, error) {
		g := DecisionRows{Reads: refs}
		err := a.Extend(ctx, load, &g, new(Names), refs)
		return g, err
	}
}

// Names are those of operators on whose word something rests, each once.
type Names []string

func (n *Names) Add(name string) {
	if name != "" && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// Extend loads what refs name into a ground, which holds them as read already, and collects the operators on whose word it
// rests.
func (a *Core) Extend(ctx context.Context, load LoadRows, g *DecisionRows, operators *Names, refs []ledger.Ref) error {
	rows, version, err := load(ctx, refs...)
	if err != nil {
		return err
	}
	if g.Version == 0 || version < g.Version { // a row may be newer than its version, never older
		g.Version = version
	}
	g.Rows = append(g.Rows, rows...)
	for _, row := range rows {
		if err := a.book.Into(row, &g.Standing); err != nil {
			return err
		}
		if ref := Key(row.Kind, row.Key); !slices.Contains(refs, ref) {
			g.Reads = append(g.Reads, ref) // so that it is noticed when it is no longer under its mark
		}
		wordOf(row.Value, operators)
	}
	return nil
}

// wordOf adds the operators on whose word a row rests.
func wordOf(value any, to *Names) {
	switch v := value.(type) {
	case interlock.Suppression:
		to.Add(v.Operator)
		if v.Override != nil {
			to.Add(v.Override.Requester.Agent)
			to.Add(v.Override.Requester.Principal)
			for _, e := range v.Override.Ballot.Roster {
				to.Add(e.Name)
			}
		}
	case interlock.Grant:
		to.Add(v.Operator)
	case interlock.ApprovalRequest:
		for _, approval := range []*interlock.Approval{v.First, v.Approval} {
			if approval != nil {
				to.Add(approval.Operator)
			}
		}
		if v.Ballot != nil {
			for _, e := range v.Ballot.Roster {
				to.Add(e.Name)
			}
		}
	}
}

// A RowLoader loads what a change is computed from, with one loader or another.
type RowLoader func(context.Context, LoadRows) (DecisionRows, error)

// whom says, of what was loaded, whose freedom an operator's words are about.
type whom func(ledger.Standing) interlock.Requester

// OperatorOrder is the ground of what an operator says: what refs name, the operator, those on whose word any of it rests, and,
// where it is about somebody's freedom, the agent and every operator who is or answers for it: nobody has a say in their own
// case, whatever name and key they come with.
func (a *Core) OperatorOrder(operator string, about whom, refs ...ledger.Ref) RowLoader {
	return func(ctx context.Context, load LoadRows) (DecisionRows, error) {
		g, words := DecisionRows{Reads: slices.Clone(refs)}, Names{}
		more := func(refs ...ledger.Ref) error {
			refs = slices.DeleteFunc(refs, func(r ledger.Ref) bool {
				return r.Key == "" && r.Mark == "" || slices.Contains(g.Reads, r)
			})
			g.Reads = append(g.Reads, refs...)
			return a.Extend(ctx, load, &g, &words, refs)
		}
		if err := a.Extend(ctx, load, &g, &words, g.Reads); err != nil {
			return g, err
		}
		asked := []ledger.Ref{Key(ledger.Operator, operator)}
		for _, name := range words {
			asked = append(asked, Key(ledger.Operator, name))
		}
		if about == nil {
			return g, more(asked...)
		}
		r := about(g.Standing)
		asked = append(asked, Key(ledger.Agent, r.Agent), Key(ledger.Operator, r.Agent), Key(ledger.Operator, r.Principal))
		if err := more(asked...); err != nil {
			return g, err
		}
		return g, more(Key(ledger.Operator, g.Agents[r.Agent].Principal))
	}
}

// Also is a ground that is held against more than it loads: against whatever comes to stand under marks that were only counted.
func (g RowLoader) Also(marks ...ledger.Ref) RowLoader {
	return func(ctx context.Context, load LoadRows) (DecisionRows, error) {
		made, err := g(ctx, load)
		made.Reads = append(made.Reads, marks...)
		return made, err
	}
}
