package admission_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"interlock/internal/admission"

	"interlock"
	"interlock/internal/ledger"
)

// asHTTP makes a proposal one that an agent sends over HTTP: with a call's id and run, and by no event of a harness.
func asHTTP(p *admission.Case) {
	p.Event, p.Requester.Call, p.Requester.Run = "", "call-9", "run-9"
}

// TestOneApprovalIsOneAllow: the same call sent again, under its id or under another, is asked about again.
func TestOneApprovalIsOneAllow(t *testing.T) {
	h := newHouse(t)
	const risky = "git push --force origin feature"
	first := h.propose(risky, asHTTP)
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if passed := h.propose(risky, asHTTP); passed.Answer != interlock.Allow || passed.Approval != first.Request {
		t.Fatalf("the approved action got %v with approval %q", passed.Answer, passed.Approval)
	}
	for try := range 3 {
		again := h.propose(risky, asHTTP)
		if again.Answer != interlock.Deny || again.Verdict != interlock.Ask || again.Request == first.Request {
			t.Errorf("try %d of a call that was spent: %v, request %q", try, again.Answer, again.Request)
		}
	}
	if other := h.propose(risky, asHTTP, event("PermissionRequest", "call-9")); other.Answer == interlock.Allow {
		t.Error("the event of a harness heard a yes that was given over HTTP")
	}
}

// TestAHarnessHearsAYesTwice: by the two events in which it shows one call, and by no third.
func TestAHarnessHearsAYesTwice(t *testing.T) {
	h := newHouse(t)
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	for n, want := range []interlock.Verdict{interlock.Allow, interlock.Allow, interlock.Deny, interlock.Deny} {
		if got := h.propose(risky, event("Event"+strconv.Itoa(n), "call-9")); got.Answer != want {
			t.Errorf("event %d heard %v, want %v", n, got.Answer, want)
		}
	}
}

// TestARaceForOneApproval: of 200 that spend it at once one gets it.
func TestARaceForOneApproval(t *testing.T) {
	for name, edit := range map[string]func(n int) func(*admission.Case){
		"the same call over HTTP": func(int) func(*admission.Case) { return asHTTP },
		"many calls":              func(n int) func(*admission.Case) { return event("PreToolUse", "call-"+strconv.Itoa(n)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			const risky = "git push --force origin feature"
			first := h.propose(risky, edit(0))
			if err := h.approve(first.Request, interlock.Allow); err != nil {
				t.Fatal(err)
			}
			var allowed atomic.Int32
			var all sync.WaitGroup
			for n := range 200 {
				all.Go(func() {
					if h.propose(risky, edit(n+1)).Answer == interlock.Allow {
						allowed.Add(1)
					}
				})
			}
			all.Wait()
			if n := allowed.Load(); n != 1 {
				t.Errorf("%d of 200 were allowed by one approval", n)
			}
		})
	}
}

// TestAnOlderCallIsNotHeardAgain: where the row of a call is put back to what it was before its harness showed it a second time, which
// a row's own proof can't tell, the yes is not heard once more.
func TestAnOlderCallIsNotHeardAgain(t *testing.T) {
	h := newHouse(t)
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	passed := h.propose(risky, event("Event0", "call-9"))
	for n, want := range []interlock.Verdict{interlock.Allow, interlock.Deny} {
		if got := h.propose(risky, event("Event1", "call-9")); got.Answer != want {
			t.Errorf("time %d it heard %v, want %v", n, got.Answer, want)
		}
		err := h.store.Note(t.Context(), ledger.Ref{Kind: ledger.Call, Key: passed.Event}, func(value any) (any, error) {
			call := value.(ledger.CallBody)
			call.Events = call.Events[:1]
			return call, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
