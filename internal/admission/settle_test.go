package admission_test

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

// hooked has a hook ask about a command in a call of its own.
func (h *house) hooked(command, call string, edit ...func(*admission.Case)) interlock.Answer {
	h.t.Helper()
	return h.propose(command, append([]func(*admission.Case){event("PreToolUse", call), func(p *admission.Case) {
		p.Door, p.CanAsk = "hook", true
	}}, edit...)...)
}

func (h *house) requestNow(id string) interlock.ApprovalRequest {
	h.t.Helper()
	r, found, err := h.Request(h.t.Context(), id)
	if err != nil || !found {
		h.t.Fatalf("request %q: found %v, %v", id, found, err)
	}
	return r
}

func (h *house) waiting() int {
	h.t.Helper()
	n, err := h.Pending(h.t.Context(), 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func who(call string) interlock.Requester {
	return interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1", Call: call}
}

const question = "scp out.txt backup.example.com:/data/"

func TestAnOutcomeSettlesWhatAHarnessAsked(t *testing.T) {
	for status, how := range map[interlock.OutcomeStatus]interlock.SettledBy{interlock.OutcomeSuccess: interlock.SettledRan,
		interlock.OutcomeFailure: interlock.SettledFailed, interlock.OutcomeSkipped: interlock.SettledNotRun} {
		h := newHouse(t)
		answer := h.hooked(question, "call-1")
		if answer.Answer != interlock.Ask || answer.Request == "" {
			t.Fatalf("answer %v, request %q: %+v", answer.Answer, answer.Request, answer.Findings)
		}
		if r := h.requestNow(answer.Request); !r.Harness || r.State() != "asked in the harness" || h.waiting() != 0 {
			t.Errorf("a harness asks: %+v, and %d wait for an operator", r, h.waiting())
		}
		if err := h.Report(t.Context(), who("call-1"), interlock.Outcome{Action: answer.Action, Status: status}); err != nil {
			t.Fatal(err)
		}
		r := h.requestNow(answer.Request)
		if r.Status != interlock.RequestSettled || r.Settled == nil || r.Settled.How != how {
			t.Errorf("after %s: %s, %+v", status, r.Status, r.Settled)
		}
		types := h.entries()
		if last := types[len(types)-1]; last != interlock.EventSettled {
			t.Errorf("the log ends with %s", last)
		}
		if live, err := h.Requests(t.Context(), 0); err != nil || len(live.Rows) != 0 {
			t.Errorf("%d requests live on, %v", len(live.Rows), err)
		}
	}
}

func TestTheNextCallOfARunSettlesWhatItsHarnessAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		next func(h *house)
		over bool
	}{
		"another call":           {func(h *house) { h.hooked("git status", "call-2") }, true},
		"its user speaks":        {func(h *house) { _ = h.HearPrompt(t.Context(), who(""), "do something else") }, true},
		"another run":            {func(h *house) { h.hooked("git status", "call-2", inRun("run-2")) }, false},
		"another agent":          {func(h *house) { h.hooked("git status", "call-2", as("codex")) }, false},
		"another part of it":     {func(h *house) { h.hooked("git status", "call-1") }, false},
		"the same question":      {func(h *house) { h.hooked(question, "call-2") }, false},
		"no ids, at once":        {func(h *house) { h.hooked("git status", "") }, false},
		"no ids, a little later": {func(h *house) { h.now = h.now.Add(5 * time.Second); h.hooked("git status", "") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			answer := h.hooked(question, "call-1")
			tc.next(h)
			r := h.requestNow(answer.Request)
			if over := r.Status == interlock.RequestSettled; over != tc.over || over && r.Settled.How != interlock.SettledWentOn {
				t.Errorf("it is %s, %+v", r.Status, r.Settled)
			}
		})
	}
}

func inRun(run string) func(*admission.Case) {
	return func(p *admission.Case) { p.Requester.Run = run }
}
func as(agent string) func(*admission.Case) {
	return func(p *admission.Case) { p.Requester.Agent = agent }
}

// TestWhatBecameOfACallIsToldAfterItsRunWentOn: calls run side by side, and the user answers one of them late.
func TestWhatBecameOfACallIsToldAfterItsRunWentOn(t *testing.T) {
	h := newHouse(t)
	answer := h.hooked(question, "call-1")
	h.hooked("git status", "call-2")
	for range 2 { // told twice, it is settled once
		if err := h.Report(t.Context(), who("call-1"),
			interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.requestNow(answer.Request); r.Settled == nil || r.Settled.How != interlock.SettledRan {
		t.Errorf("it is %s, %+v", r.Status, r.Settled)
	}
	settled := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventSettled {
			settled++
		}
	}
	if settled != 2 {
		t.Errorf("%d events say so", settled)
	}
}

// TestWhatWaitsForAnOperatorIsNotSettled: an agent goes on with other things while nobody has answered, and reports what it likes.
func TestWhatWaitsForAnOperatorIsNotSettled(t *testing.T) {
	h := newHouse(t)
	answer := h.propose(question, event("PreToolUse", "call-1"), func(p *admission.Case) { p.Door = "hook" }) // with nobody to ask
	h.hooked("git status", "call-2")
	if err := h.Report(t.Context(), who("call-1"),
		interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeSkipped}); err != nil {
		t.Fatal(err)
	}
	if r := h.requestNow(answer.Request); r.Status != interlock.RequestPending || r.Harness || h.waiting() != 1 {
		t.Errorf("it is %s, and %d wait", r.State(), h.waiting())
	}
}

// TestAnApprovalIsUsedUpByTheCallItWasFor: the user answered in the harness what an operator had answered too; a second such call
// is asked about again.
func TestAnApprovalIsUsedUpByTheCallItWasFor(t *testing.T) {
	h := newHouse(t)
	answer := h.hooked(question, "call-1")
	if err := h.approve(answer.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if err := h.Report(t.Context(), who("call-1"),
		interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeSuccess}); err != nil {
		t.Fatal(err)
	}
	if r := h.requestNow(answer.Request); r.Status != interlock.RequestSpent {
		t.Errorf("it is %s", r.State())
	}
	if again := h.hooked(question, "call-2"); again.Answer != interlock.Ask {
		t.Errorf("a second such call: %v", again.Answer)
	}
}

// TestSettlingRacesWithTheNextCall: whatever comes first, the log is sound and says what became of the call.
func TestSettlingRacesWithTheNextCall(t *testing.T) {
	for range 20 {
		h := newHouse(t)
		answer := h.hooked(question, "call-1")
		done := make(chan error, 2)
		go func() {
			done <- h.Report(t.Context(), who("call-1"), interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeSuccess})
		}()
		go func() { h.hooked("git status", "call-2"); done <- nil }()
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if r := h.requestNow(answer.Request); r.Settled == nil || r.Settled.How != interlock.SettledRan {
			t.Fatalf("it is %s, %+v", r.State(), r.Settled)
		}
		h.entries()
	}
}
