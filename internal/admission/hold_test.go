package admission_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestHold: under a ruleset that is held nothing is decided until an admin clears it, whoever asks and whatever was granted; one that
// is on another ruleset changes nothing.
func TestHold(t *testing.T) {
	spec.Covers(t, "MACE-8.3-1")
	h := newHouse(t)
	h.employ("adam", quorum.RoleAdmin)
	h.employ("olga", quorum.RoleOperator)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Trust: interlock.TrustCommunityReviewed, Created: h.now}); err != nil {
		t.Fatal(err)
	}
	if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Why: "it is not there"}); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git status"); a.Answer != interlock.Allow {
		t.Fatalf("a hold on another ruleset answers %v: %+v", a.Answer, a.Findings)
	}
	if _, err := h.Grant(t.Context(), h.grants("olga", func(g *interlock.Grant) { g.Agent, g.Principal = "claude", "alice" })); err != nil {
		t.Fatal(err)
	}
	name := ledger.HoldName(ledger.HoldRuleset, string(h.Rules().Digest()))
	held := ledger.HoldBody{Scope: ledger.HoldRuleset, Key: string(h.Rules().Digest()), Why: "its text is not there"}
	if err := h.Hold(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	before := h.entries()
	a := h.propose("git status")
	want := "INTEGRITY_FAILURE: nothing is decided under the ruleset in force until the council, or an admin where none sits, clears " +
		"the hold " + name
	if f := a.Decisive(); a.Answer != interlock.Deny || a.Verdict != interlock.Deny || f == nil || f.Rule != "hold.ruleset" ||
		f.Layer != 1 || f.Reason != want {
		t.Fatalf("%v: %+v", a.Answer, a.Findings)
	}
	if types := h.entries()[len(before):]; !slices.Equal(types, []interlock.EventType{interlock.EventBlock}) {
		t.Errorf("it leaves %v", types)
	}
	if !slices.ContainsFunc(h.alerts, func(s string) bool { return strings.Contains(s, name) }) {
		t.Errorf("nobody was told: %q", h.alerts)
	}

	begins := func() error {
		_, err := h.RegisterRun(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, interlock.RunRequest{Task: "x",
			Tools: []string{"Bash"}})
		return err
	}
	if err := begins(); codeOf(err) != interlock.CodeUnavailable || !strings.Contains(err.Error(), name) {
		t.Errorf("a job begins under what is held: %v", err)
	}

	clearing := h.about(name, "")
	refuse := func(given quorum.Given) {
		t.Helper()
		if _, err := h.CarryOut(t.Context(), given); err == nil {
			t.Error("cleared")
		}
		if a := h.propose("git status"); a.Answer != interlock.Deny {
			t.Errorf("after a refused order: %v", a.Answer)
		}
	}
	sign := func(operator string) quorum.Given {
		given := clearing(operator)
		given.Verb = interlock.VerbClearHold
		return given.Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
	}
	refuse(sign("olga"))
	unsigned := clearing("adam")
	unsigned.Verb = interlock.VerbClearHold
	refuse(unsigned)
	if _, err := h.CarryOut(t.Context(), sign("adam")); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git status"); a.Answer != interlock.Allow {
		t.Errorf("cleared, and answers %v: %+v", a.Answer, a.Findings)
	}
	if err := begins(); err != nil {
		t.Errorf("cleared, and no job begins: %v", err)
	}
	if n := h.count(interlock.EventHaltClear); n != 1 {
		t.Errorf("%d events say that it was cleared", n)
	}
}

// TestHoldOnSnapshots: nor is anything decided under a manifest of snapshots that is held.
func TestHoldOnSnapshots(t *testing.T) {
	spec.Covers(t, "MACE-8.3-1")
	h := newHouse(t, func(c *admission.Config) {
		c.Record = admission.Recorder{Governance: map[string]string{"council": "five"},
			Ruleset: func(map[string][]byte) ([]byte, error) { return []byte(`{}`), nil }}
	})
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	manifest := h.standing().Settings["manifest"]
	if manifest == "" {
		t.Fatal("no snapshots are declared")
	}
	goesOn(t, h, "nothing is held", interlock.Allow)
	if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldManifest, Key: manifest, Why: "a snapshot is missing"}); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git status"); a.Answer != interlock.Deny || a.Decisive() == nil || a.Decisive().Rule != "hold.manifest" {
		t.Errorf("under held snapshots: %v %+v", a.Answer, a.Findings)
	}
}

// TestHoldIsFoundOnce: finding the same again and again leaves one event, one hold and one message, and one finding makes so many at
// most: nobody fills the log by having things looked at.
func TestHoldIsFoundOnce(t *testing.T) {
	h := newHouse(t)
	var many []ledger.HoldBody
	for n := range 30 {
		many = append(many, ledger.HoldBody{Scope: ledger.HoldEvent, Key: strings.Repeat("a", n+1), Why: "it is another"})
	}
	for range 3 {
		if err := h.Hold(t.Context(), many...); err != nil {
			t.Fatal(err)
		}
	}
	holds, err := h.Holds(t.Context())
	if err != nil || len(holds) != 20 || h.count(interlock.EventIntegrity) != 1 || h.count(interlock.EventHalt) != 20 || len(h.alerts) != 1 {
		t.Errorf("%d holds (%v), %d failures, %d halts, %d messages", len(holds), err, h.count(interlock.EventIntegrity),
			h.count(interlock.EventHalt), len(h.alerts))
	}
	for _, hold := range holds {
		if _, found, err := h.store.Entry(t.Context(), hold.Event); !found || err != nil {
			t.Errorf("the hold %s rests on no event: %v", hold.Name(), err)
		}
	}
	if a := h.propose("git status"); a.Answer != interlock.Allow {
		t.Errorf("what one decision was made from keeps others from being made: %+v", a.Findings)
	}
}

// TestHoldWhileWatching: a door that only watches does not weigh under what is held, but leaves the decision to the log.
func TestHoldWhileWatching(t *testing.T) {
	h := newHouse(t, func(c *admission.Config) { c.Mode = interlock.Monitoring })
	p := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "git status"},
		Requester: interlock.Requester{Agent: "claude", Principal: "alice"}}
	if _, ok := h.Weigh(t.Context(), admission.Way{}, p); !ok {
		t.Fatal("nothing is held, and it is not weighed")
	}
	if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: string(h.Rules().Digest()), Why: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Weigh(t.Context(), admission.Way{}, p); ok {
		t.Error("weighed under a ruleset that is held")
	}
}
