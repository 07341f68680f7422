package auditlog_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
)

// TestRedacted: an event keeps its ids, names, digests and hashes, and nothing of what was wanted or written; what nobody has listed is
// left out.
func TestRedacted(t *testing.T) {
	record := auditlog.ActionRecord{Request: "act_1", Action: interlock.GovernedAction{Type: "code_upload", Target: "agent:claude",
		Params: "the plan"}, Digest: "sha256:0a", Class: 3, Approval: interlock.ApprovalCouncil, Why: "the plan",
		Signers: []interlock.Order{{ID: "ord_1", Verb: interlock.VerbVote, Operator: "olga", Reason: "the plan", Detail: "the plan",
			Signature: "sig"}},
		Sets: &interlock.Suppression{ID: "sup_1", Rule: "net.upload", Run: "s1", Command: "the plan", Reason: "the plan"}}
	event, _, entry := sealRecord(t, interlock.EventSafetyOverride, record)
	text, err := auditlog.Redacted(entry.Body)
	if err != nil {
		t.Fatal(err)
	}
	told, err := auditlog.ParseEvent(text)
	if err != nil || told.ID != event["event_id"] || told.Content != event["content_hash"] || told.Signature == "" || told.Sound() {
		t.Errorf("%v: %s", err, text)
	}
	for _, want := range []string{`"request_id":"act_1"`, `"action":{"target":"agent:claude","type":"code_upload"}`, `"operator":"olga"`,
		`"signature":"sig"`, `"rule":"net.upload"`, `"run":"s1"`, `"class":3`, `"redacted":true`} {
		if !strings.Contains(string(told.Payload), want) {
			t.Errorf("%s is missing: %s", want, told.Payload)
		}
	}
	if strings.Contains(string(text), "the plan") {
		t.Errorf("it tells %s", text)
	}
	if _, err := auditlog.Redacted([]byte(`{}`)); err == nil {
		t.Error("what is no event")
	}
}
