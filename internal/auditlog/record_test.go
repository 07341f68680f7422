package auditlog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
	"interlock/spec"
)

func decided(verdict, answer interlock.Verdict, findings ...interlock.Finding) auditlog.DecisionRecord {
	return auditlog.DecisionRecord{
		Proposal: interlock.Proposal{
			Action:    interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: "rm -rf build", Dir: "/w", Hint: "clean up"},
			Requester: interlock.Requester{Principal: "pat", Agent: "claude", Run: "run", Call: "call"},
			View:      interlock.View{Workspace: "/w", User: "unix"},
			Door:      "hook", Event: "PreToolUse",
		},
		Decision: interlock.Decision{Verdict: verdict, Answer: answer, Findings: findings, Action: "sha256:aa", Ruleset: "sha256:bb",
			Snapshot: "sha256:cc", Profile: "guard", Risk: 40, Danger: interlock.DangerDestructive,
			Impacts: []interlock.Impact{{Kind: interlock.ImpactDelete, Target: "build", Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Irreversible, Confidence: interlock.Parsed}}},
	}
}

// sealRecord seals a record and returns the members of its event and of its payload.
func sealRecord(t *testing.T, kind interlock.EventType, r auditlog.Record) (event, payload map[string]any, entry interlock.Entry) {
	t.Helper()
	encoded, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	sealer := testSealer(t, 1)
	d := draft(kind, "seed", string(encoded))
	if _, err := sealer.Check(&d); err != nil {
		t.Fatal(err)
	}
	log := &memoryLog{}
	log.seal(t, sealer, d)
	if err := json.Unmarshal(log.entries[0].Body, &event); err != nil {
		t.Fatal(err)
	}
	payload, _ = event["payload"].(map[string]any)
	return event, payload, log.entries[0]
}

