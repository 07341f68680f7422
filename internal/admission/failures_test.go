package admission_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/spec"
)

// carried is a call that a gateway would carry out.
func carried(tool, arguments string) admission.Case {
	return admission.Case{Proposal: interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindTool, Tool: "files." + tool, Arguments: json.RawMessage(arguments)},
		Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}, Door: "gateway"},
		Way: admission.Way{Upstream: &interlock.Upstream{Server: "files", Identity: "sha256:aa"}}}
}

// pinned approves the server of carried.
func pinned(t *testing.T, h *house) {
	t.Helper()
	draft := ledger.Draft{Type: interlock.EventPin, Run: "gateway", Seed: "seed", Actor: "gateway", Role: "system",
		Recorded: h.now, Payload: json.RawMessage(`{}`)}
	if _, err := h.store.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{draft},
		Writes: ledger.Rows(interlock.Pin{Server: "files", Status: interlock.PinApproved, Identity: "sha256:aa", Since: h.now})}); err != nil {
		t.Fatal(err)
	}
}

// attempt proposes and, if it is let through, ends with the status.
func (h *house) attempt(p admission.Case, status interlock.OutcomeStatus) interlock.Answer {
	h.t.Helper()
	p.Requester.Call = rand.Text() // a gateway names each attempt anew
	answer := h.ProposeBy(h.t.Context(), p.Way, p.Proposal)
	if answer.Answer.Allowed() {
		h.Ended(p.Requester, answer.Decision, status)
		if err := h.Report(h.t.Context(), p.Requester, interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: status}); err != nil {
			h.t.Fatal(err)
		}
	}
	return answer
}

func ruleOf(a interlock.Answer) string {
	if f := a.Decisive(); f != nil && a.Answer == interlock.Deny {
		return f.Rule
	}
	return a.Answer.String()
}

// TestFailuresCoolDown: what failed is not tried again at once: a read for 10 seconds, a write for a minute, what nobody knows
// the end of in any case; other arguments, other agents and other doors are not touched, and a change makes it another attempt.
func TestFailuresCoolDown(t *testing.T) {
	spec.Covers(t, "EC-ENV-13")
	h := newHouse(t)
	pinned(t, h)
	read, write := carried("get_row", `{"id":"7"}`), carried("update_row", `{"id":"7"}`)
	const ok, failure, unknown = interlock.OutcomeSuccess, interlock.OutcomeFailure, interlock.OutcomeUnknown
	run := func(name string, p admission.Case, status interlock.OutcomeStatus, want string) interlock.Answer {
		t.Helper()
		answer := h.attempt(p, status)
		if got := ruleOf(answer); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		return answer
	}
	run("a read that fails", read, failure, "allow")
	refused := run("the same again", read, ok, "cooldown.failed")
	want := []interlock.Obligation{{Type: interlock.ObligationCooldown, Note: "10s"}}
	if diff := cmp.Diff(want, refused.Obligations); diff != "" || refused.Event == "" {
		t.Errorf("how long (-want +got), event %q:\n%s", refused.Event, diff)
	}
	run("another row", carried("get_row", `{"id":"8"}`), ok, "allow")
	codex := read
	codex.Requester.Agent = "codex"
	run("another agent", codex, ok, "allow")
	hook := read
	hook.Upstream = nil
	run("through another door", hook, ok, "allow")
	h.now = h.now.Add(10 * time.Second)
	run("ten seconds later", read, ok, "allow")
	run("it went well", read, ok, "allow")

	run("a write that fails", write, failure, "allow")
	h.now = h.now.Add(30 * time.Second)
	run("half a minute later", write, ok, "cooldown.failed")
	other := carried("insert_row", `{"id":"7"}`)
	run("something is changed", other, ok, "allow")
	run("so this is another attempt", write, unknown, "allow")
	run("something is changed again", other, ok, "allow")
	run("nobody knows how it ended", write, ok, "cooldown.unknown")
	claimed := write
	claimed.Failed = &interlock.Failures{}
	run("what a door says of it", claimed, ok, "cooldown.unknown")
	h.Admission = again(t, h)
	run("after a restart", write, ok, "cooldown.unknown")
	h.now = h.now.Add(time.Minute)
	run("a minute later", write, ok, "allow")
	h.entries()
}

