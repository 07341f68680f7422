package admission_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

// breaker is the breaker of something; nil where it is closed.
func (h *house) breaker(on string) *phase.Breaker {
	h.t.Helper()
	held, _ := h.standing().Others[ledger.Hold][ledger.HoldName(ledger.HoldBreaker, on)].(ledger.HoldBody)
	return held.Breaker
}

// refuse has an agent refused something.
func (h *house) refuse(edit ...func(*admission.Case)) {
	h.t.Helper()
	if a := h.propose("rm -rf /", edit...); a.Answer == interlock.Allow {
		h.t.Fatalf("%+v", a)
	}
}

// TestTheThirdRefusal: at tier 1 the third refusal within ten minutes opens the breaker of the agent, in the commit of that refusal, so
// that its next action is refused, whatever it is and in whichever process. At tier 0 nothing is counted.
func TestTheThirdRefusal(t *testing.T) {
	spec.Covers(t, "EC-2.4", "EC-T2.4", "ASA-16.5-2", "ASA-16.5-3")
	for tier := range 4 {
		h := newHouse(t, atTier(t, tier))
		other := again(t, h, sameRules(h))
		h.refuse()
		h.refuse()
		if a := h.propose("ls"); a.Answer != interlock.Allow {
			t.Fatalf("after two: %v", a.Answer)
		}
		h.now = h.now.Add(9 * time.Minute)
		h.refuse()
		before := len(h.log())
		a := other.Propose(t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "ls", Dir: "/repo"},
			Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-2"}})
		if tier == 0 {
			if a.Answer != interlock.Allow || len(h.standing().Others) != 0 {
				t.Errorf("nothing is to be counted: %v", a.Answer)
			}
			continue
		}
		if a.Answer != interlock.Deny || !strings.Contains(fmt.Sprint(a.Findings), "breaker.open") || len(h.log()) != before+1 {
			t.Errorf("tier %d, the fourth: %v %+v", tier, a.Answer, a.Findings)
		}
		if p, _ := h.phaseOf("agent:claude"); (p == phase.Alternate) != (tier >= 2) || h.count(interlock.EventBreaker) != 1 || len(h.alerts) == 0 {
			t.Errorf("tier %d: its agent is in %q", tier, p)
		}
		if b := h.breaker("agent:codex"); b != nil {
			t.Errorf("another agent's is %+v", b)
		}
		h.entries()
	}
}

// TestWhatCounts: refusals by what says what must not be done count, and none by a limit, a pause or a hold, none that a person may yet
// lift, and none of doctor's.
func TestWhatCounts(t *testing.T) {
	canary := func(p *admission.Case) {
		p.Action.Input, p.Requester.Run = interlock.CanaryCommand, interlock.CanaryRun+"1"
	}
	for name, c := range map[string]struct {
		mode  interlock.Mode
		do    func(h *house)
		trips bool
	}{
		"rules":      {interlock.Enforcing, func(h *house) { h.refuse() }, true},
		"a question": {interlock.Enforcing, func(h *house) { h.propose(fmt.Sprintf("git push --force origin f%d", len(h.log()))) }, false},
		"the canary": {interlock.Enforcing, func(h *house) { h.propose("", canary) }, false},
		"watching":   {interlock.Monitoring, func(h *house) { h.propose("rm -rf /") }, false},
		"a limit": {interlock.Enforcing, func(h *house) {
			h.propose(fmt.Sprint("touch ", len(h.log())), func(p *admission.Case) { p.CanAsk = true })
		},
			false},
	} {
		h := newHouse(t, atTier(t, 2), func(conf *admission.Config) {
			conf.Mode = c.mode
			if name == "a limit" {
				conf.Uses = func(interlock.Proposal, interlock.Decision, time.Time) []core.Use {
					return []core.Use{{Spend: ledger.Spend{Kind: ledger.Counter, Key: "n", Take: 1}, Objects: func(
						*ledger.Met) func(time.Time) interlock.Finding {
						return func(time.Time) interlock.Finding {
							return interlock.Finding{Gate: "limit", Rule: "limit.n", Layer: 3, Verdict: interlock.Deny, Reason: "none is left"}
						}
					}}}
				}
			}
		})
		for range 5 {
			c.do(h)
			h.now = h.now.Add(time.Minute)
		}
		if b := h.breaker("agent:claude"); (b != nil) != c.trips {
			t.Errorf("%s: %+v", name, b)
		}
		if n := h.count(interlock.EventBreaker); c.trips && n != 1 { // what the open breaker refuses counts for nothing
			t.Errorf("%s: it tripped %d times", name, n)
		}
	}
}

