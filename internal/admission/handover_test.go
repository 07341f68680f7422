package admission_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// deletionsIn gives a house in which deletions are asked about and may only run in a sandbox.
func deletionsIn(t *testing.T) *house {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"own.yaml": []byte(
		"rules:\n  - {id: own.boxed, layer: 3, kinds: [shell], match: {kind: [delete]}, verdict: ask, reason: only in a sandbox,\n" +
			"     obligations: [{type: sandbox, note: build}], tests: {ask: [\"rm -rf build\"], pass: [\"ls\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	return newHouse(t, func(c *admission.Config) { c.Rules = set })
}

// A question that wants a sandbox is one question for both events of a call, where the door has a sandbox and where it hands over.
func TestAQuestionThatWantsASandboxIsAskedOnce(t *testing.T) {
	for name, way := range map[string]func(*admission.Case){
		"has a sandbox": func(p *admission.Case) { p.CanAsk, p.Sandboxed = true, true },
		"hands over":    func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverOffered },
	} {
		h := deletionsIn(t)
		first := h.propose("rm -rf build", way, event("PreToolUse", "toolu_1"))
		second := h.propose("rm -rf build", way, event("PermissionRequest", ""))
		if first.Answer != interlock.Ask || !second.Repeated || second.Event != first.Event {
			t.Errorf("%s: %v, then %v, repeated %v", name, first.Answer, second.Answer, second.Repeated)
		}
	}
}

// A door that hands the action over to exec is told yes, and the approval is left for exec, which spends it.
func TestAHandoverLeavesTheApprovalToWhoRunsIt(t *testing.T) {
	h := deletionsIn(t)
	offered := func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverOffered }
	certain := func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverCertain }
	exec := func(p *admission.Case) {
		p.CanAsk, p.Sandboxed, p.Unseen, p.Requester.Call = true, true, true, "exec-1"
	}
	asked := h.propose("rm -rf build", offered)
	if asked.Answer != interlock.Ask || asked.Request == "" {
		t.Fatalf("%v: %+v", asked.Answer, asked.Findings)
	}
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	for _, way := range []func(*admission.Case){offered, offered, certain} {
		if a := h.propose("rm -rf build", way); a.Answer != interlock.Allow || a.Approval != asked.Request {
			t.Fatalf("handed over: %v by %q: %+v", a.Answer, a.Approval, a.Findings)
		}
	}
	if a := h.propose("rm -rf build"); a.Answer != interlock.Deny {
		t.Errorf("a door that hands nothing over got %v", a.Answer)
	}
	if a := h.propose("rm -rf build", exec); a.Answer != interlock.Allow {
		t.Errorf("exec got %v: %+v", a.Answer, a.Findings)
	}
	for name, way := range map[string]func(*admission.Case){"exec": exec, "the hook": offered} {
		if a := h.propose("rm -rf build", way); a.Answer != interlock.Ask {
			t.Errorf("%s got %v after the approval was spent", name, a.Answer)
		}
	}
	handed := 0
	for _, e := range h.log() {
		handed += strings.Count(string(e.Body), `"status":"handed_to_exec"`)
	}
	if handed != 3 {
		t.Errorf("%d events say that the action was handed over", handed)
	}
}

// Where no sandbox is wanted, an offer changes nothing: the approval is spent by who was asked.
func TestAnOfferIsNoHandoverWhereNoSandboxIsWanted(t *testing.T) {
	h := newHouse(t)
	offered := func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverOffered }
	asked := h.propose("git push --force origin main", offered)
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git push --force origin main", offered); a.Answer != interlock.Allow {
		t.Fatalf("%v: %+v", a.Answer, a.Findings)
	}
	if a := h.propose("git push --force origin main", offered); a.Answer != interlock.Ask {
		t.Errorf("%v after the approval was spent", a.Answer)
	}
	if a := h.propose("ls", func(p *admission.Case) { p.Handover = "perhaps" }); a.Answer != interlock.Deny {
		t.Errorf("an unknown handover got %v", a.Answer)
	}
}

