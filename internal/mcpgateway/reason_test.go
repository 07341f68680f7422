package mcpgateway_test

import (
	"testing"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestReasons: each kind of refusal has its code, and what is not known is policy. The codes never change.
func TestReasons(t *testing.T) {
	said := func(gate, rule string, verdict, answer interlock.Verdict, request string) interlock.Answer {
		return interlock.Answer{Request: request, Decision: interlock.Decision{Verdict: verdict, Answer: answer,
			Findings: []interlock.Finding{{Gate: gate, Rule: rule, Layer: 2, Verdict: verdict, Reason: "no"}}}}
	}
	const ask, deny, halt = interlock.Ask, interlock.Deny, interlock.Halt
	for want, a := range map[string]interlock.Answer{
		"policy_denied":        said("rules", "fs.delete-root", deny, deny, ""),
		"halted":               said("rules", "self.stop", halt, halt, ""),
		"agent_blocked":        said("standing", "standing.blocked", halt, halt, ""),
		"nobody_to_ask":        said("profile", "profile.guard.outward", ask, deny, "apr_1"),
		"too_many_questions":   said("limit", "limit.questions", deny, deny, ""),
		"tool_quarantined":     said("pin", "pin.changed", deny, deny, ""),
		"retry_cooldown":       said("cooldown", "cooldown.unknown", deny, deny, ""),
		"retry_budget":         said("cooldown", "cooldown.budget", deny, deny, ""),
		"invalid_request":      interlock.Refusal("invalid", "no"),
		"decision_unavailable": interlock.Refusal("unavailable", "no"),
	} {
		if got := mcpgateway.ReasonOf(a); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := mcpgateway.ReasonOf(interlock.Answer{}); got != mcpgateway.ReasonPolicy {
		t.Errorf("an answer without a finding: %s", got)
	}
	if got := mcpgateway.ReasonOf(said("new", "new.gate", deny, deny, "")); got != mcpgateway.ReasonPolicy {
		t.Errorf("a gate nobody knows: %s", got)
	}
}