// TestShareTripsAType: the agents of a type have one breaker, which a share of their refusals trips and three of them don't; it stops all
// of them and nobody else. Refusals that are far apart trip an agent's by their share as well.
func TestShareTripsAType(t *testing.T) {
	h := newHouse(t, atTier(t, 1))
	for n := range 12 {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: fmt.Sprint("b", n), Type: "builder", Principal: "alice",
			Trust: interlock.TrustCommunityReviewed, Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	as := func(n int) func(*admission.Case) {
		return func(p *admission.Case) { p.Requester.Agent = fmt.Sprint("b", n) }
	}
	for n := range 10 {
		h.refuse(as(n))
	}
	if b := h.breaker("type:builder"); b != nil {
		t.Errorf("ten refusals of ten agents trip: %+v", b)
	}
	for n := range 9 {
		h.propose(fmt.Sprint("ls ", n), as(11))
	}
	h.refuse(as(10))
	if b := h.breaker("type:builder"); b == nil || h.breaker("agent:b10") != nil {
		t.Errorf("more than a twentieth of twenty: %+v", b)
	}
	if a := h.propose("ls", as(11)); a.Answer != interlock.Deny || rule(a) != "breaker.open" {
		t.Errorf("another of its agents: %v", a.Answer)
	}
	if a := h.propose("ls"); a.Answer != interlock.Allow {
		t.Errorf("an agent without a type: %v %+v", a.Answer, a.Findings)
	}

	h = newHouse(t, atTier(t, 1))
	for n := range 20 {
		h.now = h.now.Add(time.Minute)
		if n == 1 || n == 19 {
			h.refuse()
		} else if a := h.propose(fmt.Sprint("ls ", n)); a.Answer != interlock.Allow {
			t.Fatal(a.Findings)
		}
	}
	if b := h.breaker("agent:claude"); b == nil {
		t.Error("two of twenty trip no agent's")
	}
}

// TestSignalsTrip: quality and cost are said by whoever measures them, and open a breaker as refusals do.
func TestSignalsTrip(t *testing.T) {
	spec.Covers(t, "EC-2.4")
	for _, trigger := range []string{phase.TriggerQuality, phase.TriggerCost} {
		h := newHouse(t, atTier(t, 2))
		signal := containment.Tightening{Scope: ledger.HoldBreaker, Key: "agent:claude", Trigger: trigger,
			Why: "it is worse than it was"}
		h.tighten(signal)
		h.tighten(signal)
		if a := h.propose("ls"); a.Answer != interlock.Deny || h.breaker("agent:claude") == nil || h.count(interlock.EventBreaker) != 1 {
			t.Errorf("%s: %v", trigger, a.Answer)
		}
		if p, _ := h.phaseOf("agent:claude"); p != phase.Alternate {
			t.Errorf("%s: its agent is in %q", trigger, p)
		}
	}
}

// halfOpen is a house whose agent's breaker somebody has half-opened.
func halfOpen(t *testing.T) *house {
	t.Helper()
	h := newHouse(t, atTier(t, 1))
	h.employ("olga", quorum.RoleOperator)
	for range 3 {
		h.refuse()
	}
	if err := h.moves(interlock.VerbResetBreaker, "agent:claude", "", "olga"); codeOf(err) != interlock.CodeConflict {
		t.Fatalf("half-opened at once: %v", err)
	}
	h.now = h.now.Add(10 * time.Minute)
	if err := h.moves(interlock.VerbResetBreaker, "agent:claude", "", "olga"); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHalfOpen: one action at a time runs until its outcome is known; after three that went well an operator closes the breaker, and a
// refusal opens it for twice as long.
func TestHalfOpen(t *testing.T) {
	h := halfOpen(t)
	for n := range phase.MendingProbes {
		ran := h.propose(fmt.Sprint("ls ", n))
		if ran.Answer != interlock.Allow {
			t.Fatalf("the one action: %v %+v", ran.Answer, ran.Findings)
		}
		if a := h.propose("ls"); a.Answer != interlock.Deny || rule(a) != "breaker.busy" {
			t.Errorf("another one: %v %s", a.Answer, rule(a))
		}
		for _, status := range []interlock.OutcomeStatus{interlock.OutcomeUnknown, interlock.OutcomeSuccess, interlock.OutcomeSuccess} {
			if err := h.Report(t.Context(), interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"},
				interlock.Outcome{Event: ran.Event, Status: status}); err != nil {
				t.Fatal(err)
			}
			if b := h.breaker("agent:claude"); (b.Probe == "") != (status == interlock.OutcomeSuccess) {
				t.Errorf("%s: %+v", status, b)
			}
		}
		if b := h.breaker("agent:claude"); b == nil || b.Passed != n+1 {
			t.Errorf("after %d: %+v", n+1, b)
		}
	}
	if err := h.moves(interlock.VerbResetBreaker, "agent:claude", "", "olga"); err != nil {
		t.Fatal(err)
	}
	if b := h.breaker("agent:claude"); b != nil {
		t.Errorf("it is %+v", b)
	}

	h = halfOpen(t)
	h.refuse()
	if b := h.breaker("agent:claude"); b == nil || b.State != phase.Open || b.Until != h.now.Add(20*time.Minute) {
		t.Errorf("refused while it was half-open: %+v", b)
	}
	h.entries()
}

// TestOneActionOfManyRuns: of many that come at once to a half-open breaker, in two processes, one runs.
func TestOneActionOfManyRuns(t *testing.T) {
	h := halfOpen(t)
	processes := []*admission.Admission{h.Admission, again(t, h, sameRules(h))}
	var ran, busy atomic.Int64
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			a := processes[n%2].Propose(t.Context(), interlock.Proposal{
				Action:    interlock.Action{Kind: interlock.KindShell, Input: fmt.Sprint("ls ", n), Dir: "/repo"},
				Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
			switch {
			case a.Answer == interlock.Allow:
				ran.Add(1)
			case rule(a) == "breaker.busy":
				busy.Add(1)
			default:
				t.Errorf("%v %+v", a.Answer, a.Findings)
			}
		})
	}
	all.Wait()
	if ran.Load() != 1 || busy.Load() != 59 {
		t.Errorf("%d ran, %d waited", ran.Load(), busy.Load())
	}
	h.entries()
}

// TestATripByHand: what somebody opened stays open, whatever time passes, until somebody resets it.
func TestATripByHand(t *testing.T) {
	h := newHouse(t)
	h.employ("olga", quorum.RoleOperator)
	if err := h.moves(interlock.VerbTripBreaker, "agent:claude", "", "olga"); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"agent:claude", "system:all", "agent:", "nonsense"} {
		if err := h.moves(interlock.VerbTripBreaker, wrong, "", "olga"); codeOf(err) == "" {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	h.now = h.now.Add(90 * 24 * time.Hour)
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("ls"); a.Answer != interlock.Deny || rule(a) != "breaker.open" {
		t.Errorf("%v %s", a.Answer, rule(a))
	}
	if err := h.moves(interlock.VerbResetBreaker, "agent:claude", "", "olga"); err != nil {
		t.Error(err)
	}
}

// TestACallIsNotHeardAgain: a call that was let run is not answered alike a moment later, once its agent is held.
func TestACallIsNotHeardAgain(t *testing.T) {
	h := newHouse(t)
	again := event("PreToolUse", "call-1")
	if a := h.propose("ls", again); a.Answer != interlock.Allow {
		t.Fatal(a.Findings)
	}
	h.now = h.now.Add(time.Second)
	if a := h.propose("ls", event("PermissionRequest", "call-1")); a.Answer != interlock.Allow || !a.Repeated {
		t.Errorf("nothing holds it: %v, repeated %v", a.Answer, a.Repeated)
	}
	h.tighten(system(phase.Emergency))
	if a := h.propose("ls", event("Another", "call-1")); a.Answer != interlock.Halt || a.Repeated {
		t.Errorf("%v, repeated %v", a.Answer, a.Repeated)
	}
}
