package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

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
