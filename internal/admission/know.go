package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// knownLooks are of what runs did and were told a moment ago.
var knownLooks = []look{
	{gates: []string{"context"}, tried: true, finds: (*pendingDecision).contextFindings},
	{writes: (*pendingDecision).writeRecent},
}

// complete completes a case with what was loaded: whose agent it is, what its run and others of its agent have done, where a
// monitored execution is that said something of itself, and whether everything is stopped.
func (d *pendingDecision) complete(ctx context.Context) (err error) {
	p, g := d.Case, &d.ground
	standing := g.Standing
	// what a door says of it counts for nothing
	d.analysis, d.invalid, p.View.Written, p.View.Fetched, p.Origin = d.read, nil, nil, nil, nil
	if err := core.InOffice(p.Requester, standing, d.now); err != nil {
		return err
	}
	p.Requester = core.Owned(p.Requester, standing)
	p.Failed = d.a.failuresOf(p, d.by, core.Found[ledger.FailedBody](g, failedOf(d.by)))
	p.Recent = p.under.Rules.Recent(core.Found[ledger.RecentBody](g, core.Key(ledger.Recent, core.RunOf(d.by))).Actions, d.now)
	if d.said != nil {
		d.done = core.Found[ledger.Done](g, executionOf(d.by))
		p.Loop = loop(d.done, *d.said, p.under.Rules.Loop(core.AgentOf(p.Requester, standing)), p.under.Counters, d.now)
		pause, _ := core.Verifying(standing, p.Requester, d.now)
		p.Loop.Verifying = pause.ID // what a door says of that counts for nothing
		if p.Loop.Paused, p.Loop.Asked, err = d.a.paused(p, standing, pause, d.now); err != nil {
			return err
		}
	}
	for _, judged := range core.All[ledger.JudgedBody](g) {
		p.judging.Recall(d.question, judged, d.now)
	}
	d.over = core.HoldsOver(standing, p.Requester, d.now)
	if !p.healed && containment.MayHeal(d.over, d.now) {
		return containment.ErrHeals
	}
	p.context, p.overdue = core.All[ledger.SignalBody](g), runs.OverdueRun(p.Requester, standing, d.now)
	d.tallies = core.All[ledger.TallyBody](g)
	p.agent, p.tree = core.TrustedAt(core.AgentOf(p.Requester, standing), d.now), core.TreeOf(p.Requester, standing)
	if p.stop, _ = d.a.KilledIn(&standing, d.now); p.stop.Scope != "" {
		_ = d.a.BothKilled(ctx) // what fails here is tried again with the next action, and this one is stopped anyway
	}
	return nil
}

// recentOf names what the requester's run did a moment ago, where rules ask for it. Actions that name no run have nothing in
// common, so nothing is remembered of them.
func recentOf(p *Case) []ledger.Ref {
	if p.Requester.Run == "" || !p.under.Rules.Recalls() {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Recent, core.RunOf(p.Requester))}
}

// writeRecent remembers of an action what rules ask for later, of those that name a run.
func (d *pendingDecision) writeRecent() error {
	if d.Requester.Run == "" {
		return nil
	}
	if past, ok := d.under.Rules.Remember(d.Action.Kind, d.record, d.now); ok {
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.Past{Run: core.RunOf(d.Requester), Action: past})...)
	}
	return nil
}

// contextFindings object to what a run does whose context is nearly full.
func (d *pendingDecision) contextFindings() []interlock.Finding {
	fullest := ledger.SignalBody{}
	for _, t := range d.context {
		if t.Kind == interlock.SignalContext && t.Agent == d.Requester.Agent && t.Value >= fullest.Value {
			fullest = t
		}
	}
	if fullest.Value >= core.ContextFull {
		return []interlock.Finding{{Gate: "context", Rule: "context.full", Layer: 1, Verdict: interlock.Deny,
			Reason: "nearly all of this run's context is used, so that what it was told at first may be out of its view",
			Suggestion: "keep a checkpoint (POST /v1/runs/ID/checkpoints), begin a new context with the same system prompt and go on from " +
				"there; it is let on once its observer tells of less"}}
	}
	if fullest.Value < core.ContextAsks || !core.ActOf(d.Requester, d.analysis).Changes {
		return nil
	}
	kept, found := d.begun.Checkpoint(d.Requester.Agent, d.begun.RunOf(d.Requester))
	if found && !kept.At.Before(fullest.Rotate) {
		return nil
	}
	return []interlock.Finding{{Gate: "context", Rule: "context.checkpoint", Layer: 2, Verdict: interlock.Ask,
		Reason:     "most of this run's context is used, and no checkpoint was kept since; a change now needs a person's yes",
		Suggestion: "keep a checkpoint (POST /v1/runs/ID/checkpoints), then begin a new context with the same system prompt"}}
}

// A monitored agent that was asked about pauses (MCP-AQL 8.6.4). What it pauses for is in the ledger, as the request itself:
// so it binds the agent and not one of its executions, holds in every process and at every endpoint, and ends by the answer to
// that request or with its time, whatever the agent reports meanwhile.

// paused returns the request that pauses the requester of a step, if that asks about another action, and the one that asks about
// this action or was approved and not used. An action that a human has approved passes a pause for another: it has its answer.
//
// A request that wants a code pauses by its challenge, which ends with its code's few minutes; waiting is that challenge, where
// there is one.
func (a *Admission) paused(p *Case, standing ledger.Standing, waiting interlock.Challenge,
	now time.Time) (other, own string, err error) {
	if p.Loop.Execution == "" {
		return "", "", nil // beginning and ending executions is no step
	}
	action, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return "", "", err
	}
	if waiting.ID != "" && waiting.Action != action {
		other = waiting.ID
	}
	approved := false
	for id, r := range standing.Requests {
		if !core.Pauses(r) || r.Requester.Agent != p.Requester.Agent || r.Requester.Principal != p.Requester.Principal ||
			!now.Before(r.Expires) {
			continue
		}
		// An approval that does not hold is no answer, no matter who wrote the row.
		answered := r.Status == interlock.RequestApproved &&
			quorum.Recheck(r, standing.Operators, standing.Agents, a.Config.Verify, now) == nil
		pending := !answered && (r.Status == interlock.RequestPending || r.Status == interlock.RequestApproved)
		switch {
		case r.Action == action && answered:
			own, approved = smaller(own, id, approved), true
		case r.Action == action && pending && !approved:
			own = smaller(own, id, true)
		case r.Action != action && pending && !r.Owes(interlock.ObligationVerify):
			other = smaller(other, id, true)
		}
	}
	if approved {
		other = ""
	}
	return other, own, nil
}

// smaller is the one of two ids that comes first, so that the same one is named each time; the second if the first is none or
// does not count.
func smaller(first, second string, counts bool) string {
	if first == "" || !counts || second < first {
		return second
	}
	return first
}
