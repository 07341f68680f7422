package engine

import (
	"testing"
	"time"

	"interlock"
)

// TestObligationsAnApprovalAnswers: an approved request lowers the verdict only where one operator's signature, taken as
// package quorum takes it, discharges every obligation.
func TestObligationsAnApprovalAnswers(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		decided, asked string // obligation of the decision, and of the request that was approved
		want           bool
	}{
		{"", "", true},
		{interlock.ObligationConfirm, "", true},
		{interlock.ObligationRedact, "", true},
		{interlock.ObligationSandbox, "", true},
		{interlock.ObligationAdmin, interlock.ObligationAdmin, true},
		{interlock.ObligationAdmin, "", false},
		{interlock.ObligationAdmin, interlock.ObligationConfirm, false},
		{interlock.ObligationCouncil, interlock.ObligationCouncil, false},
		{interlock.ObligationDual, interlock.ObligationDual, false},
		{interlock.ObligationVerify, interlock.ObligationVerify, false},
		{interlock.ObligationDryRun, interlock.ObligationDryRun, false}, // nobody was shown one
		{interlock.ObligationCooldown, interlock.ObligationCooldown, false},
		{"unknown", "unknown", false},
	}
	// Two people are two answers, which only package quorum can have let in.
	two := interlock.ApprovalRequest{Obligations: []interlock.Obligation{{Type: interlock.ObligationDual}},
		Approval: &interlock.Approval{}, First: &interlock.Approval{}}
	seen := interlock.ApprovalRequest{Approval: &interlock.Approval{DryRun: "e7"}}
	if !discharges(&seen, []interlock.Obligation{{Type: interlock.ObligationDryRun}}) {
		t.Error("a dry run that was shown does not count")
	}
	for name, test := range map[string]struct {
		change func(*interlock.ApprovalRequest)
		want   bool
	}{
		"two":                   {func(*interlock.ApprovalRequest) {}, true},
		"one":                   {func(r *interlock.ApprovalRequest) { r.First = nil }, false},
		"two where one was due": {func(r *interlock.ApprovalRequest) { r.Obligations = nil }, false},
	} {
		request := two
		test.change(&request)
		if got := discharges(&request, two.Obligations); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for _, test := range tests {
		decision := interlock.Decision{Action: "sha256:a", Ruleset: "sha256:b", Findings: []interlock.Finding{{Layer: 3, Verdict: interlock.Ask}}}
		if test.decided != "" {
			decision.Obligations = []interlock.Obligation{{Type: test.decided}}
		}
		request := interlock.ApprovalRequest{ID: "r", Action: "sha256:a", Ruleset: "sha256:b", Requester: interlock.Requester{Agent: "x"},
			Created: now.Add(-time.Minute), Expires: now.Add(time.Minute), Status: interlock.RequestApproved,
			Approval: &interlock.Approval{Request: "r", Verdict: interlock.Allow}}
		if test.asked != "" {
			request.Obligations = []interlock.Obligation{{Type: test.asked}}
		}
		_, got := approved(decision, interlock.AgentRecord{ID: "x"}, []interlock.ApprovalRequest{request}, now)
		if got != test.want {
			t.Errorf("decided with %q, asked with %q: %t, want %t", test.decided, test.asked, got, test.want)
		}
	}
}
