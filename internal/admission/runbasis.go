package admission

import (
	"bytes"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// runRefs names what a decision reads of the run that an action names: the run, and what is counted of its agent. An action that
// names no registered run reads the count alone, and that only where types are in use.
func (a *Admission) runRefs(r interlock.Requester) (refs []ledger.Ref) {
	registered := ledger.Registered(r.Run)
	if registered {
		refs = append(refs, key(ledger.Run, ledger.RunKey(r.Agent, r.Run)))
	}
	if registered || a.force.Load().Rules.Typed() {
		refs = append(refs, key(ledger.RunCount, ledger.AgentTally(r.Agent)))
	}
	return refs
}

// chainRefs names the runs and agents that a run was delegated by, and what holds those runs. There are [ruleset.MaxDepth] at most.
func chainRefs(run interlock.Run) (refs []ledger.Ref) {
	for _, by := range run.Chain[:min(len(run.Chain), ruleset.MaxDepth)] {
		refs = append(refs, key(ledger.Run, ledger.RunKey(by.Agent, by.Run)), key(ledger.Agent, by.Agent),
			under(ledger.Hold, ledger.Over(ledger.HoldRun, by.Run)))
	}
	return refs
}

// basisOf is what an action's registered run rests on; nil where it names none and nothing that was delegated binds its agent.
func basisOf(r interlock.Requester, standing ledger.Standing, now time.Time) *interlock.RunBasis {
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
	case over(run, now):
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

// treeOf is the orchestration that an action's registered run belongs to. Nothing: it names none.
func treeOf(r interlock.Requester, standing ledger.Standing) string {
	run, _ := standing.Run(r.Agent, standing.RunOf(r))
	return run.Orchestration
}

// wrongLink says why nothing may be done any more on behalf of one that has delegated.
func wrongLink(by interlock.RunLink, agent interlock.AgentRecord, standing ledger.Standing, now time.Time) string {
	parent, open := standing.Run(by.Agent, by.Run)
	switch {
	case !open:
		return "the run that this was delegated by has ended"
	case over(parent, now):
		return "the time of the run that this was delegated by is over"
	case !agent.Revoked.IsZero() && !now.Before(agent.Revoked):
		return "an agent that has delegated this is revoked"
	}
	return ""
}

// over reports whether a run's time box is over.
func over(run interlock.Run, now time.Time) bool {
	return !run.Until.IsZero() && !now.Before(run.Until)
}

// accountable is the human who answers for what an agent does, as its type says. Where no type does, and a tier is in force, it is who
// answers for the agent, or else whoever it acts for.
func (e *Evaluator) accountable(r interlock.Requester, standing ledger.Standing) string {
	agent := agentOf(r, standing)
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
// types, whoever the record is about acts for, the operator who did it, or the owner of the home.
func (a *Admission) accounted(r interlock.Requester, role string, payload []byte) ([]byte, error) {
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
		human = a.config.Owner
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
