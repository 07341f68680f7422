package admission_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// TestManyDrawOneGrant: however many callers of however many processes draw one grant at once, it counts as often as it says. Whoever
// finds it used up is decided anew from what it met: asked about, or refused because enough has been asked, and never an error.
func TestManyDrawOneGrant(t *testing.T) {
	const callers = 200
	for _, times := range []int{7, 120} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			bounded := func(c *admission.Config) { c.MaxQuestions = 1 }
			h := newHouse(t, bounded)
			h.employ("bob", "operator")
			if _, err := h.Grant(t.Context(), h.grants("bob", func(g *interlock.Grant) { g.Times = times })); err != nil {
				t.Fatal(err)
			}
			processes := []*admission.Admission{h.Admission, again(t, h, bounded, sameRules(h)), again(t, h, bounded, sameRules(h))}
			answers := make([]interlock.Answer, callers)
			var all sync.WaitGroup
			begin := make(chan struct{})
			for n := range callers {
				all.Go(func() {
					<-begin
					push := fmt.Sprintf("git push --force origin feature-%d", n)
					answers[n] = processes[n%len(processes)].Propose(t.Context(), interlock.Proposal{CanAsk: true,
						Action:    interlock.Action{Kind: interlock.KindShell, Input: push, Dir: "/repo"},
						Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
				})
			}
			close(begin)
			all.Wait()
			counts := map[string]int{}
			for _, a := range answers {
				f := a.Decisive()
				switch {
				case a.Event == "" || f != nil && f.Gate == "admission":
					t.Errorf("an error: %v, %+v", a.Answer, f)
				case a.Answer == interlock.Allow && a.Decision.Grant == "grt_1":
					counts["drawn"]++
				case a.Answer == interlock.Ask && a.Decision.Grant == "" && a.Request != "" && f.Reason != "":
					counts["asked"]++
				case a.Answer == interlock.Deny && a.Decision.Grant == "" && f.Rule == "limit.questions" && f.Reason != "":
					counts["asked enough"]++
				default:
					t.Errorf("%v, grant %q, request %q, %+v", a.Answer, a.Decision.Grant, a.Request, f)
				}
			}
			if counts["drawn"] != times || counts["asked"] < 1 {
				t.Errorf("%v, want %d drawn and at least a question", counts, times)
			}
			if standing := h.standing(); len(standing.Grants) != 0 {
				t.Errorf("what is left: %+v", standing.Grants)
			}
			h.entries()
		})
	}
}

// TestManySpendOneApproval: of many who come with the same action at once, one has the approval, and the others ask again.
func TestManySpendOneApproval(t *testing.T) {
	h := newHouse(t)
	processes := []*admission.Admission{h.Admission, again(t, h, sameRules(h)), again(t, h, sameRules(h))}
	asked := h.propose(pushes, func(p *admission.Case) { p.CanAsk = true })
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	var allowed, anew atomic.Int64
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			a := processes[n%len(processes)].Propose(t.Context(), interlock.Proposal{CanAsk: true,
				Action:    interlock.Action{Kind: interlock.KindShell, Input: pushes, Dir: "/repo"},
				Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
			switch {
			case a.Answer == interlock.Allow && a.Approval == asked.Request:
				allowed.Add(1)
			case a.Answer == interlock.Ask && a.Event != "" && a.Request != "" && a.Request != asked.Request && a.Decisive().Reason != "":
				anew.Add(1)
			default:
				t.Errorf("%v, approval %q, request %q, %+v", a.Answer, a.Approval, a.Request, a.Decisive())
			}
		})
	}
	all.Wait()
	if allowed.Load() != 1 || anew.Load() != 199 {
		t.Errorf("%d allowed, %d asked", allowed.Load(), anew.Load())
	}
	h.entries()
}

// TestManyUseUpOneCounter: what a limit would have an action use up is taken with its event. Nobody races for it: whoever meets too
// little gets that as a finding, and of it a decision like any other.
func TestManyUseUpOneCounter(t *testing.T) {
	const room, callers = 7, 200
	var met atomic.Int64
	limited := func(c *admission.Config) {
		c.Uses = func(p interlock.Proposal, _ interlock.Decision, _ time.Time) []core.Use {
			return []core.Use{{Spend: ledger.Spend{Kind: ledger.Counter, Key: "calls of " + p.Requester.Agent, Take: 1},
				Objects: func(m *ledger.Met) func(time.Time) interlock.Finding {
					met.Add(1)
					f := interlock.Finding{Gate: "limit", Rule: "limit.calls", Layer: 3, Verdict: interlock.Deny, Reason: "no calls left: " + m.Why}
					return func(time.Time) interlock.Finding { return f }
				}}}
		}
	}
	h := newHouse(t, limited)
	draft := ledger.Draft{Type: interlock.EventAlert, Run: "x", Seed: "seed", Actor: "x", Role: "system", Recorded: h.now, Payload: []byte(`{}`)}
	if _, err := h.store.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{draft},
		Writes: ledger.Rows(ledger.CounterBody{Name: "calls of claude", Left: room})}); err != nil {
		t.Fatal(err)
	}
	processes := []*admission.Admission{h.Admission, again(t, h, limited, sameRules(h)), again(t, h, limited, sameRules(h))}
	var allowed, denied atomic.Int64
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			a := processes[n%len(processes)].Propose(t.Context(), interlock.Proposal{
				Action:    interlock.Action{Kind: interlock.KindShell, Input: fmt.Sprint("ls ", n), Dir: "/repo"},
				Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
			switch f := a.Decisive(); {
			case a.Answer == interlock.Allow && a.Event != "":
				allowed.Add(1)
			case a.Answer == interlock.Deny && a.Event != "" && f.Rule == "limit.calls" && f.Reason == "no calls left: it has less left":
				denied.Add(1)
			default:
				t.Errorf("%v, event %q, %+v", a.Answer, a.Event, f)
			}
		})
	}
	all.Wait()
	if allowed.Load() != room || denied.Load() != callers-room || met.Load() != callers-room {
		t.Errorf("%d allowed, %d denied, %d met too little", allowed.Load(), denied.Load(), met.Load())
	}
	if a := h.propose("rm -rf /"); a.Decisive() == nil || a.Decisive().Rule == "limit.calls" {
		t.Errorf("what is refused anyway uses nothing up: %+v", a.Decisive())
	}
	if a := h.propose("ls", from("codex", "alice", "r")); a.Answer != interlock.Deny || a.Decisive().Reason != "no calls left: there is none" {
		t.Errorf("a counter that is not there: %v %+v", a.Answer, a.Decisive())
	}
	h.entries()
}

// sameRules decides under the rules of a house.
func sameRules(h *house) func(*admission.Config) {
	return func(c *admission.Config) { c.Rules = h.Rules() }
}
