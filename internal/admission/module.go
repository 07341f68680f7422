package admission

import (
	"context"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/module"
)

// moduleLooks are of how modules do.
var moduleLooks = []look{
	{gates: []string{gate.NameModule}, tried: true, finds: (*pendingDecision).moduleFindings},
	{writes: (*pendingDecision).writeRetry, late: true},
}

// moduleFindings ask about every action of a module that is offline. People answer, or register it again; by itself nothing quarantines it.
func (d *pendingDecision) moduleFindings() []interlock.Finding {
	if core.AgentOf(d.Requester, d.begun).Module == nil {
		return nil
	}
	health, _ := containment.HealthOf(&d.begun, d.Requester.Agent)
	if health.Status(false) != module.Offline {
		return nil
	}
	return []interlock.Finding{{Gate: gate.NameModule, Rule: "module.offline", Layer: 2, Verdict: interlock.Ask,
		Reason:     string(interlock.EventNodeOffline) + ": this module is offline (" + health.Why(module.Offline) + "), so a person answers each action",
		Suggestion: "tell an operator: `interlock module show` says how it does; a module_register request has it begin again"}}
}

// maxSaid bounds what is kept of one answer of a service.
const maxSaid = 256 << 10

// keepSaid keeps, sealed and without secrets, what an external service answered a module that may have that kept, and has the outcome name it
// (MACE safety boundaries 5.3). Of every other agent nothing is kept, nor of an answer that is larger than the bound.
func (a *Admission) keepSaid(ctx context.Context, change *ledger.Change, r interlock.Requester, said []byte) error {
	if len(said) == 0 || len(said) > maxSaid {
		return nil
	}
	known, err := a.Known(ctx, core.Key(ledger.Agent, r.Agent))
	if m := known.Agents[r.Agent].Module; err != nil || m == nil || !m.Persist {
		return err
	}
	text := []byte(a.Redact(string(said)))
	blob := ledger.Blob{Digest: auditlog.BlobDigest(text)}
	if blob.Text, err = a.Kept(text, true); err != nil || len(blob.Text) == 0 { // how it ended is recorded all the same
		return a.Raise(change, r, "external-output", "what a service answered this module could not be kept, although its registration says so")
	}
	change.Blobs = append(change.Blobs, blob)
	change.Events[0].Snapshots[auditlog.SnapshotSaid] = string(blob.Digest)
	return nil
}

// writeRetry records that a module tries once more what has failed (MACE failure boundaries). The first attempt has the index 0.
func (d *pendingDecision) writeRetry() error {
	failed := d.Failed
	if d.agent.Module == nil || failed == nil || failed.Changed || failed.Count == 0 || d.answer.Gateway || !d.answer.Decision.Answer.Allowed() {
		return nil
	}
	return d.a.Append(&d.change, interlock.EventRetry, d.Requester, "agent",
		auditlog.NodeRecord{Node: d.Requester.Agent, Attempt: failed.Count})
}
