package admission_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// TestRepetitionIsEverybodys: what an execution did counts in whichever process its next step is decided, and of steps that
// are decided at once in two of them each counts.
func TestRepetitionIsEverybodys(t *testing.T) {
	h := newHouse(t)
	processes := []*admission.Admission{h.Admission, again(t, h), again(t, h)}
	remove := func(a *admission.Admission, n int) interlock.Answer {
		return a.ProposeBy(t.Context(), admission.Way{Loop: &interlock.Loop{Execution: "run", Step: 1}}, interlock.Proposal{
			Action: interlock.Action{Kind: interlock.KindHint,
				Input: fmt.Sprintf("run `rm build/part%d.o`", n)}, CanAsk: true, Door: "mcp",
			Requester: interlock.Requester{Principal: "pat", Agent: "mcp", Run: "run"}})
	}
	var all sync.WaitGroup
	for i, a := range processes {
		all.Go(func() {
			for n := range 16 {
				if answer := remove(a, i*100+n); answer.Answer != interlock.Allow {
					t.Errorf("deletion %d of process %d: %s %+v", n, i, answer.Answer, answer.Findings)
				}
			}
		})
	}
	all.Wait()
	rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Execution, Key: ledger.ExecutionKey("pat", "mcp", "run")})
	if err != nil || len(rows) != 1 || rows[0].Value.(ledger.Done).Steps != 48 {
		t.Fatalf("of 48 steps: %+v, %v", rows, err)
	}
	if answer := remove(processes[2], 49); answer.Answer != interlock.Allow {
		t.Errorf("the 49th: %s", answer.Answer)
	}
	if answer := remove(again(t, h), 50); answer.Answer != interlock.Ask {
		t.Errorf("the 50th, in a process that has just begun: %s %+v", answer.Answer, answer.Findings)
	}
}

// TestOthersDontMakeItAgain: what is written of other agents while a decision is made leaves it as it is; what is written of
// its own agent makes it again, whatever that is.
func TestOthersDontMakeItAgain(t *testing.T) {
	who := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	for name, tc := range map[string]struct {
		write any
		times int // the decision is committed
		want  interlock.Verdict
	}{
		"another agent is revoked":  {interlock.AgentRecord{ID: "other", Created: time.Unix(1, 0), Revoked: time.Unix(2, 0)}, 1, interlock.Allow},
		"another agent is blocked":  {interlock.Challenge{ID: "c", Kind: interlock.ChallengeBlock, Requester: interlock.Requester{Agent: "other"}}, 1, interlock.Allow},
		"an operator is registered": {interlock.OperatorRecord{Name: "olga"}, 1, interlock.Allow},
		"it is revoked":             {interlock.AgentRecord{ID: "claude", Created: time.Unix(1, 0), Revoked: time.Unix(2, 0)}, 1, interlock.Deny},
		"it is blocked":             {interlock.Challenge{ID: "c", Kind: interlock.ChallengeBlock, Requester: who}, 2, interlock.Halt},
		"a rule is kept silent":     {interlock.Suppression{ID: "s", Rule: "net.upload"}, 2, interlock.Allow},
		"it has asked":              {interlock.ApprovalRequest{ID: "apr_1", Requester: who, Status: interlock.RequestPending}, 1, interlock.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.propose("git log") // so that what is known comes from memory
			times := 0
			h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
				if times++; times == 1 {
					change := ledger.Change{Events: []ledger.Draft{{Type: interlock.EventAlert, Run: "x", Seed: "x", Actor: "x",
						Role: "system", Recorded: h.now, Payload: []byte(`{"code":"x","message":"x"}`)}}}
					change.Writes = ledger.Rows(tc.write)
					if _, err := h.store.Store.Commit(t.Context(), change); err != nil {
						t.Fatal(err)
					}
				}
				return next()
			}
			answer := h.propose("git status")
			if answer.Answer != tc.want {
				t.Errorf("answer %v: %+v", answer.Answer, answer.Findings)
			}
			if name == "it is revoked" {
				tc.times = times // the refusal is committed as well
			}
			if times != tc.times {
				t.Errorf("committed %d times, want %d", times, tc.times)
			}
		})
	}
}
