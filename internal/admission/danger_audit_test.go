package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/spec"
)

// TestTheDangerAuditHoldsNoSecret: danger levels 7.4 wants the parameters of a dangerous operation in its audit entry, redacted. They are
// there, as they were called with, but for what is secret in them; whatever came of the operation.
func TestTheDangerAuditHoldsNoSecret(t *testing.T) {
	spec.Covers(t, "AQL-D-7.4")
	const token, password = "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "correct-Horse7-battery!"
	given := `{"name":"users","note":"with ` + token + `","login":{"password":"` + password + `","user":"pat"},"rows":[1,"` + token + `"]}`
	want := map[string]any{"name": "users", "note": "with [redacted]", "login": map[string]any{"password": "[redacted]", "user": "pat"},
		"rows": []any{1.0, "[redacted]"}}
	for level, outcome := range map[string]string{"destructive": "allowed", "dangerous": "denied", "forbidden": "denied"} {
		h := newHouse(t, ruled(t, "danger: [{name: list_table, level: "+level+"}]\n"))
		h.propose("", func(p *admission.Case) {
			p.Action = interlock.Action{Kind: interlock.KindTool, Tool: "list_table", Arguments: json.RawMessage(given)}
		})
		found := false
		for _, e := range h.log() {
			if body := string(e.Body); strings.Contains(body, token) || strings.Contains(body, password) {
				t.Errorf("%s: the log holds a secret: %s", level, body)
			}
			var event struct {
				Payload struct {
					Audit *struct {
						Outcome    string         `json:"outcome"`
						Operation  string         `json:"operation"`
						Parameters map[string]any `json:"parameters"`
					} `json:"danger_audit"`
				} `json:"payload"`
			}
			if err := json.Unmarshal(e.Body, &event); err != nil {
				t.Fatal(err)
			}
			if audit := event.Payload.Audit; audit != nil {
				found = true
				if diff := cmp.Diff(want, audit.Parameters); diff != "" || audit.Outcome != outcome || audit.Operation != "list_table" {
					t.Errorf("%s: %s of %s (-want +got):\n%s", level, audit.Outcome, audit.Operation, diff)
				}
			}
		}
		if !found {
			t.Errorf("%s: no danger audit", level)
		}
	}
}