// ASA 14.1: every evaluation's record holds the eight fields, whatever was decided.
func TestRecordHoldsWhatASAAsks(t *testing.T) {
	spec.Covers(t, "ASA-14.1-1", "ASA-14.1-2", "ASA-14.1-3", "ASA-14.1-4", "ASA-14.1-5", "ASA-14.1-6", "ASA-14.1-7", "ASA-14.2-1")
	objection := interlock.Finding{Gate: "rules", Rule: "fs.delete", Layer: 2, Verdict: interlock.Ask, Reason: "it deletes files"}
	stop := interlock.Finding{Gate: "rules", Rule: "fs.delete-system", Layer: 1, Verdict: interlock.Deny, Reason: "it deletes the system"}
	judged := interlock.Finding{Gate: "judge", Rule: "judge", Layer: 4, Verdict: interlock.Deny, Reason: "it hides what it does"}
	notRun := map[string]any{"result": "not_run", "reason": "no judge was asked"}
	ended := map[string]any{"result": "not_run", "reason": "no judge was asked about what gate 1 denies"}
	allowed := decided(interlock.Allow, interlock.Allow)
	allowed.Judgments = []interlock.Judgment{{Judge: "main", Verdict: interlock.Allow, Reason: "it only reads"}}
	heard := decided(interlock.Deny, interlock.Deny, judged)
	heard.Judgments = []interlock.Judgment{{Judge: "main", Verdict: interlock.Deny, Layer: 4, Rule: "L4.honest", Reason: "it hides"}}
	off := decided(interlock.Allow, interlock.Allow)
	off.Decision.Mode = interlock.Logging
	awaited := map[string]any{"status": "awaited", "recorded_in": "OUTCOME"}
	refused := map[string]any{"status": "not_run", "reason": "the action was not allowed"}
	for _, test := range []struct {
		name         string
		kind         interlock.EventType
		record       auditlog.DecisionRecord
		gate1, gate2 map[string]any
		final        string
		execution    map[string]any
	}{
		{"allow", interlock.EventDecision, decided(interlock.Allow, interlock.Allow), map[string]any{"result": "allow"}, notRun, "allow", awaited},
		{"ask", interlock.EventReviewRequest, decided(interlock.Ask, interlock.Ask, objection),
			map[string]any{"result": "ask", "rule": "fs.delete", "layer": 2.0, "reason": "it deletes files"}, notRun, "ask", refused},
		{"deny", interlock.EventBlock, decided(interlock.Deny, interlock.Deny, stop, objection),
			map[string]any{"result": "deny", "rule": "fs.delete-system", "layer": 1.0, "reason": "it deletes the system"}, ended, "deny", refused},
		{"deny without a finding", interlock.EventBlock, decided(interlock.Deny, interlock.Deny), map[string]any{"result": "deny"},
			ended, "deny", refused},
		{"monitored", interlock.EventBlock, decided(interlock.Deny, interlock.Allow, stop),
			map[string]any{"result": "deny", "rule": "fs.delete-system", "layer": 1.0, "reason": "it deletes the system"}, ended, "allow", awaited},
		{"judge allows", interlock.EventDecision, allowed, map[string]any{"result": "allow"},
			map[string]any{"result": "allow", "reason": "it only reads"}, "allow", awaited},
		{"judge is heard and denies", interlock.EventBlock, heard, map[string]any{"result": "allow"},
			map[string]any{"result": "deny", "rule": "judge", "layer": 4.0, "reason": "it hides what it does"}, "deny", refused},
		{"nothing is evaluated", interlock.EventDecision, off, map[string]any{"result": "allow"},
			map[string]any{"result": "not_run", "reason": "no judge is asked in the mode logging"}, "allow", awaited},
		{"judge denies", interlock.EventBlock, decided(interlock.Deny, interlock.Deny, judged), map[string]any{"result": "allow"},
			map[string]any{"result": "deny", "rule": "judge", "layer": 4.0, "reason": "it hides what it does"}, "deny", refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			event, payload, entry := sealRecord(t, test.kind, test.record)
			got := map[string]any{}
			for _, name := range []string{"user", "proposed", "gate_1", "gate_2", "final_decision", "execution"} {
				got[name] = payload[name]
			}
			want := map[string]any{
				"user": "pat", "final_decision": test.final, "gate_1": test.gate1, "gate_2": test.gate2, "execution": test.execution,
				"proposed": map[string]any{"action_type": "shell", "digest": "sha256:aa", "payload": map[string]any{
					"kind": "shell", "tool": "Bash", "input": "rm -rf build", "dir": "/w", "hint": "clean up"}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if at, err := time.Parse(time.RFC3339Nano, event["ts_recorded"].(string)); err != nil || !at.Equal(testTime) {
				t.Errorf("timestamp %v (%v)", event["ts_recorded"], err)
			}
			if event["event_id"] != entry.ID || len(entry.ID) != 64 {
				t.Errorf("action identifier %v", event["event_id"])
			}
			decision, agent, err := auditlog.DecisionOf(entry)
			if err != nil || agent != "claude" || decision.Verdict != test.record.Decision.Verdict || decision.Answer != test.record.Decision.Answer {
				t.Errorf("the decision comes back as %+v of %q, %v", decision, agent, err)
			}
		})
	}
}

// Who answers for an action is named even where nobody gave a principal.
func TestRecordNamesAUser(t *testing.T) {
	r := decided(interlock.Allow, interlock.Allow)
	for _, want := range []string{"pat", "unix", "claude"} {
		_, payload, _ := sealRecord(t, interlock.EventDecision, r)
		if payload["user"] != want {
			t.Errorf("user %v, want %s", payload["user"], want)
		}
		if r.Proposal.Requester.Principal == "" {
			r.Proposal.View.User = ""
		}
		r.Proposal.Requester.Principal = ""
	}
}

// However large a proposal is, its record fits into an event and names what was cut by digest.
func TestRecordIsBounded(t *testing.T) {
	for name, filler := range map[string]string{"plain": "x", "escaped": "\x01", "quotes": `"`, "wide": "€", "not UTF-8": "\xff"} {
		r := decided(interlock.Ask, interlock.Ask)
		huge := strings.Repeat(filler, 200_000)
		r.Proposal.Action.Input, r.Proposal.Action.Hint, r.Proposal.Action.Dir = huge, huge, huge
		r.Proposal.Action.Tool, r.Proposal.Requester.Run, r.Proposal.Event = huge, huge, huge
		r.Proposal.Action.Arguments = json.RawMessage(`{"a":"` + strings.Repeat("x", 100_000) + `"}`)
		for range 500 {
			r.Decision.Findings = append(r.Decision.Findings, interlock.Finding{Verdict: interlock.Ask, Reason: huge, Rule: huge, Impacts: []int{0, 499}})
			r.Decision.Impacts = append(r.Decision.Impacts, interlock.Impact{Target: huge, Via: huge, Amount: 1 << 60})
		}
		_, payload, entry := sealRecord(t, interlock.EventReviewRequest, r)
		if len(entry.Body) > auditlog.MaxEntry {
			t.Errorf("%s: the entry is %d bytes long", name, len(entry.Body))
		}
		cut := map[string]bool{}
		for _, c := range payload["truncated"].([]any) {
			cut[c.(map[string]any)["field"].(string)] = true
		}
		for _, field := range []string{"input", "arguments", "hint", "findings", "impacts"} {
			if !cut[field] {
				t.Errorf("%s: the record does not say that %s was cut", name, field)
			}
		}
		if _, _, err := auditlog.DecisionOf(entry); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherRecords(t *testing.T) {
	spec.Covers(t, "ASA-14.1-8")
	request := interlock.ApprovalRequest{ID: "apr_1", Action: "sha256:aa", Nonce: "00", Display: "rm", Status: interlock.RequestApproved}
	approval := interlock.Approval{Request: "apr_1", Verdict: interlock.Allow, Operator: "olga", At: testTime}
	for name, test := range map[string]struct {
		record auditlog.Record
		want   map[string]any
	}{
		"outcome": {auditlog.OutcomeRecord{Outcome: interlock.Outcome{Event: "e", Status: interlock.OutcomeFailure,
			Detail: "exit 1", Duration: time.Second}, Alert: "late"},
			map[string]any{"event_id": "e", "outcome": "failure", "detail": "exit 1", "duration_ns": 1e9, "alert": "late"}},
		"refusal": {auditlog.RefusalRecord{Door: "http", Code: "invalid", Reason: "no"}, map[string]any{"door": "http", "code": "invalid", "reason": "no"}},
		"alert":   {auditlog.AlertRecord{Code: "c", Message: "m"}, map[string]any{"code": "c", "message": "m"}},
		"settings": {auditlog.SettingsRecord{Before: map[string]string{"mode": ""}, After: map[string]string{"mode": "logging"}},
			map[string]any{"before": map[string]any{"mode": ""}, "after": map[string]any{"mode": "logging"}}},
	} {
		_, payload, _ := sealRecord(t, interlock.EventAlert, test.record)
		if diff := cmp.Diff(test.want, payload); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, payload, _ := sealRecord(t, interlock.EventApproval, auditlog.ApprovalRecord{Request: request, Approval: approval})
	if payload["approval"].(map[string]any)["operator"] != "olga" || payload["request"].(map[string]any)["id"] != "apr_1" {
		t.Errorf("approval: %v", payload)
	}
	agent := interlock.AgentRecord{ID: "a", TokenHash: "secret hash"}
	_, payload, entry := sealRecord(t, interlock.EventIdentity, auditlog.IdentityRecord{Agent: &agent})
	if payload["agent"].(map[string]any)["id"] != "a" || strings.Contains(string(entry.Body), "secret") || agent.TokenHash == "" {
		t.Errorf("identity: %s", entry.Body)
	}
	for name, r := range map[string]auditlog.Record{
		"identity of nobody": auditlog.IdentityRecord{},
		"identity of two":    auditlog.IdentityRecord{Agent: &agent, Operator: &interlock.OperatorRecord{}},
		"endless settings":   auditlog.SettingsRecord{After: map[string]string{"a": strings.Repeat("x", auditlog.MaxPayload)}},
	} {
		if _, err := r.Payload(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, _, err := auditlog.DecisionOf(entry); err == nil {
		t.Error("an identity change holds a decision")
	}
}

func TestCloudEvent(t *testing.T) {
	event, _, entry := sealRecord(t, interlock.EventBlock, decided(interlock.Deny, interlock.Deny))
	rendered, err := auditlog.CloudEvent(entry, "interlock/x")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(rendered, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"specversion": "1.0", "id": entry.ID, "source": "/log/interlock/x", "type": "interlock.safety.block.event.v1",
		"subject": "agent", "time": "2026-05-06T07:08:09.123456Z", "datacontenttype": "application/json",
		"sequence": "00000000000000000000", "data": event}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := auditlog.CloudEvent(interlock.Entry{Body: []byte("{}")}, "x"); err == nil {
		t.Error("rendered what is no event")
	}
}

func TestOCSF(t *testing.T) {
	for _, test := range []struct {
		kind   interlock.EventType
		record auditlog.Record
		want   map[string]any
	}{
		{interlock.EventDecision, decided(interlock.Allow, interlock.Allow),
			map[string]any{"action_id": 1.0, "disposition_id": 1.0, "status_id": 1.0, "severity_id": 1.0}},
		{interlock.EventReviewRequest, decided(interlock.Ask, interlock.Ask),
			map[string]any{"action_id": 2.0, "disposition_id": 14.0, "status_id": 0.0, "severity_id": 2.0}},
		{interlock.EventBlock, decided(interlock.Deny, interlock.Deny),
			map[string]any{"action_id": 2.0, "disposition_id": 2.0, "status_id": 2.0, "severity_id": 3.0}},
		{interlock.EventBlock, decided(interlock.Halt, interlock.Halt),
			map[string]any{"action_id": 2.0, "disposition_id": 2.0, "status_id": 2.0, "severity_id": 4.0}},
		{interlock.EventOutcome, auditlog.OutcomeRecord{Outcome: interlock.Outcome{Status: interlock.OutcomeSuccess}},
			map[string]any{"action_id": 3.0, "disposition_id": 0.0, "status_id": 1.0, "severity_id": 1.0}},
		{interlock.EventAlert, auditlog.AlertRecord{Code: "c", Message: "m"},
			map[string]any{"action_id": 3.0, "disposition_id": 0.0, "status_id": 0.0, "severity_id": 4.0}},
	} {
		event, _, entry := sealRecord(t, test.kind, test.record)
		rendered, err := auditlog.OCSF(entry, "interlock/x")
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(rendered, &got); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]any{"class_uid": 6003.0, "category_uid": 6.0, "activity_id": 99.0, "type_uid": 600399.0,
			"time": float64(testTime.UnixMilli()), "unmapped": map[string]any{"event": event}} {
			test.want[name] = want
		}
		for name, want := range test.want {
			if diff := cmp.Diff(want, got[name]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", test.kind, name, diff)
			}
		}
		for _, required := range []string{"actor", "api", "metadata", "src_endpoint"} {
			if got[required] == nil {
				t.Errorf("%s: %s is missing", test.kind, required)
			}
		}
		if version := got["metadata"].(map[string]any)["version"]; version != "1.8.0" {
			t.Errorf("%s: version %v", test.kind, version)
		}
		if canonical, err := strictjson.Canonical(rendered); err != nil || string(canonical) != string(rendered) {
			t.Errorf("%s: not canonical: %v", test.kind, err)
		}
	}
}
