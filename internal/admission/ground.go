package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A ground is what a change is computed from: those rows of what stands that it needs, and what was read for them.
type ground struct {
	ledger.Standing
	reads  []ledger.Ref
	done   ledger.Done       // of the run that was named, if one was
	failed ledger.FailedBody // of the agent, where a gateway carries out what it wants
	recent ledger.RecentBody // what the run did a moment ago, where rules ask for it

	tallies []ledger.TallyBody  // how much the agent and its type were decided lately, where breakers count
	named   []interlock.Run     // every run that was read, those that have ended too
	alive   ledger.AliveBody    // when the agent was heard last that a run is delegated to
	judged  ledger.JudgedBody   // what judges said of the action before
	context []ledger.SignalBody // what observers told of how full the run's context is
}

// A loader loads rows: [Store].Load or [Store].Recall.
type loader func(context.Context, ...ledger.Ref) ([]ledger.Row, int64, error)

// key names one row, and under names all rows of a kind under a mark.
func key(kind, key string) ledger.Ref    { return ledger.Ref{Kind: kind, Key: key} }
func under(kind, mark string) ledger.Ref { return ledger.Ref{Kind: kind, Mark: mark} }

// groundOf loads what decisions about one requester's actions read, and what else is named: its agent, what it asked and what
// was answered, its challenges and grants, every suppression, what holds it or the snapshots it is decided under, and the operators on
// whose word any of it rests. How many others are registered, have asked or are blocked makes no difference to what that costs.
func (a *Admission) groundOf(ctx context.Context, load loader, r interlock.Requester, more ...ledger.Ref) (ground, error) {
	g := ground{reads: make([]ledger.Ref, 0, 16+len(more))}
	var operators names
	g.reads = append(append(g.reads, key(ledger.Agent, r.Agent), under(ledger.Order, ledger.Ordered(interlock.VerbSuppress)),
		under(ledger.Challenge, ledger.Of(r.Agent))), more...)
	g.reads = append(append(append(g.reads, a.holdable()...), a.overRefs(r)...), a.runRefs(r)...)
	g.reads = append(g.reads, a.contextRefs(r.Agent, r.Run)...)
	if err := a.extend(ctx, load, &g, &operators, g.reads); err != nil {
		return g, err
	}
	r = owned(r, g.Standing)
	own, read := ledger.Of(r.Agent, r.Principal), len(g.reads)
	g.reads = append(g.reads, under(ledger.Request, own), under(ledger.Order, own))
	g.reads = append(g.reads, a.typeRefs(g.Agents[r.Agent])...)
	id := g.RunOf(r)
	run, open := g.Run(r.Agent, id)
	if id != "" {
		g.reads = append(g.reads, key(ledger.Plan, ledger.RunKey(r.Agent, id))) // what it is to do
	}
	if open {
		g.reads = append(g.reads, chainRefs(run)...) // what it was delegated by
	} else if id != "" && id != r.Run {
		g.reads = append(g.reads, key(ledger.Run, ledger.RunKey(r.Agent, id)), // a session is bound to it
			under(ledger.Hold, ledger.Over(ledger.HoldRun, id)))
		g.reads = append(g.reads, a.contextRefs(r.Agent, id)...)
	}
	if id != "" && len(a.contextRefs(r.Agent, id)) > 0 {
		g.reads = append(g.reads, key(ledger.Checkpoint, ledger.RunKey(r.Agent, id)))
	}
	if err := a.extend(ctx, load, &g, &operators, g.reads[read:]); err != nil {
		return g, err
	}
	if run, now := g.Run(r.Agent, id); now && !open && len(run.Chain) > 0 {
		read = len(g.reads)
		g.reads = append(g.reads, chainRefs(run)...)
		if err := a.extend(ctx, load, &g, &operators, g.reads[read:]); err != nil {
			return g, err
		}
	}
	if len(operators) == 0 {
		return g, nil
	}
	read = len(g.reads)
	for _, name := range append(operators, r.Agent, r.Principal) { // whether an operator's key is also the requester's
		if name != "" {
			g.reads = append(g.reads, key(ledger.Operator, name))
		}
	}
	err := a.extend(ctx, load, &g, &operators, g.reads[read:])
	return g, err
}

