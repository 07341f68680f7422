package quorum_test

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// TestNamedApprovers: a request that names who may answer is answered by nobody else, whatever their role.
func TestNamedApprovers(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		note string
		role string
		team string
		want bool
	}{
		{"role:admin", "admin", "", true},
		{"role:admin", "operator", "", false},
		{"role:admin", "superadmin", "", false},
		{"team:dba", "operator", "dba", true},
		{"team:dba", "admin", "web", false},
		{"role:admin team:dba", "operator", "dba", true},
		{"team:dba", "viewer", "dba", false}, // a viewer answers nothing
		{"", "admin", "dba", false},
	} {
		req := interlock.ApprovalRequest{Requester: interlock.Requester{Agent: "a", Principal: "p"},
			Obligations: []interlock.Obligation{{Type: interlock.ObligationApprovers, Note: test.note}}}
		operator := interlock.OperatorRecord{Name: "olga", Role: test.role, Teams: []string{test.team}}
		if err := quorum.MayAnswer(req, operator, nil, now); (err == nil) != test.want {
			t.Errorf("%q, %s of team %q: %v", test.note, test.role, test.team, err)
		}
	}
}
