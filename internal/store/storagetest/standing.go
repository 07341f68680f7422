package storagetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/ledger"
)

// standing: what a commit makes stand is read back as it was, at once and after a restart.
func standing(t *testing.T, p Place) {
	s := p.Open(t)
	agent := interlock.AgentRecord{ID: "agent", Type: "claude", Principal: "pat", Trust: interlock.TrustValidated,
		Allow: []string{"a*"}, TokenHash: "h", Created: Now}
	operator := interlock.OperatorRecord{Name: "olga", Role: "admin", SSHKey: "ssh-ed25519 AAAA", Created: Now}
	commit(t, s, with(Decision(""), write(agent, operator)))
	commit(t, s, with(Decision(""), func(c *ledger.Change) {
		c.Writes = ledger.Settings(map[string]string{"mode": "enforcing", "ruleset": "sha256:aa"})
	}))
	commit(t, s, with(Decision(""), write(*Request("r1"))))
	agent.Revoked = Now
	commit(t, s, with(Decision(""), func(c *ledger.Change) {
		c.Writes = append(ledger.Rows(agent), ledger.Settings(map[string]string{"mode": "logging"})...)
	}))
	want := ledger.Standing{
		Agents:       map[string]interlock.AgentRecord{"agent": agent},
		Operators:    map[string]interlock.OperatorRecord{"olga": operator},
		Requests:     map[string]interlock.ApprovalRequest{"r1": *Request("r1")},
		Settings:     map[string]string{"mode": "logging", "ruleset": "sha256:aa"},
		Suppressions: map[string]interlock.Suppression{},
		Challenges:   map[string]interlock.Challenge{},
		Grants:       map[string]interlock.Grant{},
		Attempts:     map[string]ledger.AttemptsBody{},
		Pins:         map[string]interlock.Pin{},
	}
	for range 2 {
		if diff := cmp.Diff(want, current(t, s), cmpopts.IgnoreFields(ledger.Standing{}, "Version")); diff != "" {
			t.Errorf("standing (-want +got):\n%s", diff)
		}
		s.Close()
		s = p.Open(t)
	}
	s.Close()
}
