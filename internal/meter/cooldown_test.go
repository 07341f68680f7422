package meter_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/meter"
)

func TestAgain(t *testing.T) {
	failed := func(n int) interlock.Failures {
		var f interlock.Failures
		for range n {
			f = f.With(interlock.OutcomeFailure, noon)
		}
		return f
	}
	unknown := interlock.Failures{}.With(interlock.OutcomeUnknown, noon)
	changed := func(f interlock.Failures) interlock.Failures { f.Changed = true; return f }
	for name, test := range map[string]struct {
		f      interlock.Failures
		writes bool
		after  time.Duration
		wait   time.Duration
		spent  bool
	}{
		"never failed":               {interlock.Failures{}, true, 0, 0, false},
		"a read":                     {failed(1), false, 0, 10 * time.Second, false},
		"a read, later":              {failed(1), false, 9 * time.Second, time.Second, false},
		"a read, over":               {failed(1), false, 10 * time.Second, 0, false},
		"a write":                    {failed(1), true, 10 * time.Second, 50 * time.Second, false},
		"a write, over":              {failed(1), true, time.Minute, 0, false},
		"three repetitions":          {failed(3), false, 10 * time.Second, 0, false},
		"four":                       {failed(4), false, 10 * time.Second, 9*time.Minute + 50*time.Second, true},
		"four, over":                 {failed(4), false, 10 * time.Minute, 0, false},
		"something changed":          {changed(failed(4)), true, 0, 0, false},
		"changed, outcome not known": {changed(unknown), true, 0, time.Minute, false},
		"a clock set back":           {failed(1), true, -time.Hour, time.Minute, false},
	} {
		if wait, spent := meter.Again(test.f, test.writes, noon.Add(test.after)); wait != test.wait || spent != test.spent {
			t.Errorf("%s: wait %v, spent %v; want %v, %v", name, wait, spent, test.wait, test.spent)
		}
	}
	if f := changed(failed(3)).With(interlock.OutcomeFailure, noon); f.Count != 1 || f.Changed {
		t.Errorf("after a change counting goes on: %+v", f)
	}
}

// TestRepetitionsAreBounded: whatever an agent does, of the identical failing call no more than the budget and one are let
// through within a window, and never two within a cooldown.
func TestRepetitionsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writes := rapid.Bool().Draw(t, "writes")
		cooldown := meter.CooldownReads
		if writes {
			cooldown = meter.CooldownWrites
		}
		var f interlock.Failures
		var through []time.Time
		at := noon
		for range 200 {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Second)).Draw(t, "pause")))
			wait, _ := meter.Again(f, writes, at)
			if wait < 0 || wait > meter.RetryWindow {
				t.Fatalf("wait %v", wait)
			}
			if wait > 0 {
				continue
			}
			f, through = f.With(interlock.OutcomeFailure, at), append(through, at)
		}
		for i := range through {
			if i > 0 && through[i].Sub(through[i-1]) < cooldown {
				t.Fatalf("two within %v", through[i].Sub(through[i-1]))
			}
			if n := i - meter.RetryBudget - 1; n >= 0 && through[i].Sub(through[n]) < meter.RetryWindow {
				t.Fatalf("%d within %v", meter.RetryBudget+2, through[i].Sub(through[n]))
			}
		}
	})
}
