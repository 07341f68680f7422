package admission_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// decided has the store remember a call as it was decided, and returns the event.
func decided(t *testing.T, h *house, run, id string, action interlock.Digest, at time.Time, outcome interlock.OutcomeStatus) string {
	t.Helper()
	r, err := h.store.Commit(t.Context(), ledger.Change{
		Events: []ledger.Draft{{Type: interlock.EventDecision, Run: run, Seed: "seed", Actor: "agent", Role: "agent", Recorded: at,
			Payload: json.RawMessage(`{}`)}},
		Writes: ledger.Rows(ledger.CallBody{Requester: interlock.Requester{Principal: "p", Agent: "agent", Run: run, Call: id},
			Action: action, Events: []string{"PreToolUse"}, At: at, Outcome: outcome}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Events[0]
}

// TestFindCall: one id stands for one action; without an id the newest call for the same action is found that has no outcome and is
// not ten minutes old; never another agent's or run's.
func TestFindCall(t *testing.T) {
	h := newHouse(t)
	of := func(run, id string) interlock.Requester {
		return interlock.Requester{Agent: "agent", Run: run, Call: id}
	}
	check := func(name string, r interlock.Requester, action interlock.Digest, want string) {
		t.Helper()
		call, found, err := admission.FindCall(h.Admission, r, action)
		if err != nil || found != (want != "") || call.EventID != want {
			t.Errorf("%s: %q, %v, %v; want %q", name, call.EventID, found, err, want)
		}
	}
	check("nothing there", of("run", ""), "sha256:aa", "")
	decided(t, h, "run", "", "sha256:old", h.now.Add(-10*time.Minute), "")
	young := decided(t, h, "run", "", "sha256:young", h.now.Add(-10*time.Minute+1), "")
	first := decided(t, h, "run", "", "sha256:aa", h.now.Add(-time.Minute), "")
	check("without an id", of("run", ""), "sha256:aa", first)
	second := decided(t, h, "run", "", "sha256:aa", h.now, "")
	check("the newest", of("run", ""), "sha256:aa", second)
	check("recorded without an id, asked with one", of("run", "c9"), "sha256:aa", second)
	check("after ten minutes", of("run", ""), "sha256:old", "")
	check("before ten minutes", of("run", ""), "sha256:young", young)
	check("another action", of("run", ""), "sha256:bb", "")
	check("another run", of("other", ""), "sha256:aa", "")
	check("another agent", interlock.Requester{Agent: "other", Run: "run"}, "sha256:aa", "")
	check("no action", of("run", ""), "", "")

	named := decided(t, h, "ids", "c1", "sha256:aa", h.now.Add(-time.Hour), interlock.OutcomeSuccess)
	decided(t, h, "ids", "c2", "sha256:aa", h.now, "")
	for _, action := range []interlock.Digest{"", "sha256:aa"} {
		check(fmt.Sprintf("its id and the action %q", action), of("ids", "c1"), action, named)
	}
	check("one id for two actions", of("ids", "c1"), "sha256:evil", "")
	check("another id", of("ids", "c3"), "sha256:aa", "")
	check("its id in another run", of("other", "c1"), "sha256:aa", "")

	want := decided(t, h, "many", "", "sha256:aa", h.now, "")
	for range 40 { // which have ended
		decided(t, h, "many", "", "sha256:aa", h.now, interlock.OutcomeSuccess)
	}
	check("behind many that have ended", of("many", ""), "sha256:aa", want)

	if err := admission.SeeCall(h.Admission, want, "Later"); err != nil {
		t.Fatal(err)
	}
	if err := admission.SeeCall(h.Admission, want, "Later"); err == nil {
		t.Error("of two that come at once by one event, both were that event")
	}
	if call, _, err := admission.FindCall(h.Admission, of("many", ""), "sha256:aa"); err != nil || len(call.Events) != 2 {
		t.Errorf("it was seen by %v, %v", call.Events, err)
	}
	if err := admission.SeeCall(h.Admission, "an event that decided nothing", "Later"); err == nil {
		t.Error("a call that nobody decided was seen")
	}
}
