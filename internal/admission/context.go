package admission

import (
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// How full the context of a run may be, in percent, where agents act by themselves (from tier 2 on).
const (
	contextRotates = 75 // it should keep a checkpoint and begin a new context
	contextAsks    = 80 // without a checkpoint since then, a person is asked about each change
	contextFull    = 95 // nothing passes: what it was told at first may no longer be in view
)

// rotates is the time since which a run's context has been so full that it should be rotated.
func rotates(before time.Time, s interlock.Signal, now time.Time) time.Time {
	switch {
	case s.Kind != interlock.SignalContext || s.Value < contextRotates:
		return time.Time{}
	case before.IsZero():
		return now
	}
	return before
}

// contextRefs names what observers told of the context of the runs that an action names.
func (a *Admission) contextRefs(agent string, runs ...string) (refs []ledger.Ref) {
	if a.tier() < 2 {
		return nil
	}
	for _, run := range runs {
		if run != "" {
			refs = append(refs, key(ledger.Signal, ledger.SignalKey(interlock.Signal{Kind: interlock.SignalContext, Agent: agent, Run: run})))
		}
	}
	return refs
}

// filled objects to what a run does whose context is nearly full.
func filled(told []ledger.SignalBody, r interlock.Requester, standing ledger.Standing, changes bool) []interlock.Finding {
	fullest := ledger.SignalBody{}
	for _, t := range told {
		if t.Kind == interlock.SignalContext && t.Agent == r.Agent && t.Value >= fullest.Value {
			fullest = t
		}
	}
	if fullest.Value >= contextFull {
		return []interlock.Finding{{Gate: "context", Rule: "context.full", Layer: 1, Verdict: interlock.Deny,
			Reason: "nearly all of this run's context is used, so that what it was told at first may be out of its view",
			Suggestion: "keep a checkpoint (POST /v1/runs/ID/checkpoints), begin a new context with the same system prompt and go on from " +
				"there; it is let on once its observer tells of less"}}
	}
	if fullest.Value < contextAsks || !changes {
		return nil
	}
	kept, found := standing.Checkpoint(r.Agent, standing.RunOf(r))
	if found && !kept.At.Before(fullest.Rotate) {
		return nil
	}
	return []interlock.Finding{{Gate: "context", Rule: "context.checkpoint", Layer: 2, Verdict: interlock.Ask,
		Reason:     "most of this run's context is used, and no checkpoint was kept since; a change now needs a person's yes",
		Suggestion: "keep a checkpoint (POST /v1/runs/ID/checkpoints), then begin a new context with the same system prompt"}}
}
