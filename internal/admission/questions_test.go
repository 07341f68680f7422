package admission_test

import (
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

// TestOneAgentAsksSoMuch: beyond the bound nobody is asked and the answer is no; the same question joins the one that waits;
// answering makes no room before the hour is over; another agent is not touched.
func TestOneAgentAsksSoMuch(t *testing.T) {
	h := newHouse(t, func(c *admission.Config) { c.MaxQuestions = 3 })
	question := func(n int, edit ...func(*admission.Case)) interlock.Answer {
		return h.propose(fmt.Sprintf("git push --force origin feature%d", n), edit...)
	}
	for n := range 3 {
		if a := question(n); a.Request == "" {
			t.Fatalf("question %d: %+v", n, a.Decisive())
		}
	}
	over := question(3)
	if over.Answer != interlock.Deny || over.Verdict != interlock.Deny || over.Request != "" || over.Decisive().Rule != "limit.questions" {
		t.Errorf("the fourth: %v, request %q, %+v", over.Answer, over.Request, over.Decisive())
	}
	if same := question(0); same.Request == "" {
		t.Error("a question that waits was not joined")
	}
	if other := question(3, from("codex", "alice", "r")); other.Request == "" {
		t.Error("another agent may not ask")
	}
	first := question(0).Request
	if err := h.approve(first, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if again := question(4); again.Request != "" {
		t.Error("an answer made room for another question")
	}
	if free := h.propose("git status"); free.Answer != interlock.Allow {
		t.Errorf("what asks nothing: %v", free.Answer)
	}
	h.now = h.now.Add(time.Hour)
	if later := question(5); later.Request == "" {
		t.Errorf("an hour later: %+v", later.Decisive())
	}
	h.entries()
}

// TestQuietHours: nobody is there, so an ask is answered no with a request that can be answered in the morning.
func TestQuietHours(t *testing.T) {
	asking := func(p *admission.Case) { p.CanAsk = true }
	quiet := false
	h := newHouse(t, func(c *admission.Config) { c.Attended, c.Quiet = true, func(time.Time) bool { return quiet } })
	if day := h.propose("git push --force origin feature", asking); day.Answer != interlock.Ask || day.Request == "" {
		t.Errorf("by day: %v, request %q", day.Answer, day.Request)
	}
	quiet = true
	night := h.propose("git push --force origin feature", asking)
	if night.Answer != interlock.Deny || night.Verdict != interlock.Ask || night.Request == "" {
		t.Errorf("by night: %v, verdict %v, request %q", night.Answer, night.Verdict, night.Request)
	}
}
