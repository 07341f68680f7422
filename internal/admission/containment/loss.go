package containment

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

// Lose does what an agent's type says is to be done when it does not answer: another stands in for it, what it was part of is
// halted, or the others go on and the log says so. within names orchestrations that were about to give it work. It may be called
// again for the same loss. It names what it has tightened, if anything.
func (a *Containment) Lose(ctx context.Context, agent, why string, within ...string) (tightened string, err error) {
	rules := a.Active.Load().Rules
	t, err := a.TypeOf(ctx, rules, agent)
	if err != nil || !t.Critical {
		if err == nil {
			err = a.degraded(ctx, agent, t, why)
		}
		return "", err
	}
	if t.Lost() == ruleset.LossDegrade {
		return "", a.degraded(ctx, agent, t, why)
	}
	name := ledger.HoldName(ledger.HoldAgent, agent)
	standing, err := a.Ground(ctx, core.Key(ledger.Hold, name))
	if err != nil {
		return "", err
	}
	held, _ := standing.Others[ledger.Hold][name].(ledger.HoldBody)
	if held.Instead != "" {
		return "", nil // somebody stands in already
	}
	found := false
	if t.Lost() == ruleset.LossBackup && held.Phase == "" {
		if _, found, err = a.backupFor(ctx, rules, agent, t.Backup, a.Config.Now().UTC()); err != nil {
			return "", err
		}
	}
	if !found { // what it was part of first: were this process to end here, the agent would still be taken for lost
		if err := a.haltRuns(ctx, agent, why, within); err != nil {
			return "", err
		}
	}
	return name, a.Tighten(ctx, Tightening{Scope: ledger.HoldAgent, Key: agent, To: phase.Alternate, Trigger: phase.TriggerLoss, Why: why})
}

// haltRuns suspends every orchestration that an agent has an open run in.
func (a *Containment) haltRuns(ctx context.Context, agent, why string, within core.Names) error {
	open, err := core.ListedUnder[interlock.Run](ctx, a, core.Under(ledger.Run, ledger.RunsOf(agent)),
		ledger.Span{From: ledger.Every(0).From,
			UpTo: ledger.Every(0).UpTo})
	for _, run := range open.Rows {
		within.Add(run.Orchestration)
	}
	for _, root := range within {
		err = errors.Join(err, a.Tighten(ctx, Tightening{Scope: ledger.HoldRun, Key: root, To: phase.Contingency,
			Trigger: phase.TriggerLoss, Why: "it was part of this, and nobody stands in for it: " + agent + " " + why}))
	}
	return err
}

// degraded says in the log, once for each time that an agent falls silent, that the others go on without it.
func (a *Containment) degraded(ctx context.Context, agent string, t *ruleset.Type, why string) error {
	var g core.DecisionRows
	on := func(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
		g, err = a.Rows(core.Key(ledger.Alive, agent))(ctx, load)
		return g, err
	}
	_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		alive := core.Found[ledger.AliveBody](&g, core.Key(ledger.Alive, agent))
		if alive.At.IsZero() || alive.Lost {
			return change, core.ErrUnchanged
		}
		record, err := a.lossOf(ctx, agent, t, why)
		if err != nil {
			return change, err
		}
		record.Did = "degraded"
		alive.Lost = true
		change.Writes = []ledger.Row{{Kind: ledger.Alive, Key: agent, Value: alive}}
		return change, a.Append(&change, interlock.EventLost, interlock.Requester{Agent: "interlock"}, "system", record)
	})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	return err
}

// LoseSilent takes every agent for lost that has an open run, is of a type that says how long its agents may be silent, and has
// been silent for longer.
func (a *Containment) LoseSilent(ctx context.Context, now time.Time) (lost int, err error) {
	rules := a.Active.Load().Rules
	within := time.Duration(0)
	for _, t := range rules.Types() {
		if alive := time.Duration(t.Alive); alive > 0 && (within == 0 || alive < within) {
			within = alive
		}
	}
	if within == 0 {
		return 0, nil
	}
	span := ledger.Every(core.MaxAtOnce)
	span.UpTo, span.Newest = now.Add(ledger.AliveFor-within).UnixNano()-1, true
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Alive, ledger.Until), span)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		heard, ok := row.Value.(ledger.AliveBody)
		if !ok || heard.Lost {
			continue
		}
		did, err := a.silent(ctx, rules, heard, now)
		if err != nil {
			return lost, err
		}
		if did {
			lost++
		}
	}
	return lost, nil
}

// silent takes one agent for lost if it is.
func (a *Containment) silent(ctx context.Context, rules *ruleset.Ruleset, heard ledger.AliveBody, now time.Time) (did bool,
	err error) {
	tally := ledger.AgentTally(heard.Agent)
	standing, err := a.Ground(ctx, core.Key(ledger.Agent, heard.Agent), core.Key(ledger.RunCount, tally))
	if err != nil {
		return false, err
	}
	within := time.Duration(rules.TypeOf(core.AgentOf(interlock.Requester{Agent: heard.Agent}, standing)).Alive)
	if within <= 0 || now.Sub(heard.At) <= within || standing.Tally(tally).Open == 0 {
		return false, nil
	}
	on, err := a.Lose(ctx, heard.Agent, "has not been heard for "+within.String())
	return on != "", err
}

// Isolated says why no work is given to an agent that is isolated, and to whom instead, if anybody stands in.
func Isolated(agent string, standing ledger.Standing, now time.Time) error {
	h, held := standing.Others[ledger.Hold][ledger.HoldName(ledger.HoldAgent, agent)].(ledger.HoldBody)
	if !held {
		return nil
	}
	instead := "give the work to another agent"
	if h.Instead != "" {
		instead = "give the work to " + h.Instead + ", which stands in"
	}
	return interlock.Errorf(interlock.CodeUnavailable, "/agent", "is in phase %s and takes no work; %s", h.AsOf(now).Phase.Title(), instead)
}
