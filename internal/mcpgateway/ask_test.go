package mcpgateway_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestHeldUntilApproved: a call that is asked about waits, and passes once somebody has said yes, in this process or another.
func TestHeldUntilApproved(t *testing.T) {
	h := newHouse(t)
	gateway, console := h.process(), h.process()
	asker := h.asker(gateway, patient)
	first := decided(t.Context(), asker, question("1"))
	h.answer(gateway, h.waiting(gateway), interlock.Allow)
	settled := <-first
	if !settled.Forward || settled.Answer.Event == "" || settled.Answer.Approval == "" {
		t.Fatalf("approved here: %+v", settled)
	}
	second := decided(t.Context(), asker, question("2"))
	h.answer(console, h.waiting(console), interlock.Allow)
	if settled := <-second; !settled.Forward || settled.Answer.Event == "" || settled.Answer.Approval == "" {
		t.Fatalf("approved in another process: %+v", settled)
	}
}

// TestPendingHandle: whoever nobody answers gets a handle; the identical call passes once when approved, changed arguments
// never do, and none of it is lost with the processes.
func TestPendingHandle(t *testing.T) {
	h := newHouse(t)
	one := h.process()
	asker := h.asker(one)
	settled := asker.Decide(t.Context(), question("1"))
	got := structured(t, settled)
	want := mcpgateway.Refused{Status: "pending_approval", Code: mcpgateway.ReasonPending, Request: h.waiting(one), Expires: "2026-11-20T13:00:00Z",
		URL: "https://console.example/pending/" + got.Request, Retry: "send the identical call again once the request is approved; it passes once"}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(mcpgateway.Refused{}, "Reason")); diff != "" || got.Reason == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := structured(t, asker.Decide(t.Context(), question("2"))); again.Request != got.Request {
		t.Errorf("the same question was asked twice: %s and %s", got.Request, again.Request)
	}
	asker.Close()
	one.Close()

	two := h.process()
	h.answer(two, got.Request, interlock.Allow)
	two.Close()

	three := h.process()
	asker = h.asker(three)
	other := question("3", func(q *mcpgateway.Question) {
		q.Proposal.Action.Arguments = []byte(`{"attachment":"/etc/shadow","to":"all@example.org"}`)
	})
	if changed := structured(t, asker.Decide(t.Context(), other)); changed.Request == got.Request {
		t.Error("changed arguments are the same question")
	}
	stranger := question("4", func(q *mcpgateway.Question) { q.Proposal.Requester.Agent = "codex" })
	if changed := structured(t, asker.Decide(t.Context(), stranger)); changed.Request == got.Request {
		t.Error("another agent's call is the same question")
	}
	if passed := asker.Decide(t.Context(), question("5")); !passed.Forward || passed.Answer.Approval != got.Request {
		t.Fatalf("the approved call: %s %+v", passed.Result, passed.Answer.Findings)
	}
	if again := structured(t, asker.Decide(t.Context(), question("6"))); again.Status != "pending_approval" || again.Request == got.Request {
		t.Errorf("one approval let two calls pass: %+v", again)
	}
}

// TestSaidNo: a no reaches whoever waits and whoever comes back, and nobody is asked again for the same call in between.
func TestSaidNo(t *testing.T) {
	h := newHouse(t)
	a := h.process()
	held := decided(t.Context(), h.asker(a, patient), question("1"))
	id := h.waiting(a)
	h.answer(a, id, interlock.Deny)
	settled := <-held
	want := mcpgateway.Refused{Status: "denied", Code: mcpgateway.ReasonDenied, Reason: "a human was asked and said no", Event: settled.Answer.Event, Request: id}
	if diff := cmp.Diff(want, structured(t, settled)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNobodyInTime: a request whose time passes while a call is held is refused, and so is what never was a question.
func TestNobodyInTime(t *testing.T) {
	h := newHouse(t)
	a := h.process()
	held := decided(t.Context(), h.asker(a, patient), question("1"))
	h.waiting(a)
	h.later(2 * time.Hour)
	if got := structured(t, <-held); got.Code != mcpgateway.ReasonExpired || got.Status != "denied" {
		t.Errorf("got %+v", got)
	}
	resource := question("2", func(q *mcpgateway.Question) { q.Method = "resources/read" })
	settled := h.asker(a).Decide(t.Context(), resource)
	if settled.Result != nil || settled.Error == nil || settled.Error.Code != -32010 {
		t.Errorf("another method's pending answer: %s %+v", settled.Result, settled.Error)
	}
	deadly := question("3", func(q *mcpgateway.Question) {
		q.Proposal.Action = interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /"}
	})
	if got := structured(t, h.asker(a, patient).Decide(t.Context(), deadly)); got.Code == mcpgateway.ReasonPending || got.Request != "" || got.Event == "" {
		t.Errorf("what nobody may approve: %+v", got)
	}
}