// TestRetryBudget: after four failures in one run it is enough for a while, whatever the pauses; another run has its own.
func TestRetryBudget(t *testing.T) {
	spec.Covers(t, "EC-1.10", "EC-ENV-13")
	h := newHouse(t)
	pinned(t, h)
	read := carried("get_row", `{"id":"7"}`)
	for n := range 4 {
		if got := ruleOf(h.attempt(read, interlock.OutcomeFailure)); got != "allow" {
			t.Fatalf("attempt %d: %s", n+1, got)
		}
		h.now = h.now.Add(15 * time.Second)
	}
	if got := ruleOf(h.attempt(read, interlock.OutcomeFailure)); got != "cooldown.budget" {
		t.Errorf("the fifth: %s", got)
	}
	elsewhere := read
	elsewhere.Requester.Run = "run-2"
	if got := ruleOf(h.attempt(elsewhere, interlock.OutcomeSuccess)); got != "allow" {
		t.Errorf("another run: %s", got)
	}
}

// TestFailuresAreBounded: many different failures make the oldest be forgotten and nothing else, on their way and in the store.
func TestFailuresAreBounded(t *testing.T) {
	h := newHouse(t)
	pinned(t, h)
	var known ledger.FailedBody
	for n := range 10_000 {
		d := interlock.Decision{Action: interlock.Digest(fmt.Sprint(n))}
		h.Ended(interlock.Requester{Agent: "claude"}, d, interlock.OutcomeFailure)
		known, _ = known.With(ledger.Ending{Agent: "claude", Action: d.Action, Status: interlock.OutcomeFailure, At: h.now})
	}
	if n := len(known.Actions); n != 256 || known.Actions[n-1].Action != "9999" {
		t.Errorf("%d are kept, the last of them %s", n, known.Actions[n-1].Action)
	}
	read := carried("get_row", `{"id":"7"}`)
	h.attempt(read, interlock.OutcomeFailure)
	if got := ruleOf(h.attempt(read, interlock.OutcomeFailure)); got != "cooldown.failed" {
		t.Errorf("the newest: %s", got)
	}
	if under := admission.Endings(h.Admission); under > 4096 {
		t.Errorf("%d are under way", under)
	}
}

// TestFailuresAreShared: what one process saw fail is cooled down in every other, and what went well there is over here; what an
// agent was told and is not recorded yet counts at once, and once.
func TestFailuresAreShared(t *testing.T) {
	h := newHouse(t)
	pinned(t, h)
	other := &house{t: t, Admission: again(t, h), store: h.store}
	read, write := carried("get_row", `{"id":"7"}`), carried("update_row", `{"id":"8"}`)
	ended := func(on *house, p admission.Case, status interlock.OutcomeStatus, want string) {
		t.Helper()
		if got := ruleOf(on.attempt(p, status)); got != want {
			t.Errorf("%s that ends with %s: %s, want %s", p.Action.Tool, status, got, want)
		}
	}
	ended(h, read, interlock.OutcomeFailure, "allow")
	ended(other, read, interlock.OutcomeFailure, "cooldown.failed")
	ended(other, write, interlock.OutcomeSuccess, "allow") // which changes something
	for range 4 {
		h.now = h.now.Add(15 * time.Second)
		ended(h, read, interlock.OutcomeFailure, "allow")
	}
	ended(other, read, interlock.OutcomeFailure, "cooldown.budget")
	h.now = h.now.Add(interlock.RetryWindow)
	read.Requester.Call = "early"
	first := h.ProposeBy(t.Context(), read.Way, read.Proposal)
	h.Ended(read.Requester, first.Decision, interlock.OutcomeUnknown)
	ended(h, read, interlock.OutcomeSuccess, "cooldown.unknown")
	err := h.Conclude(t.Context(), admission.Concluded{Requester: read.Requester, Answer: first,
		Outcome: interlock.Outcome{Status: interlock.OutcomeUnknown}})
	if rows := failedRows(t, h); err != nil || len(rows) != 1 || rows[0].Count != 1 || admission.Endings(h.Admission) != 0 {
		t.Errorf("recorded as %+v with %d still to come, %v", rows, admission.Endings(h.Admission), err)
	}
	ended(other, read, interlock.OutcomeSuccess, "cooldown.unknown")
}

