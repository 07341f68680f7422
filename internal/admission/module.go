package admission

import (
	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
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

// writeRetry records that a module tries once more what has failed (MACE failure boundaries). The first attempt has the index 0.
func (d *pendingDecision) writeRetry() error {
	failed := d.Failed
	if d.agent.Module == nil || failed == nil || failed.Changed || failed.Count == 0 || d.answer.Gateway || !d.answer.Decision.Answer.Allowed() {
		return nil
	}
	return d.a.Append(&d.change, interlock.EventRetry, d.Requester, "agent",
		auditlog.NodeRecord{Node: d.Requester.Agent, Attempt: failed.Count})
}
