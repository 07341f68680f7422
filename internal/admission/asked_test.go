package admission_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
)

// TestAskedIsTheAskersOwn: whoever asked sees how its request stands, as often as it likes and without a trace; nobody else sees
// that there is one.
func TestAskedIsTheAskersOwn(t *testing.T) {
	h := newHouse(t)
	first := h.propose("git push --force origin feature")
	own := interlock.Requester{Principal: "alice", Agent: "claude"}
	before := len(h.entries())
	status := func(r interlock.Requester, id string) interlock.RequestStatus {
		request, err := h.Asked(t.Context(), r, id)
		var known *interlock.Error
		if errors.As(err, &known) && known.Code == interlock.CodeNotFound {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		return request.Status
	}
	for name, r := range map[string]interlock.Requester{"another agent": {Principal: "alice", Agent: "codex"},
		"another owner": {Principal: "mallory", Agent: "claude"}} {
		if got := status(r, first.Request); got != "none" {
			t.Errorf("%s sees %s", name, got)
		}
		if err := h.Forgo(t.Context(), r, first.Request, "not mine"); err == nil {
			t.Errorf("%s withdrew it", name)
		}
	}
	if got := status(own, "apr_000000000000"); got != "none" {
		t.Errorf("one that is none: %s", got)
	}
	if got := status(own, first.Request); got != interlock.RequestPending {
		t.Errorf("its own: %s", got)
	}
	if after := len(h.entries()); after != before {
		t.Errorf("looking left %d entries", after-before)
	}
	h.now = h.now.Add(2 * time.Hour)
	if got := status(own, first.Request); got != interlock.RequestExpired {
		t.Errorf("later: %s", got)
	}
}

// TestForgoAQuestion: a question that is taken back is over, recorded as a refusal and as nobody's answer.
func TestForgoAQuestion(t *testing.T) {
	h := newHouse(t)
	own := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if err := h.Forgo(t.Context(), own, first.Request, "the user said no: ghp_abcdefghijklmnopqrstuvwxyz0123456789"); err != nil {
		t.Fatal(err)
	}
	request, err := h.Asked(t.Context(), own, first.Request)
	want := &interlock.Approval{Request: first.Request, Verdict: interlock.Deny, Method: interlock.MethodRequester,
		Reason: "the user said no: [redacted]", At: h.now}
	if diff := cmp.Diff(want, request.Approval); err != nil || diff != "" || request.Status != interlock.RequestDenied {
		t.Errorf("%s %v (-want +got):\n%s", request.Status, err, diff)
	}
	if err := h.Forgo(t.Context(), own, first.Request, "again"); err == nil {
		t.Error("it was withdrawn twice")
	}
	if err := h.approve(first.Request, interlock.Allow); err == nil {
		t.Error("it was approved nevertheless")
	}
	second := h.propose(risky)
	if second.Request == first.Request || second.Request == "" {
		t.Errorf("asked again: %q", second.Request)
	}
	if err := h.approve(second.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if passed := h.propose(risky); passed.Answer != interlock.Allow {
		t.Errorf("the approved action: %v", passed.Answer)
	}
	types := h.entries()
	if types[1] != interlock.EventRefusal {
		t.Errorf("recorded as %s", types[1])
	}
}

// TestForgo: an approval that was not used goes with what it was for, once and only for the side that asked; one that was used stays.
func TestForgo(t *testing.T) {
	h := newHouse(t)
	own := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if err := h.Forgo(t.Context(), interlock.Requester{Principal: "alice", Agent: "codex"}, first.Request, "not mine"); err == nil {
		t.Error("another agent took it back")
	}
	if err := h.Forgo(t.Context(), own, first.Request, "the client cancelled"); err != nil {
		t.Fatal(err)
	}
	request, err := h.Asked(t.Context(), own, first.Request)
	if err != nil || request.Status != interlock.RequestExpired || request.Approval == nil || request.Approval.Verdict != interlock.Allow {
		t.Errorf("%+v %v", request, err)
	}
	if err := h.Forgo(t.Context(), own, first.Request, "again"); err == nil {
		t.Error("it was taken back twice")
	}
	second := h.propose(risky)
	if second.Answer == interlock.Allow || second.Request == "" || second.Request == first.Request {
		t.Fatalf("the approval still counts: %v %s", second.Answer, second.Request)
	}
	if err := h.approve(second.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if passed := h.propose(risky); passed.Answer != interlock.Allow {
		t.Errorf("the approved action: %v", passed.Answer)
	}
	if err := h.Forgo(t.Context(), own, second.Request, "too late"); err == nil {
		t.Error("a used approval was taken back")
	}
	if types := h.entries(); types[3] != interlock.EventRefusal {
		t.Errorf("recorded as %v", types)
	}
}