// TestWhatWentWellLeavesNothing: a door that records no outcomes lets thousands of calls end, and none of them stays to be looked
// at by every later decision; nor does one that records them write what nobody needs.
func TestWhatWentWellLeavesNothing(t *testing.T) {
	h := newHouse(t)
	pinned(t, h)
	read := carried("get_row", `{"id":"7"}`)
	decided := h.ProposeBy(t.Context(), read.Way, read.Proposal).Decision
	for range 100 {
		h.Ended(read.Requester, decided, interlock.OutcomeSuccess)
	}
	if n := admission.Endings(h.Admission); n != 0 {
		t.Errorf("%d endings are kept where nothing failed", n)
	}
	h.Ended(read.Requester, decided, interlock.OutcomeFailure)
	h.Ended(read.Requester, decided, interlock.OutcomeSuccess)
	if n := admission.Endings(h.Admission); n != 2 {
		t.Errorf("%d endings are kept of a failure and what went well after it, want both", n)
	}
	if got := ruleOf(h.ProposeBy(t.Context(), read.Way, read.Proposal)); got != "allow" {
		t.Errorf("what failed and went well since: %s", got)
	}
}

// TestADecisionLooksOnlyAtWhatIsNew: behind a door that records no outcomes thousands of failures wait. A decision looks at those
// of its own agent, each of them once, and what it knows then is what one after the other would have said.
func TestADecisionLooksOnlyAtWhatIsNew(t *testing.T) {
	h := newHouse(t)
	ask := func(agent string) interlock.Requester {
		return interlock.Requester{Principal: "pat", Agent: agent, Run: "run"}
	}
	var want ledger.FailedBody
	fail := func(agent string, n int) {
		h.now = h.now.Add(time.Millisecond)
		d := interlock.Decision{Action: interlock.Digest(fmt.Sprint("action ", n%300))}
		h.Ended(ask(agent), d, interlock.OutcomeFailure)
		if agent == "one" {
			want, _ = want.With(ledger.Ending{Principal: "pat", Agent: agent, Run: "run", Action: d.Action, At: h.now,
				Status: interlock.OutcomeFailure})
		}
	}
	looks := func(agent string, n int) {
		t.Helper()
		got, looked := admission.Looked(h.Admission, ask(agent))
		if looked != n {
			t.Errorf("a decision about %s looks at %d, want %d", agent, looked, n)
		}
		if diff := cmp.Diff(want, got); agent == "one" && diff != "" {
			t.Error(diff)
		}
	}
	for i := range 1000 {
		fail("one", i)
		fail("two", i)
	}
	looks("one", 1000)
	looks("one", 0)
	looks("three", 0)
	fail("two", 1)
	fail("one", 7)
	looks("one", 1)
	for i := range 3000 { // the oldest make room, some of this agent's among them, and what was seen of them is known still
		fail("two", i)
	}
	looks("one", 0)
	fail("one", 8)
	looks("one", 1)
	for i := range 4096 {
		fail("two", i)
	}
	want = ledger.FailedBody{} // all of the agent's own were forgotten
	looks("one", 0)
	fail("one", 9)
	looks("one", 1)
	if n := admission.Endings(h.Admission); n != 4096 {
		t.Errorf("%d are kept, want 4096", n)
	}
	looks("two", 4095)
	h.now = h.now.Add(interlock.RetryWindow)
	fail("three", 1)
	if n := admission.Endings(h.Admission); n != 1 {
		t.Errorf("%d are kept when their time is over, want 1", n)
	}
	if got := admission.Holders(h.Admission); got != 1 {
		t.Errorf("%d agents are kept when nothing of theirs is, want 1", got)
	}
}
