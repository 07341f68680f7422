package admission_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

// claims are rules under which calls of a tool decide claims.
const claims = `
policy: {autoApprove: ["claims.*", "fleet.*"]}
commitments:
  - {id: verdict, tools: ["claims.decide"], key: [claim], choice: [verdict], input: [evidence]}
  - {id: route, tools: ["claims.route"], key: [claim], choice: [to], tie_break: keep}
  - {id: scale, tools: ["fleet.scale"], choice: [replicas]}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 3}
  - {name: builder, accountable: bob, tools: ["*"], tier: 2}
`

func toolCall(name, arguments string, more ...any) interlock.Action {
	return interlock.Action{Kind: interlock.KindTool, Tool: name, Arguments: fmt.Appendf(nil, arguments, more...)}
}

func verdict(claim int, verdict, evidence string) interlock.Action {
	return toolCall("claims.decide", `{"claim":%d,"evidence":%q,"verdict":%q}`, claim, evidence, verdict)
}

// committed is what was decided last of what the log says, newest last.
func (h *house) committed() (all []auditlog.Committed) {
	h.t.Helper()
	for _, e := range h.log() {
		if auditlog.IsDecision(e.Type) {
			d, err := auditlog.ReadDecision(e)
			if err != nil {
				h.t.Fatal(err)
			}
			all = append(all, d.Commits...)
		}
	}
	return all
}

// TestCommitProtocol: what was decided stays. Another choice from the same takes a person, or, where the rules say so, is refused; from
// something else it passes and is recorded as that.
func TestCommitProtocol(t *testing.T) {
	spec.Covers(t, "EC-2.6")
	h := team(t, claims)
	h.goes(verdict(17, "pay", "report 1"), "planner", "s1", "")
	h.goes(verdict(17, "pay", "report 1"), "builder", "s2", "")                            // the same choice is no other
	h.goes(verdict(18, "refuse", "report 1"), "builder", "s2", "")                         // another claim
	asked := h.goes(verdict(17, "refuse", "report 1"), "builder", "s2", "commit.reversal") // whoever asks, in whatever run
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.goes(verdict(17, "refuse", "report 1"), "builder", "s2", "")
	h.goes(verdict(17, "pay", "report 2"), "planner", "s1", "") // from something else
	all := h.committed()
	if len(all) != 4 || all[2].Reversed != ledger.ReversedByHuman || all[3].Reversed != ledger.ReversedByInput || all[3].Input == all[2].Input {
		t.Errorf("the log says %+v", all)
	}
	h.goes(toolCall("claims.route", `{"claim":17,"to":"fraud"}`), "planner", "s1", "")
	h.goes(toolCall("claims.route", `{"claim":17,"to":"pay desk"}`), "planner", "s1", "commit.kept") // and nobody is asked
	h.goes(toolCall("claims.route", `{"claim":17,"to":"fraud"}`), "planner", "s1", "")
	h.goes(toolCall("claims.decide", `{"verdict":"pay"}`), "planner", "s1", "commit.argument")
	h.goes(toolCall("claims.decide", `{"claim":17}`), "planner", "s1", "commit.argument")
	// Without an argument that names it, it is the task of the run and what the call is done to.
	one, other := h.run("planner", interlock.RunRequest{Task: "shop"}), h.run("planner", interlock.RunRequest{Task: "mail"})
	h.goes(toolCall("fleet.scale", `{"replicas":3}`), "planner", one.ID, "")
	h.goes(toolCall("fleet.scale", `{"replicas":5}`), "planner", other.ID, "")
	h.goes(toolCall("fleet.scale", `{"replicas":5}`), "planner", one.ID, "commit.reversal")
	h.entries()
}

