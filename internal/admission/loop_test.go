package admission_test

import (
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/spec"
)

// step proposes what a monitored execution reports it will do next.
func (h *house) step(run, hint string, edit ...func(*admission.Case)) interlock.Answer {
	h.t.Helper()
	p := admission.Case{Proposal: interlock.Proposal{Action: interlock.Action{Kind: interlock.KindHint, Input: hint}, CanAsk: true, Door: "mcp",
		Requester: interlock.Requester{Principal: "pat", Agent: "mcp", Run: run}}, Way: admission.Way{Loop: &interlock.Loop{Execution: run, Step: 1}}}
	for _, e := range edit {
		e(&p)
	}
	return h.ProposeBy(h.t.Context(), p.Way, p.Proposal)
}

func number(n int) func(*admission.Case) {
	return func(p *admission.Case) { p.Loop.Step = n }
}

// TestStepsOfAnExecution: what the ruleset sets for the agent holds, whatever a door says of it.
func TestStepsOfAnExecution(t *testing.T) {
	h := newHouse(t)
	if a := h.step("run", "list the files of the project", number(50)); a.Answer != interlock.Allow || a.Tier != interlock.TierAdvisory {
		t.Errorf("the 50th step: %s %s %+v", a.Answer, a.Tier, a.Findings)
	}
	generous := func(p *admission.Case) {
		p.Loop.Limit, p.Loop.Tolerance, p.Loop.AutoApprove = 1000, 100, []string{"*"}
	}
	a := h.step("run", "list the files of the project", number(51), generous)
	if a.Answer != interlock.Ask || a.Decisive().Reason != "Step limit exceeded" || a.Tier != interlock.TierConfirm {
		t.Errorf("the 51st step: %s %s %+v", a.Answer, a.Tier, a.Findings)
	}
	if a := h.step("run", "run `rm -rf /` to clean up"); a.Answer.Allowed() || a.Tier != interlock.TierDangerZone {
		t.Errorf("a catastrophe: %s %s %+v", a.Answer, a.Tier, a.Findings)
	}
}

// TestRepetitionEscalates: deletions that pass one by one are stopped when there are too many in one execution, and what
// another execution did or what was refused does not count.
func TestRepetitionEscalates(t *testing.T) {
	spec.Covers(t, "AQL-D-8.3", "AQL-D-9.3")
	h := newHouse(t)
	remove := func(run string, n int) interlock.Answer {
		h.now = h.now.Add(time.Second)
		return h.step(run, fmt.Sprintf("run `rm build/part%d.o`", n))
	}
	for n := range 49 {
		if a := remove("run", n); a.Answer != interlock.Allow {
			t.Fatalf("deletion %d: %s %+v", n+1, a.Answer, a.Findings)
		}
	}
	a := remove("run", 50)
	if a.Answer != interlock.Ask || a.Danger == interlock.DangerDangerous || a.Risk < 61 {
		t.Errorf("the 50th: %s, declared %s, risk %d, %+v", a.Answer, a.Danger, a.Risk, a.Findings)
	}
	h.now = h.now.Add(6 * time.Minute) // the pause of the agent, until its code is given, is over
	if a := remove("other", 1); a.Answer != interlock.Allow {
		t.Errorf("of another execution: %s %+v", a.Answer, a.Findings)
	}
}

// TestBeginningAddsUpToNothing: what belongs to no execution, such as beginning one, is held to its cooldown and not to what an
// execution may add up to.
func TestBeginningAddsUpToNothing(t *testing.T) {
	spec.Covers(t, "AQL-D-7.3-1")
	h := newHouse(t, ruled(t, "danger: [{name: execute_agent, level: reversible, cooldown: 10s}]\n"))
	begin := func(p *admission.Case) {
		p.Action = interlock.Action{Kind: interlock.KindTool, Tool: "execute_agent", Arguments: []byte(`{"element_name":"task"}`)}
		p.Requester.Run, p.Loop.Execution = "", ""
	}
	for n := range 300 { // at a risk of 18 each more than twice what one execution may add up to
		h.now = h.now.Add(11 * time.Second)
		if a := h.step("", "", begin); a.Answer != interlock.Allow {
			t.Fatalf("beginning %d: %s %+v", n+1, a.Answer, a.Findings)
		}
	}
	h.now = h.now.Add(9 * time.Second)
	if a := h.step("", "", begin); a.Answer != interlock.Deny || a.Decisive().Rule != "danger.cooldown" {
		t.Errorf("within the cooldown: %s %+v", a.Answer, a.Findings)
	}
}
