package auditlog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/spec"
)

// Danger levels 7.4: every attempt from destructive upwards has its entry, whatever the outcome.
func TestDangerAudit(t *testing.T) {
	spec.Covers(t, "AQL-D-7.1-3", "AQL-D-7.4")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		verdict, answer interlock.Verdict
		approval, grant string
		level           interlock.Danger
		outcome, token  string
	}{
		"reversible": {interlock.Allow, interlock.Allow, "", "", interlock.DangerReversible, "", ""},
		"allowed":    {interlock.Allow, interlock.Allow, "", "", interlock.DangerDestructive, "allowed", ""},
		"confirmed":  {interlock.Ask, interlock.Allow, "apr_1", "", interlock.DangerDangerous, "confirmed", "apr_1"},
		"granted":    {interlock.Ask, interlock.Allow, "", "grt_1", interlock.DangerDangerous, "confirmed", "grt_1"},
		"waiting":    {interlock.Ask, interlock.Ask, "", "", interlock.DangerDangerous, "denied", ""},
		"denied":     {interlock.Deny, interlock.Deny, "", "", interlock.DangerForbidden, "denied", ""},
		"monitored":  {interlock.Deny, interlock.Allow, "", "", interlock.DangerForbidden, "allowed", ""},
	} {
		record := decided(test.verdict, test.answer)
		record.At, record.Trust = at, interlock.TrustValidated
		record.Proposal.Action = interlock.Action{Kind: interlock.KindTool, Tool: "drop_table", Arguments: []byte(`{"name":"x"}`)}
		record.Decision.Danger, record.Decision.Approval, record.Decision.Grant = test.level, test.approval, test.grant
		_, payload, _ := sealRecord(t, interlock.EventDecision, record)
		var want any
		if test.outcome != "" {
			entry := map[string]any{"timestamp": "2026-03-01T12:00:00Z", "adapter_name": "claude", "operation": "drop_table",
				"danger_level": map[interlock.Danger]float64{interlock.DangerDestructive: 2,
					interlock.DangerDangerous: 3, interlock.DangerForbidden: 4}[test.level],
				"adapter_trust": "validated", "outcome": test.outcome, "user_id": "pat",
				"parameters": map[string]any{"name": "x"}}
			if test.token != "" {
				entry["confirmation_token"] = test.token
			}
			want = entry
		}
		if diff := cmp.Diff(want, payload["danger_audit"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
