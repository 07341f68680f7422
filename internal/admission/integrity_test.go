package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/spec"
)

// newest is the newest event of a type that need not be signed.
func (h *house) newest(kind interlock.EventType) auditlog.Event {
	h.t.Helper()
	entries, err := h.store.Entries(h.t.Context(), kind, ledger.Before(-1, 1))
	if err != nil || len(entries) != 1 {
		h.t.Fatalf("%d events of type %s, %v", len(entries), kind, err)
	}
	event, err := auditlog.ParseEvent(entries[0].Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return event
}

// signed is the newest event of a type, with its own signature checked.
func (h *house) signed(kind interlock.EventType) auditlog.Event {
	h.t.Helper()
	entries, err := h.store.Entries(h.t.Context(), kind, ledger.Before(-1, 1))
	if err != nil || len(entries) != 1 {
		h.t.Fatalf("%d events of type %s, %v", len(entries), kind, err)
	}
	event, err := h.key.SignedEvent(entries[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return event
}

// TestIntegrityChecked: a check that finds nothing leaves its summary alone; one that finds something leaves the failure and an alarm in
// the same commit, each with its seed, snapshots and signature (MACE 10).
func TestIntegrityChecked(t *testing.T) {
	spec.Covers(t, "MACE-10-3", "MACE-12-7")
	h := newHouse(t)
	before := len(h.entries())
	if err := h.IntegrityChecked(t.Context(), auditlog.IntegritySummary{Day: "2026-11-20", To: 3, Events: 3}); err != nil {
		t.Fatal(err)
	}
	if left := h.entries()[before:]; !slices.Equal(left, []interlock.EventType{interlock.EventIntegritySummary}) || len(h.alerts) != 0 {
		t.Errorf("a sound log leaves %v and tells %q", left, h.alerts)
	}
	before = len(h.entries())
	found := auditlog.IntegritySummary{Day: "2026-11-21", From: 3, To: 7, Failures: []string{"entry 4: it was changed"}}
	if err := h.IntegrityChecked(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	want := []interlock.EventType{interlock.EventIntegritySummary, interlock.EventIntegrity, interlock.EventAlert}
	if left := h.entries()[before:]; !slices.Equal(left, want) {
		t.Errorf("a changed log leaves %v", left)
	}
	if len(h.alerts) != 1 || !strings.Contains(h.alerts[0], "entry 4: it was changed") {
		t.Errorf("people are told %q", h.alerts)
	}
	for _, kind := range want {
		if e := h.signed(kind); e.Seed == "" || e.Snapshots["ruleset"] == "" || e.Signature == "" || !e.Sound() {
			t.Errorf("%s lacks its context: %+v", kind, e)
		}
	}
}

// TestSafetyEventsCarryTheirContext: what was refused, and the alarm that came of it, name the seed of the agent's run, the snapshots they
// were decided under and the call, and are signed by themselves.
func TestSafetyEventsCarryTheirContext(t *testing.T) {
	spec.Covers(t, "MACE-1-3", "MACE-10-2")
	h := newHouse(t, asa)
	from := interlock.Requester{Principal: "ada", Agent: "claude", Run: "run-1"}
	for n := range 3 {
		from.Call = fmt.Sprint("call-", n) // users are told of what is denied again and again
		if a := h.propose("rm -rf build", func(p *admission.Case) { p.Requester = from }); a.Answer == interlock.Allow {
			t.Fatal("allowed")
		}
	}
	blocked, alarm := h.signed(interlock.EventBlock), h.signed(interlock.EventAlert)
	for _, e := range []auditlog.Event{blocked, alarm} {
		if e.Seed == "" || e.Seed != blocked.Seed || e.Snapshots["ruleset"] != string(h.Rules().Digest()) || e.Trace != "call-2" ||
			e.Signature == "" || e.ID != auditlog.EventID(e.Seed, e.Sequence, e.Type) {
			t.Errorf("%s lacks its context: %+v", e.Type, e)
		}
	}
}

// TestNobodyChoosesASeed: the seed of a run is drawn, one for each run, and the same name of a run elsewhere has another (MACE-ID-4).
func TestNobodyChoosesASeed(t *testing.T) {
	spec.Covers(t, "MACE-ID-4")
	seeds := map[string]bool{}
	for range 2 {
		h := newHouse(t)
		for _, agent := range []string{"one", "two"} {
			seed := ""
			for _, command := range []string{"git status", "git diff"} {
				h.propose(command, func(p *admission.Case) {
					p.Requester = interlock.Requester{Principal: "ada", Agent: agent, Run: "run-1"}
				})
				e := h.newest(interlock.EventDecision)
				if seed != "" && e.Seed != seed {
					t.Errorf("one run has the seeds %s and %s", seed, e.Seed)
				}
				seed = e.Seed
			}
			if seeds[seed] || len(seed) < 16 || strings.Contains(seed, "run-1") {
				t.Errorf("the seed %q of %s is another run's, short, or the caller's", seed, agent)
			}
			seeds[seed] = true
		}
	}
}
