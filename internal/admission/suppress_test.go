package admission_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// ordered signs an order as an operator would.
func ordered(h *house, edit ...func(*interlock.Suppression)) interlock.Suppression {
	s := interlock.Suppression{ID: "sup_1", Rule: "fs.delete-system", Agent: "claude", Reason: "cleaning up", Operator: "olga", Created: h.now,
		Expires: h.now.Add(time.Hour), Signature: "sig", Key: "fingerprint of sig"}
	for _, e := range edit {
		e(&s)
	}
	s.Statement = quorum.SuppressionStatement(s)
	return s
}

func (h *house) operator(name, role string) {
	h.t.Helper()
	if err := h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: name, Role: role, SSHKey: "key of " + name, Created: h.now}); err != nil {
		h.t.Fatal(err)
	}
}

const silenced = "rm /usr/lib/thing/old.txt"

// asked decides the command of the tests and returns whether the rule objected and whether it was suppressed.
func (h *house) asked() (objected, suppressed bool) {
	h.t.Helper()
	for _, f := range h.propose(silenced).Findings {
		if f.Rule == "fs.delete-system" {
			objected, suppressed = objected || f.Verdict != interlock.Allow, suppressed || f.Gate == "suppression"
		}
	}
	return objected, suppressed
}

func TestSuppressionFromOrderToEnd(t *testing.T) {
	h := newHouse(t)
	h.operator("olga", "operator")
	check := func(when string, wantObjected, wantSuppressed bool) {
		t.Helper()
		if objected, suppressed := h.asked(); objected != wantObjected || suppressed != wantSuppressed {
			t.Errorf("%s: objected %v, suppressed %v; want %v, %v", when, objected, suppressed, wantObjected, wantSuppressed)
		}
	}
	check("before", true, false)
	if _, err := h.Suppress(t.Context(), ordered(h)); err != nil {
		t.Fatal(err)
	}
	check("in force", false, true)
	h.now = h.now.Add(time.Hour)
	check("expired", true, false)
	again := ordered(h, func(s *interlock.Suppression) { s.ID = "sup_2" })
	if _, err := h.Suppress(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	check("ordered again", false, true)
	if _, err := h.Lift(t.Context(), "sup_2", "olga", ""); err != nil {
		t.Fatal(err)
	}
	check("lifted", true, false)
	if _, err := h.Lift(t.Context(), "sup_2", "olga", ""); err == nil {
		t.Error("it could be lifted twice")
	}
	if _, err := h.Suppress(t.Context(), ordered(h, func(s *interlock.Suppression) { s.ID = "sup_3" })); err != nil {
		t.Fatal(err)
	}
	check("a third time", false, true)
	if err := h.PutOperator(t.Context(),
		interlock.OperatorRecord{Name: "olga", Role: "operator", SSHKey: "key of olga", Created: h.now, Revoked: h.now}); err != nil {
		t.Fatal(err)
	}
	check("with the operator revoked", true, false)
	events := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventSuppression {
			events++
		}
	}
	if events != 4 {
		t.Errorf("%d events tell of suppressions, want 4", events)
	}
}

// An order in the store that was not signed by who it names does not count, and that is recorded once.
func TestForgedSuppressionDoesNotCount(t *testing.T) {
	h := newHouse(t)
	h.operator("olga", "operator")
	if _, err := h.Suppress(t.Context(), ordered(h)); err != nil {
		t.Fatal(err)
	}
	h.verify = errors.New("forged")
	for range 2 {
		if objected, suppressed := h.asked(); !objected || suppressed {
			t.Fatalf("objected %v, suppressed %v", objected, suppressed)
		}
	}
	alerts := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventAlert {
			alerts++
		}
	}
	if alerts != 1 || len(h.alerts) != 1 || !strings.HasPrefix(h.alerts[0], "suppression-invalid: ") {
		t.Errorf("%d alert events, told %v; want one of each", alerts, h.alerts)
	}
}

func TestSuppressRefuses(t *testing.T) {
	h := newHouse(t)
	h.operator("olga", "operator")
	h.operator("adam", "admin")
	for _, test := range []struct {
		name string
		edit func(*interlock.Suppression)
		want string
	}{
		{"an unknown rule", func(s *interlock.Suppression) { s.Rule = "fs.nothing" }, "no rule"},
		{"a rule of layer 1", func(s *interlock.Suppression) { s.Rule = "fs.delete-root" }, "can't be suppressed"},
		{"self-protection", func(s *interlock.Suppression) { s.Rule = "self.agent-instructions" }, "can't be suppressed"},
		{"a row that allows", func(s *interlock.Suppression) { s.Rule = "profile.guard.read" }, "no row"},
		{"a viewer", func(s *interlock.Suppression) { s.Operator = "eve" }, "no such operator"},
	} {
		if _, err := h.Suppress(t.Context(), ordered(h, test.edit)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// The owner of an agent can't silence a rule for it.
func TestOwnersDoNotSuppressForTheirAgents(t *testing.T) {
	h := newHouse(t)
	h.operator("olga", "operator")
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "olga", Trust: interlock.TrustCertified, Created: h.now}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Suppress(t.Context(), ordered(h)); err != nil {
		t.Fatal(err)
	}
	if objected, suppressed := h.asked(); !objected || suppressed {
		t.Errorf("objected %v, suppressed %v", objected, suppressed)
	}
}
