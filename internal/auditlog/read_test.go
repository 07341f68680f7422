package auditlog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/auditlog"
)

// TestReadDecision: what a decision's record holds is read back as it was, and what was cut is named.
func TestReadDecision(t *testing.T) {
	record := decided(interlock.Ask, interlock.Ask,
		interlock.Finding{Gate: "rules", Rule: "fs.delete", Layer: 2, Verdict: interlock.Ask, Reason: "it deletes files",
			Impacts: []int{0}})
	record.Request, record.Orders, record.Grants = "apr_1", []string{"sup_1"}, []string{"grt_1"}
	record.Loop = &interlock.Loop{Execution: "x", Step: 2, Limit: 10, Tolerance: 50}
	record.Upstream = &interlock.Upstream{Server: "files", Identity: "sha256:aa", Tool: "read", Definition: "sha256:bb"}
	record.Failed = &interlock.Failures{Last: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Outcome: interlock.OutcomeUnknown, Count: 2}
	record.Origin = &interlock.Origin{Prompted: true, Asked: []string{"spend"}, Ordered: 1, Source: "fetch"}
	record.Pin = &interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Why: interlock.PinChanged,
		Identity: "sha256:aa", Definition: "sha256:cc"}
	record.Recent = []interlock.PastAction{{At: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Kind: interlock.KindShell, Impacts: []interlock.Impact{}}}
	_, _, entry := sealRecord(t, interlock.EventReviewRequest, record)
	got, err := auditlog.ReadDecision(entry)
	if err != nil {
		t.Fatal(err)
	}
	record.Proposal.View = interlock.View{Workspace: record.Proposal.View.Workspace} // of the view nothing else is recorded
	if diff := cmp.Diff(record, got.DecisionRecord, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
	}
	if got.User != "pat" || got.Execution != "not_run" || len(got.Cut) != 0 || got.Event.ID != entry.ID {
		t.Errorf("around it: user %q, execution %q, cut %v", got.User, got.Execution, got.Cut)
	}

	record.Proposal.Action.Input = strings.Repeat("x", 20<<10)
	_, _, entry = sealRecord(t, interlock.EventDecision, record)
	if got, err = auditlog.ReadDecision(entry); err != nil || len(got.Cut) != 1 || got.Cut[0].Field != "input" || got.Cut[0].Bytes != 20<<10 {
		t.Errorf("a long input: %v %v", got.Cut, err)
	}

	for name, bad := range map[string]interlock.Entry{
		"another type": {Type: interlock.EventOutcome, Body: entry.Body},
		"no event":     {Type: interlock.EventDecision, Body: []byte(`{}`)},
		"cut":          {Type: interlock.EventDecision, Body: entry.Body[:len(entry.Body)/2]},
	} {
		if _, err := auditlog.ReadDecision(bad); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestTally: findings are counted for their rules by what they argued for, and the decisive one once.
func TestTally(t *testing.T) {
	byRule := map[string]*auditlog.Hits{}
	first, later := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	auditlog.Tally(byRule, interlock.Decision{Findings: []interlock.Finding{{Rule: "a", Verdict: interlock.Deny}, {Rule: "b", Verdict: interlock.Ask}}}, later)
	auditlog.Tally(byRule, interlock.Decision{Findings: []interlock.Finding{{Rule: "b", Verdict: interlock.Ask}, {Rule: "c", Verdict: interlock.Allow}}}, first)
	auditlog.Tally(byRule, interlock.Decision{Findings: []interlock.Finding{{Rule: "c", Verdict: interlock.Allow}}}, first)
	want := []*auditlog.Hits{
		{Rule: "b", Asked: 2, Decisive: 1, Last: later},
		{Rule: "c", Suppressed: 2, Last: first},
		{Rule: "a", Denied: 1, Decisive: 1, Last: later},
	}
	if diff := cmp.Diff(want, auditlog.Ranked(byRule)); diff != "" {
		t.Errorf("ranked (-want +got):\n%s", diff)
	}
}
