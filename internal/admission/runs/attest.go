package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// What a run's task requires is attested by how the calls ended: by the outcome that was told by what carried them out, of a
// decision that let them through. What an agent says of itself attests nothing, unless the rules take its word (runs.attest).

// Attests are the doors whose outcomes attest: what is behind each carries the action out, or sees it carried out.
func Attests(door string) bool {
	return slices.Contains([]string{"exec", "gateway", "hook", "library"}, door)
}

// An Attesting is what one outcome says of a run's required calls, before it is written.
type Attesting struct {
	run  ledger.Ref
	on   ledger.Standing // what was read of it
	next interlock.Run
	said []string // the tools
}

// Attesting finds what an outcome says of the calls that its run requires; nothing for most. by names who says so, where that is
// known.
func (a *Runs) Attesting(ctx context.Context, r interlock.Requester, event string, status interlock.OutcomeStatus,
	carried bool) (*Attesting, error) {
	rules := a.Active.Load().Rules
	if event == "" || r.Run == "" || status == interlock.OutcomeSkipped || !ledger.Registered(r.Run) && !rules.Typed() {
		return nil, nil
	}
	g, err := a.groundOfAttesting(ctx, r)
	if err != nil {
		return nil, err
	}
	run, open := g.Run(r.Agent, g.RunOf(r))
	if !open || len(run.Tools) == 0 {
		return nil, nil
	}
	entry, found, err := a.Config.Store.Entry(ctx, event)
	if err != nil || !found {
		return nil, err
	}
	decided, err := auditlog.ReadDecision(entry)
	if err != nil || decided.Basis == nil || decided.Basis.Run != run.ID || decided.Proposal.Requester.Agent != r.Agent {
		return nil, nil // it can't be read, or it was decided as part of something else
	}
	by := decided.Proposal.Door
	if d := decided.Decision; d.Answer == interlock.Deny || d.Answer == interlock.Halt {
		return nil, nil
	}
	if !carried && !Attests(by) && !rules.Runs().Reported() {
		return nil, nil
	}
	if carried && !Attests(by) {
		by = "executor"
	}
	at := &Attesting{run: core.Key(ledger.Run, ledger.RunKey(r.Agent, run.ID)), on: g.Standing, next: run}
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	for _, tool := range run.Tools {
		if a.calls(tool, decided.Proposal) {
			at.say(interlock.Attestation{Tool: tool, Status: status, By: by, Event: event, Action: decided.Decision.Action, At: now})
		}
	}
	if len(at.said) == 0 {
		return nil, nil
	}
	return at, nil
}

func (a *Runs) groundOfAttesting(ctx context.Context, r interlock.Requester) (core.DecisionRows, error) {
	refs := a.RunRefs(r)
	g := core.DecisionRows{Reads: refs}
	if err := a.Extend(ctx, a.Config.Store.Load, &g, new(core.Names), refs); err != nil {
		return g, err
	}
	id := g.RunOf(r)
	if _, known := g.Run(r.Agent, id); known || id == "" || id == r.Run {
		return g, nil
	}
	refs = []ledger.Ref{core.Key(ledger.Run, ledger.RunKey(r.Agent, id))} // a session is bound to it
	g.Reads = append(g.Reads, refs...)
	return g, a.Extend(ctx, a.Config.Store.Load, &g, new(core.Names), refs)
}

// calls reports whether an action is a call of a tool as a run requires it: one of that name, or a command that is alone. Of a
// command among others its outcome would say nothing.
func (a *Runs) calls(tool string, p interlock.Proposal) bool {
	if p.Action.Tool != "" && ruleset.Glob(tool, p.Action.Tool) {
		return true
	}
	if p.Action.Kind.TakesObject() {
		return false
	}
	texts := a.Config.Analyser.Analyse(p.View, p.Action).Texts
	return len(texts) == 1 && texts[0].Value == strings.TrimSpace(p.Action.Input) && ruleset.Glob(tool, texts[0].Value)
}

// say puts what is known of a tool now in the place of what was known of it. How a call ended last is what counts.
func (at *Attesting) say(one interlock.Attestation) {
	list := slices.Clone(at.next.Attested)
	known := slices.IndexFunc(list, func(o interlock.Attestation) bool { return o.Tool == one.Tool })
	switch {
	case known < 0:
		list = append(list, one)
	case list[known].Status == one.Status:
		return
	default:
		list[known] = one
	}
	at.next.Attested, at.said = list, append(at.said, one.Tool)
}

// Into adds to a change that the run's row says so, and holds that it is as it was read.
func (at *Attesting) Into(change *ledger.Change) {
	if at == nil {
		return
	}
	change.Version = at.on.Version
	change.Reads = append(change.Reads, at.run)
	change.Writes = append(change.Writes, ledger.Rows(at.next)...)
}

func (at *Attesting) Tools() []string {
	if at == nil {
		return nil
	}
	return at.said
}

// Retold commits what build makes of what an outcome says of its run's required calls, again if the run has moved meanwhile, and
// at last without: how an action ended is recorded in any case.
func (a *Runs) Retold(ctx context.Context, find func() (*Attesting, error), commit func(at *Attesting) error) error {
	for range core.MaxTellings {
		at, err := find()
		if err != nil {
			return err
		}
		if err = commit(at); at == nil || !errors.Is(err, ledger.ErrConflict) {
			return err
		}
	}
	return commit(nil)
}

// missing are the calls that a run requires and no outcome says went well, and what is known of each.
func missing(run interlock.Run) (tools []string, why string) {
	var said []string
	for _, tool := range run.Tools {
		at := slices.IndexFunc(run.Attested, func(o interlock.Attestation) bool { return o.Tool == tool })
		switch {
		case at < 0:
			said = append(said, tool+" (never carried out)")
		case run.Attested[at].Status != interlock.OutcomeSuccess:
			said = append(said, tool+" ("+string(run.Attested[at].Status)+")")
		default:
			continue
		}
		tools = append(tools, tool)
	}
	if len(tools) == 0 {
		return nil, ""
	}
	return tools, core.Bounded("the task requires calls that are not attested: "+strings.Join(said, ", "), core.MaxRunWhy)
}