// TestYesOfBeforeReversesNothing: a yes that was given before a decision was made is not about reversing it.
func TestYesOfBeforeReversesNothing(t *testing.T) {
	h := team(t, claims)
	h.goes(verdict(17, "pay", "r"), "planner", "s1", "")
	asked := h.goes(verdict(17, "refuse", "r"), "planner", "s1", "commit.reversal")
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Second)
	h.goes(verdict(17, "hold", "r 2"), "builder", "s1", "")
	h.goes(verdict(17, "refuse", "r 2"), "planner", "s1", "commit.reversal") // another action: its own question
	h.goes(verdict(17, "refuse", "r"), "planner", "s1", "")                  // from what it was decided from at first: recorded as changed
	h.now = h.now.Add(time.Second)
	h.goes(verdict(17, "pay", "r"), "planner", "s1", "commit.oscillation")
}

func (h *house) unlock(name string) error {
	h.t.Helper()
	o := interlock.Order{ID: "ord_" + name, Verb: interlock.VerbUnlockCommitment, Subject: name, Reason: "looked at the claim", Operator: "bob",
		At: h.now, Expires: h.now.Add(10 * time.Minute), Signature: "bob's", Key: "fingerprint of bob's"}
	o.ID, o.Method = "ord_"+h.now.Format("150405"), interlock.MethodSSH
	o.Statement = quorum.OrderStatement(o)
	_, err := h.CarryOut(h.t.Context(), quorum.Given{Order: o})
	return err
}

// TestOscillationIsLocked: the third time that a decision would be reversed it is locked as it is and people are told; nobody's yes and no
// other input changes it until a person has unlocked it.
func TestOscillationIsLocked(t *testing.T) {
	spec.Covers(t, "EC-T2.7")
	h := team(t, claims)
	h.goes(verdict(17, "pay", "a"), "planner", "s1", "")
	h.goes(verdict(17, "refuse", "b"), "builder", "s2", "")
	h.goes(verdict(17, "pay", "c"), "planner", "s1", "")
	h.goes(verdict(17, "refuse", "d"), "builder", "s2", "commit.oscillation")
	if len(h.alerts) != 1 || h.count(interlock.EventAlert) != 1 {
		t.Errorf("%q", h.alerts)
	}
	h.goes(verdict(17, "refuse", "e"), "builder", "s2", "commit.locked")
	h.goes(verdict(17, "refuse", "e"), "planner", "another", "commit.locked")
	h.goes(verdict(17, "pay", "c"), "planner", "s1", "") // as it is
	h.goes(verdict(18, "refuse", "d"), "builder", "s2", "")
	name := h.committed()[0].Name
	if rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Commitment, Mark: ledger.CommitmentsLocked}); err != nil ||
		len(rows) != 1 || rows[0].Key != name {
		t.Errorf("locked are %v, %v", rows, err)
	}
	h.operator("bob", "operator")
	refusedWith(t, h.unlock("cmt_x"), interlock.CodeNotFound, "no commitment has this name")
	if err := h.unlock(name); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Second)
	refusedWith(t, h.unlock(name), interlock.CodeConflict, "not locked")
	h.goes(verdict(17, "refuse", "d"), "builder", "s2", "")
	h.entries()
}

// TestTwoThatDecideAtOnce: of many that decide the same thing at once, one way or the other, one choice stands and the others are asked.
func TestTwoThatDecideAtOnce(t *testing.T) {
	h := team(t, claims)
	const callers = 12
	answers := make([]interlock.Answer, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			answers[i] = h.ProposeBy(t.Context(), admissionWay, interlock.Proposal{Action: verdict(17, []string{"pay", "refuse"}[i%2], "r"),
				Requester: interlock.Requester{Agent: []string{"planner", "builder"}[i%2], Principal: "ada", Run: "s1"}})
		})
	}
	all.Wait()
	var passed []int
	for i, a := range answers {
		if a.Answer.Allowed() {
			passed = append(passed, i%2)
		} else if a.Decisive().Rule != "commit.reversal" {
			t.Errorf("%+v", a.Findings)
		}
	}
	if slices.Sort(passed); len(passed) != callers/2 || passed[0] != passed[len(passed)-1] {
		t.Errorf("passed are %v", passed)
	}
}
