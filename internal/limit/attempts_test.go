package limit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/ledger"
	"interlock/internal/limit"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func fail(a ledger.AttemptsBody, times int, at time.Time) ledger.AttemptsBody {
	for range times {
		a, _ = limit.Fail(a, at)
	}
	return a
}

func TestTenFailuresInAMinute(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5")
	a := fail(ledger.AttemptsBody{Agent: "a"}, 9, noon)
	if limit.Wait(a, noon) != 0 {
		t.Error("nine failures close the door")
	}
	a, n := limit.Fail(a, noon.Add(59*time.Second))
	want := ledger.AttemptsBody{Agent: "a", Window: 2 * time.Minute, Until: noon.Add(119 * time.Second)}
	if diff := cmp.Diff(want, a); diff != "" || n != 10 {
		t.Errorf("%d failures (-want +got):\n%s", n, diff)
	}
	if wait := limit.Wait(a, noon.Add(60*time.Second)); wait != 59*time.Second {
		t.Errorf("wait %v", wait)
	}
	if wait := limit.Wait(a, a.Until); wait != 0 {
		t.Errorf("wait %v when it is over", wait)
	}
	if slow := fail(fail(ledger.AttemptsBody{}, 9, noon), 1, noon.Add(time.Minute)); limit.Wait(slow, noon.Add(time.Minute)) != 0 ||
		len(slow.Failed) != 1 {
		t.Errorf("nine failures of a minute ago still count: %+v", slow)
	}
}

func TestWindowDoubles(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5p")
	a, at := ledger.AttemptsBody{}, noon
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute} {
		a = fail(a, limit.FailedAttempts, at)
		if wait := limit.Wait(a, at); wait != want {
			t.Errorf("wait %v, want %v", wait, want)
		}
		at = a.Until
	}
	for range 20 {
		a = fail(a, limit.FailedAttempts, at)
		at = a.Until
	}
	if a.Window != limit.MaxWindow {
		t.Errorf("window %v", a.Window)
	}
	if a, n := limit.Fail(a, at.Add(limit.MaxWindow)); a.Window != limit.AttemptsWindow || n != 1 || !a.Until.IsZero() {
		t.Errorf("after a quiet day: %+v", a)
	}
}

// TestAFailureEndsNoWait: one more failure while an agent waits does not let it through sooner.
func TestAFailureEndsNoWait(t *testing.T) {
	for _, window := range []time.Duration{limit.AttemptsWindow, 2 * limit.AttemptsWindow, limit.MaxWindow} {
		waits := ledger.AttemptsBody{Agent: "a", Window: window, Until: noon.Add(time.Minute)}
		if after, _ := limit.Fail(waits, noon); limit.Wait(after, noon) != time.Minute || after.Window != window {
			t.Errorf("with a window of %v: %+v", window, after)
		}
	}
}

// TestNeverMoreThanTheLimit: however the failures fall and whatever the store holds, no more than ten are let through in any
// minute, a wait is bounded, and no argument is changed.
func TestNeverMoreThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := ledger.AttemptsBody{Window: time.Duration(rapid.Int64().Draw(t, "window")),
			Until: noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e10).Draw(t, "until")))}
		at := noon
		var through []time.Time
		for range 60 {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "pause")))
			wait := limit.Wait(a, at)
			if wait < 0 || wait > limit.MaxWindow {
				t.Fatalf("wait %v", wait)
			}
			if wait > 0 {
				continue
			}
			before := append([]time.Time{}, a.Failed...)
			next, n := limit.Fail(a, at)
			if diff := cmp.Diff(before, append([]time.Time{}, a.Failed...)); diff != "" || n < 1 || n > limit.FailedAttempts {
				t.Fatalf("%d failures; the argument changed: %s", n, diff)
			}
			a, through = next, append(through, at)
		}
		for i := limit.FailedAttempts; i < len(through); i++ {
			if through[i].Sub(through[i-limit.FailedAttempts]) < limit.AttemptsWindow {
				t.Fatalf("eleven answers within %v", through[i].Sub(through[i-limit.FailedAttempts]))
			}
		}
	})
}
