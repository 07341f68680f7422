package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// A door that concludes its own attempts costs the store one event for the decision and one for the outcome, and a row only where
// the next attempt has to know of it.
func TestConclude(t *testing.T) {
	h := newHouse(t)
	unseen := func(call string) func(*admission.Case) {
		return func(p *admission.Case) { p.Requester.Call, p.Unseen = call, true }
	}
	requester := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	statuses := []interlock.OutcomeStatus{interlock.OutcomeSuccess, interlock.OutcomeSkipped, interlock.OutcomeFailure, interlock.OutcomeUnknown}
	for i, status := range statuses {
		requester.Call = string(status)
		a := h.propose("git status", unseen(requester.Call))
		if a.Answer != interlock.Allow || a.Repeated {
			t.Fatalf("attempt %d: %+v", i, a)
		}
		h.Ended(requester, a.Decision, status)
		if err := h.Conclude(t.Context(),
			admission.Concluded{Requester: requester, Answer: a, Outcome: interlock.Outcome{Action: a.Action, Status: status}}); err != nil {
			t.Fatal(err)
		}
		if rows := failedRows(t, h); i < 2 && len(rows) > 0 || admission.Endings(h.Admission) > 0 {
			t.Errorf("after %s: %v, and %d endings are still to be recorded", status, rows, admission.Endings(h.Admission))
		}
	}
	if diff := cmp.Diff([]interlock.EventType{interlock.EventDecision, interlock.EventOutcome, interlock.EventDecision, interlock.EventOutcome,
		interlock.EventDecision, interlock.EventOutcome, interlock.EventDecision, interlock.EventOutcome}, h.entries()); diff != "" {
		t.Error(diff)
	}
	want := []interlock.Failures{{Last: h.now, Outcome: interlock.OutcomeUnknown, Count: 2}}
	if diff := cmp.Diff(want, failedRows(t, h)); diff != "" {
		t.Error(diff)
	}
	// What was carried out although it was refused, or never decided, is an alert.
	refused := h.propose("rm -rf /", unseen("c"))
	for _, a := range []interlock.Answer{refused, {}} {
		if err := h.Conclude(t.Context(),
			admission.Concluded{Requester: requester, Answer: a, Outcome: interlock.Outcome{Status: interlock.OutcomeSuccess}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.alerts) != 2 {
		t.Errorf("alerts: %v", h.alerts)
	}
	if types := h.entries(); types[len(types)-1] != interlock.EventAlert || types[len(types)-2] != interlock.EventAlert {
		t.Errorf("events: %v", types)
	}
}

// failedRows is what the store knows of how alice's claude failed.
func failedRows(t *testing.T, h *house) (list []interlock.Failures) {
	t.Helper()
	rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Failed, Key: ledger.FailedKey("alice", "claude")})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, one := range row.Value.(ledger.FailedBody).Actions {
			list = append(list, one.Failures)
		}
	}
	return list
}

// Weigh answers only where nothing is enforced, for what nothing objects to, and leaves nothing in the log.
func TestWeigh(t *testing.T) {
	for _, mode := range []interlock.Mode{interlock.Enforcing, interlock.Monitoring, interlock.Logging, interlock.Disabled} {
		h := newHouse(t, func(c *admission.Config) { c.Mode = mode })
		for command, harmless := range map[string]bool{"git status": true, "rm -rf /": mode == interlock.Logging || mode == interlock.Disabled,
			"git push --force": mode == interlock.Logging || mode == interlock.Disabled, "curl -o x.sh https://example.com/x.sh": false} {
			p := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"},
				Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"},
				View:      interlock.View{Workspace: "/repo", Home: "/home/alice"}}
			a, ok := h.Weigh(t.Context(), admission.Way{}, p)
			want := harmless && mode != interlock.Enforcing
			if command == "curl -o x.sh https://example.com/x.sh" && mode != interlock.Monitoring {
				continue // whether it is looked back on is for a mode that evaluates
			}
			if ok != want || ok && (a.Answer != interlock.Allow || a.Event != "") {
				t.Errorf("%v %s: %v %+v", mode, command, ok, a)
			}
		}
		if types := h.entries(); len(types) != 0 {
			t.Errorf("%v: the log has %v", mode, types)
		}
	}
}
