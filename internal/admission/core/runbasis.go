package core

import (
	"bytes"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// RunRefs names what a decision reads of the run that an action names: the run, and what is counted of its agent. An action that
// names no registered run reads the count alone, and that only where types are in use.
func (a *Core) RunRefs(r interlock.Requester) (refs []ledger.Ref) {
	registered := ledger.Registered(r.Run)
	if registered {
		refs = append(refs, Key(ledger.Run, ledger.RunKey(r.Agent, r.Run)))
	}
	if registered || a.Active.Load().Rules.Typed() {
		refs = append(refs, Key(ledger.RunCount, ledger.AgentTally(r.Agent)))
	}
	return refs
}

// ChainRefs names the runs and agents that a run was delegated by, and what holds those runs. There are [ruleset.MaxDepth] at
// most.
func ChainRefs(run interlock.Run) (refs []ledger.Ref) {
	for _, by := range run.Chain[:min(len(run.Chain), ruleset.MaxDepth)] {
		refs = append(refs, Key(ledger.Run, ledger.RunKey(by.Agent, by.Run)), Key(ledger.Agent, by.Agent),
			Under(ledger.Hold, ledger.Over(ledger.HoldRun, by.Run)))
	}
	return refs
}

// BasisOf is what an action's registered run rests on; nil where it names none and nothing that was delegated binds its agent.
func BasisOf(r interlock.Requester, standing ledger.Standing, now time.Time) *interlock.RunBasis {
	held := standing.Tally(ledger.AgentTally(r.Agent))
	id := standing.RunOf(r)
	if id == "" {
		if held.Delegated < 1 {
			return nil
		}
		return &interlock.RunBasis{Delegated: true, User: r.Principal}
	}
	basis := &interlock.RunBasis{Run: id, User: r.Principal, Delegated: held.Delegated > 0}
	run, open := standing.Run(r.Agent, id)
	switch {
	case !open:
		basis.Wrong = "this agent holds no open run of this name: it was never registered for it, or has ended"
		return basis
	case Over(run, now):
		basis.Wrong = "the time of this run is over (time_box_seconds); end it, and register another if the task goes on"
		return basis
	case len(run.Chain) > ruleset.MaxDepth:
		basis.Wrong = "this run was delegated on more often than any may be"
		return basis
	}
	for _, by := range run.Chain {
		agent := standing.Agents[by.Agent]
		if agent.ID == "" {
			agent.ID = by.Agent
		}
		if wrong := wrongLink(by, agent, standing, now); wrong != "" {
			basis.Wrong = wrong
			return basis
		}
		basis.Links = append(basis.Links, interlock.RunHolder{Agent: by.Agent, Type: ruleset.TypeName(agent)})
		if basis.User = by.Principal; agent.Principal != "" {
			basis.User = agent.Principal
		}
	}
	return basis
}

// TreeOf is the orchestration that an action's registered run belongs to. Nothing: it names none.
func TreeOf(r interlock.Requester, standing ledger.Standing) string {
	run, _ := standing.Run(r.Agent, standing.RunOf(r))
	return run.Orchestration
}

// wrongLink says why nothing may be done any more on behalf of one that has delegated.
func wrongLink(by interlock.RunLink, agent interlock.AgentRecord, standing ledger.Standing, now time.Time) string {
	parent, open := standing.Run(by.Agent, by.Run)
	switch {
	case !open:
		return "the run that this was delegated by has ended"
	case Over(parent, now):
		return "the time of the run that this was delegated by is over"
	case !agent.Revoked.IsZero() && !now.Before(agent.Revoked):
		return "an agent that has delegated this is revoked"
	}
	return ""
}

// Over reports whether a run's time box is over.
func Over(run interlock.Run, now time.Time) bool {
	return !run.Until.IsZero() && !now.Before(run.Until)
}

// Accountable is the human who answers for what an agent does, as its type says. Where no type does, and a tier is in force, it
// is who answers for the agent, or else the one it acts for.
func (e *Evaluator) Accountable(r interlock.Requester, standing ledger.Standing) string {
	agent := AgentOf(r, standing)
	if e.Rules.Typed() {
		if human := e.Rules.TypeOf(agent).Accountable; human != "" {
			return human
		}
	}
	if e.Rules.HighestTier() == 0 {
		return ""
	}
	return agent.Principal
}

// accounted has a record name the accountable human where a tier is in force (EC-L-3): besides what decisions and runs say of their agents'
// types, the one for whom the subject of the record acts, the operator who did it, or the owner of the home.
func (a *Core) accounted(r interlock.Requester, role string, payload []byte) ([]byte, error) {
	const member = `"accountable_human":`
	if !a.watches() || len(payload) < 2 || bytes.HasPrefix(payload[1:], []byte(member)) {
		return payload, nil
	}
	var said struct {
		Human string `json:"accountable_human"`
	}
	if err := strictjson.DecodeSome(payload, &said); err != nil || said.Human != "" {
		return payload, err
	}
	human := r.Principal
	switch {
	case human == "" && role == "operator":
		human = r.Agent
	case human == "":
		human = a.Config.Owner
	}
	if human == "" {
		return payload, nil
	}
	text := strictjson.AppendString([]byte("{"+member), human)
	if payload[1] != '}' {
		text = append(text, ',')
	}
	return strictjson.Canonical(append(text, payload[1:]...))
}

// How full the context of a run may be, in percent, where agents act by themselves (from tier 2 on).
const (
	contextRotates = 75 // it should keep a checkpoint and begin a new context
	ContextAsks    = 80 // without a checkpoint since then, a person is asked about each change
	ContextFull    = 95 // nothing passes: what it was told at first may no longer be in view
)

// Rotates is the time since which a run's context has been so full that it should be rotated.
func Rotates(before time.Time, s interlock.Signal, now time.Time) time.Time {
	switch {
	case s.Kind != interlock.SignalContext || s.Value < contextRotates:
		return time.Time{}
	case before.IsZero():
		return now
	}
	return before
}

// contextRefs names what observers told of the context of the runs that an action names.
func (a *Core) contextRefs(agent string, runs ...string) (refs []ledger.Ref) {
	if a.Tier() < 2 {
		return nil
	}
	for _, run := range runs {
		if run != "" {
			refs = append(refs,
				Key(ledger.Signal, ledger.SignalKey(interlock.Signal{Kind: interlock.SignalContext, Agent: agent, Run: run})))
		}
	}
	return refs
}

// StateOf is what is kept of a run before anything changes about it.
func StateOf(run interlock.Run, standing ledger.Standing) auditlog.RunState {
	state := auditlog.RunState{Run: run}
	if kept, found := standing.Checkpoint(run.Agent, run.ID); found {
		state.Checkpoint, state.Constraints, state.System = kept.Digest, kept.Bound, kept.System
	}
	return state
}
