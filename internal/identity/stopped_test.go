package identity_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/spec"
)

// TestNoTokenInEmergency: while an agent, its type, a layer or the system is in emergency no token of it is taken, with the name of the
// agent for the record; a looser phase, and somebody else's, takes nothing away. What can't be read refuses.
func TestNoTokenInEmergency(t *testing.T) {
	spec.Covers(t, "EC-P-6")
	token, hash, err := identity.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	agent := interlock.AgentRecord{ID: "builder", Type: "worker", TokenHash: hash, Created: noon}
	hold := func(scope ledger.HoldScope, key string, p phase.Phase) ledger.HoldBody {
		return ledger.HoldBody{Scope: scope, Key: key, Since: noon, Hold: phase.Hold{Phase: p}}
	}
	for name, c := range map[string]struct {
		hold    ledger.HoldBody
		refuses bool
	}{
		"the system":                     {hold(ledger.HoldSystem, "all", phase.Emergency), true},
		"a layer":                        {hold(ledger.HoldLayer, "gates", phase.Emergency), true},
		"its type":                       {hold(ledger.HoldType, "worker", phase.Emergency), true},
		"itself":                         {hold(ledger.HoldAgent, "builder", phase.Emergency), true},
		"a phase that nobody knows":      {hold(ledger.HoldAgent, "builder", "Q"), true},
		"another agent":                  {hold(ledger.HoldAgent, "other", phase.Emergency), false},
		"another type":                   {hold(ledger.HoldType, "other", phase.Emergency), false},
		"contingency":                    {hold(ledger.HoldSystem, "all", phase.Contingency), false},
		"a ruleset, which is no actor's": {ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01"}, false},
	} {
		broken := false
		book := ledger.NewBook()
		tokens := identity.NewTokens(func(_ context.Context, refs ...ledger.Ref) (standing ledger.Standing, err error) {
			if broken && refs[0].Kind == ledger.Hold {
				return standing, errors.New("disk on fire")
			}
			standing.Agents = map[string]interlock.AgentRecord{"builder": agent}
			return standing, book.Into(c.hold.Row(), &standing)
		}, func() time.Time { return noon })
		record, err := tokens.Agent(t.Context(), token)
		if (err != nil) != c.refuses || record.ID != "builder" {
			t.Errorf("%s: %v, %q", name, err, record.ID)
		}
		if c.refuses && (code(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "phase E (emergency) since 2")) {
			t.Errorf("%s: %v", name, err)
		}
		broken = true
		if _, err := tokens.Agent(t.Context(), token); err == nil {
			t.Errorf("%s: taken although it could not be read what is stopped", name)
		}
	}
}