// alsoRead names what a decision reads besides its requester's part: what is known of the tool and of how the agent's calls have
// failed, and an approval that is said to go on counting.
func alsoRead(p Case) (refs []ledger.Ref) {
	if p.Upstream != nil {
		refs = append(refs, key(ledger.Pin, ledger.PinKey(p.Upstream.Server, p.Upstream.Tool)), failedOf(p.Requester))
	}
	if p.Continues != "" {
		refs = append(refs, key(ledger.Request, p.Continues))
	}
	return refs
}

// rows is the ground of a change that reads what refs name and nothing else.
func (a *Admission) rows(refs ...ledger.Ref) grounds {
	return func(ctx context.Context, load loader) (ground, error) {
		g := ground{reads: refs}
		err := a.extend(ctx, load, &g, new(names), refs)
		return g, err
	}
}

// names are those of operators on whose word something rests, each once.
type names []string

func (n *names) add(name string) {
	if name != "" && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// extend loads what refs name into a ground, which holds them as read already, and collects the operators on whose word it
// rests.
func (a *Admission) extend(ctx context.Context, load loader, g *ground, operators *names, refs []ledger.Ref) error {
	rows, version, err := load(ctx, refs...)
	if err != nil {
		return err
	}
	if g.Version == 0 || version < g.Version { // a row may be newer than its version, never older
		g.Version = version
	}
	for _, row := range rows {
		if err := a.book.Into(row, &g.Standing); err != nil {
			return err
		}
		switch v := row.Value.(type) {
		case ledger.Done:
			g.done = v
		case ledger.FailedBody:
			g.failed = v
		case ledger.RecentBody:
			g.recent = v
		case ledger.TallyBody:
			g.tallies = append(g.tallies, v)
		case interlock.Run:
			g.named = append(g.named, v)
		case ledger.AliveBody:
			g.alive = v
		case ledger.JudgedBody:
			g.judged = v
		case ledger.SignalBody:
			g.context = append(g.context, v)
		}
		if ref := key(row.Kind, row.Key); !slices.Contains(refs, ref) {
			g.reads = append(g.reads, ref) // so that it is noticed when it stands under its mark no longer
		}
		wordOf(row.Value, operators)
	}
	return nil
}

// wordOf adds the operators on whose word a row rests.
func wordOf(value any, to *names) {
	switch v := value.(type) {
	case interlock.Suppression:
		to.add(v.Operator)
	case interlock.Grant:
		to.add(v.Operator)
	case interlock.ApprovalRequest:
		for _, approval := range []*interlock.Approval{v.First, v.Approval} {
			if approval != nil {
				to.add(approval.Operator)
			}
		}
		if v.Ballot != nil {
			for _, e := range v.Ballot.Roster {
				to.add(e.Name)
			}
		}
	}
}

// commitOn commits what build makes of a ground, again from what is there now if that has moved in between. ground is asked
// for what it needs the first time from memory, if recall says so.
func (a *Admission) commitOn(ctx context.Context, recall bool, ground grounds,
	build func(ledger.Standing) (ledger.Change, error)) (ledger.Receipt, error) {
	load := loader(a.config.Store.Load)
	if recall {
		load = a.config.Store.Recall
	}
	for race := 0; ; race++ {
		g, err := ground(ctx, load)
		load = a.config.Store.Load
		if err != nil {
			return ledger.Receipt{}, err
		}
		change, err := build(g.Standing)
		if err != nil {
			return ledger.Receipt{}, err
		}
		if change.Version != 0 {
			change.Reads = g.reads
		}
		receipt, err := a.config.Store.Commit(ctx, change)
		if errors.Is(err, ledger.ErrConflict) && race < maxRaces && stepAside(ctx, race) {
			continue
		}
		return receipt, err
	}
}

// stepAside lets others go first, for longer each time: where several processes write the same rows again and again, each gets
// through. A first race costs no time. It reports whether there is still time to try.
func stepAside(ctx context.Context, race int) bool {
	if race < 1 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(time.Millisecond << min(race, 5)):
		return true
	case <-ctx.Done():
		return false
	}
}
