package admission_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/spec"
)

// A pricedBench is a judge that says what it costs.
type pricedBench struct {
	*bench
	most int64
}

func (b pricedBench) Price(interlock.JudgeQuestion) (int64, string) { return b.most, "USD" }

func budgeted(main *pricedBench, budgets ...core.JudgeBudget) func(*admission.Config) {
	return func(c *admission.Config) {
		c.Profile, c.Attended, c.Judges, c.JudgeBudgets = "asa", true, []interlock.Judge{*main}, budgets
	}
}

// TestJudgeBudget: what asking can cost is taken before, what it did not cost is given back, and where too little is left nobody is asked
// and nothing passes.
func TestJudgeBudget(t *testing.T) {
	spec.Covers(t, "ASA-4-6", "ASA-17.2-2")
	main := &pricedBench{&bench{name: "main", says: func(string) interlock.Judgment {
		return interlock.Judgment{Verdict: interlock.Allow, TokensIn: 10, Cost: 10, Currency: "USD"}
	}}, 60}
	h := newHouse(t, budgeted(main, core.JudgeBudget{ID: "day", Most: 100, Currency: "USD", Window: 24 * time.Hour}))
	for n, command := range []string{"cat a", "cat b", "cat c", "cat d", "cat e"} { // 10 each; the sixth could cost 60 of 50
		if a := h.propose(command); a.Answer != interlock.Allow || main.asked() != n+1 {
			t.Fatalf("%s: %s, %+v, asked %d times", command, a.Answer, a.Decisive(), main.asked())
		}
	}
	if said := h.last(interlock.EventDecision); !strings.Contains(said, `"cost":10`) || !strings.Contains(said, `"currency":"USD"`) {
		t.Errorf("what the judge cost is not in the event: %s", said)
	}
	a := h.propose("cat f")
	if a.Answer != interlock.Deny || a.Decisive().Rule != "judge.unheard" || a.Decisive().Tags[0] != "judge-spent" || main.asked() != 5 {
		t.Errorf("with nothing left: %s, %+v, asked %d times", a.Answer, a.Decisive(), main.asked())
	}
	if n := h.count(interlock.EventJudgeAsked); n != 5 {
		t.Errorf("%d events say that a judge was asked", n)
	}
	h.ticks.Lock()
	h.now = h.now.Add(25 * time.Hour)
	h.ticks.Unlock()
	if a := h.propose("cat f"); a.Answer != interlock.Allow {
		t.Errorf("the day after: %s, %+v", a.Answer, a.Decisive())
	}
}

// TestJudgeBudgetByARunningClock: what was not used is given back also where no two looks at the clock are the same time.
func TestJudgeBudgetByARunningClock(t *testing.T) {
	main := &pricedBench{&bench{name: "main", says: func(string) interlock.Judgment {
		return interlock.Judgment{Verdict: interlock.Allow, TokensIn: 10, Cost: 10, Currency: "USD"}
	}}, 60}
	h := newHouse(t, budgeted(main, core.JudgeBudget{ID: "day", Most: 100, Currency: "USD", Window: 24 * time.Hour}),
		func(c *admission.Config) {
			stands, looks := c.Now, new(atomic.Int64)
			c.Now = func() time.Time { return stands().Add(time.Duration(looks.Add(1)) * time.Microsecond) }
		})
	h.propose("cat a")
	h.propose("cat b")
	spent, err := h.JudgeSpent(t.Context())
	if err != nil || len(spent) != 1 || spent[0].Used != 20 || main.asked() != 2 {
		t.Errorf("%+v, %v, asked %d times; want 20 used", spent, err, main.asked())
	}
}

// TestJudgeBudgetIsGivenBackWhileTimePasses: with a clock that moves, as clocks do, what asking did not cost is given back within a window
// as well as without one.
func TestJudgeBudgetIsGivenBackWhileTimePasses(t *testing.T) {
	for _, window := range []time.Duration{0, 24 * time.Hour} {
		main := &pricedBench{&bench{name: "main", says: func(string) interlock.Judgment {
			return interlock.Judgment{Verdict: interlock.Allow, TokensIn: 10, Cost: 10, Currency: "USD"}
		}}, 60}
		var h *house
		h = newHouse(t, budgeted(main, core.JudgeBudget{ID: "day", Most: 100, Currency: "USD", Window: window}), func(
			c *admission.Config) {
			now := c.Now
			c.Now = func() time.Time {
				if h != nil {
					h.ticks.Lock()
					h.now = h.now.Add(1234567 * time.Nanosecond)
					h.ticks.Unlock()
				}
				return now()
			}
		})
		for n, command := range []string{"cat a", "cat b", "cat c", "cat d", "cat e"} {
			if a := h.propose(command); a.Answer != interlock.Allow || main.asked() != n+1 {
				t.Errorf("window %v, %s: %s, %+v, asked %d times", window, command, a.Answer, a.Decisive(), main.asked())
			}
		}
		if a := h.propose("cat f"); a.Answer != interlock.Deny {
			t.Errorf("window %v, with nothing left: %s", window, a.Answer)
		}
	}
}

// TestJudgeBudgetOfWhatIsNotKnown: of a call that ended badly all of it stays taken, of one that was not sent nothing, and a judge that does
// not say what it costs is not asked.
func TestJudgeBudgetOfWhatIsNotKnown(t *testing.T) {
	main := &pricedBench{&bench{name: "main"}, 60}
	h := newHouse(t, budgeted(main, core.JudgeBudget{ID: "all", Most: 100, Currency: "USD"}))
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeShed} }
	h.propose("cat a")
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeTimeout} }
	h.propose("cat a")
	h.propose("cat a")
	if main.asked() != 2 {
		t.Errorf("asked %d times, want once unsent and once unanswered", main.asked())
	}
	silent := &bench{name: "silent", says: says(interlock.Allow, 0)}
	h = newHouse(t, budgeted(main, core.JudgeBudget{ID: "all", Most: 100, Currency: "USD"}),
		func(c *admission.Config) { c.Judges = []interlock.Judge{silent} })
	if a := h.propose("cat a"); a.Answer != interlock.Deny || silent.asked() != 0 {
		t.Errorf("%s, asked %d times", a.Answer, silent.asked())
	}
}

// TestJudgeBudgetIsNeverOverspent: of many who ask at once only so many are sent as there is money for.
func TestJudgeBudgetIsNeverOverspent(t *testing.T) {
	main := &pricedBench{&bench{name: "main", says: func(string) interlock.Judgment { return interlock.Judgment{Verdict: interlock.Allow} }}, 10}
	h := newHouse(t, budgeted(main, core.JudgeBudget{ID: "all", Most: 70, Currency: "USD"}))
	var wait sync.WaitGroup
	var guard sync.Mutex
	allowed := 0
	for n := range 40 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			a := h.propose("cat f" + string(rune('A'+n)))
			guard.Lock()
			defer guard.Unlock()
			if a.Answer == interlock.Allow {
				allowed++
			}
		}()
	}
	wait.Wait()
	if allowed != 7 || main.asked() != 7 {
		t.Errorf("%d allowed, %d asked, want 7 of each", allowed, main.asked())
	}
}