// A call that was to run in the sandbox and did not is an alert; one that did is none.
func TestWhatRanOutsideItsSandboxIsAnAlert(t *testing.T) {
	for _, boxed := range []bool{true, false} {
		h := deletionsIn(t)
		offered := func(p *admission.Case) {
			p.CanAsk, p.Handover, p.Event, p.Requester.Call = true, interlock.HandoverOffered, "PreToolUse", "call-1"
		}
		asked := h.propose("rm -rf build", offered)
		if err := h.approve(asked.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		allowed := h.propose("rm -rf build", offered)
		err := h.Report(t.Context(), interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1", Call: "call-1"},
			interlock.Outcome{Action: allowed.Action, Status: interlock.OutcomeSuccess, Sandboxed: boxed})
		if err != nil {
			t.Fatal(err)
		}
		types := h.entries()
		if got := types[len(types)-1]; (got == interlock.EventAlert) == boxed {
			t.Errorf("sandboxed %v: recorded as %s", boxed, got)
		}
		if again := h.propose("rm -rf build",
			func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverOffered }); again.Answer.Allowed() != boxed {
			t.Errorf("sandboxed %v: the approval answers with %v once more", boxed, again.Answer)
		}
	}
}

// A harness that gives its calls no ids, and the exec it hands them to, each have their outcome recorded of their own decision.
func TestOutcomesOfAHandoverWithoutCallIDs(t *testing.T) {
	h := deletionsIn(t)
	offered := func(p *admission.Case) {
		p.CanAsk, p.Handover, p.Event = true, interlock.HandoverOffered, "preToolUse"
	}
	asked := h.propose("rm -rf build", func(p *admission.Case) { offered(p); p.Requester.Run = "run-0" })
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	handed := h.propose("rm -rf build", offered)
	run := h.propose("rm -rf build", func(p *admission.Case) {
		p.CanAsk, p.Sandboxed, p.Unseen, p.Requester.Call = true, true, true, "exec-1"
	})
	before := len(h.log())
	harness := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	exec := harness
	exec.Call = "exec-1"
	outcome := interlock.Outcome{Action: handed.Action, Status: interlock.OutcomeSuccess, Sandboxed: true}
	ran := outcome
	ran.Event = run.Event
	for _, err := range []error{h.Report(t.Context(), exec, ran), h.Report(t.Context(), harness, outcome)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{run.Event, handed.Event} {
		entry := h.log()[before+i]
		if entry.Type != interlock.EventOutcome || !strings.Contains(string(entry.Body), `"event_id":"`+want+`"`) {
			t.Errorf("outcome %d is a %s that does not name %s: %s", i, entry.Type, want, entry.Body)
		}
	}
}

// A standing grant is drawn by what runs the action, not by the door that hands it over.
func TestAHandoverDrawsNoGrant(t *testing.T) {
	h := deletionsIn(t)
	h.employ("bob", "operator")
	once := h.grants("bob", func(g *interlock.Grant) { g.Tool, g.Times = "rm -rf *", 1 })
	if _, err := h.Grant(t.Context(), once); err != nil {
		t.Fatal(err)
	}
	offered := func(p *admission.Case) { p.CanAsk, p.Handover = true, interlock.HandoverOffered }
	for range 2 {
		if a := h.propose("rm -rf build", offered); a.Answer != interlock.Allow || a.Grant != once.ID {
			t.Fatalf("handed over: %v by %q: %+v", a.Answer, a.Grant, a.Findings)
		}
	}
	exec := func(p *admission.Case) { p.CanAsk, p.Sandboxed, p.Unseen = true, true, true }
	if a := h.propose("rm -rf build", exec); a.Answer != interlock.Allow {
		t.Errorf("exec got %v: %+v", a.Answer, a.Findings)
	}
	if a := h.propose("rm -rf build", exec); a.Answer != interlock.Ask {
		t.Errorf("exec got %v from a grant that was drawn", a.Answer)
	}
}
