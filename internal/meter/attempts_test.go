package meter_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/meter"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func fail(a meter.Attempts, times int, at time.Time) meter.Attempts {
	for range times {
		a, _ = a.Fail(at)
	}
	return a
}

func TestTenFailuresInAMinute(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5")
	a := fail(meter.Attempts{}, 9, noon)
	if a.Wait(noon) != 0 {
		t.Error("nine failures close the door")
	}
	a, n := a.Fail(noon.Add(59 * time.Second))
	want := meter.Attempts{Window: 2 * time.Minute, Until: noon.Add(119 * time.Second)}
	if diff := cmp.Diff(want, a); diff != "" || n != 10 {
		t.Errorf("%d failures (-want +got):\n%s", n, diff)
	}
	if wait := a.Wait(noon.Add(60 * time.Second)); wait != 59*time.Second {
		t.Errorf("wait %v", wait)
	}
	if wait := a.Wait(a.Until); wait != 0 {
		t.Errorf("wait %v when it is over", wait)
	}
	if slow := fail(fail(meter.Attempts{}, 9, noon), 1, noon.Add(time.Minute)); slow.Wait(noon.Add(time.Minute)) != 0 ||
		len(slow.Failed) != 1 {
		t.Errorf("nine failures of a minute ago still count: %+v", slow)
	}
}

func TestWindowDoubles(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5p")
	a, at := meter.Attempts{}, noon
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute} {
		a = fail(a, meter.FailedAttempts, at)
		if wait := a.Wait(at); wait != want {
			t.Errorf("wait %v, want %v", wait, want)
		}
		at = a.Until
	}
	for range 20 {
		a = fail(a, meter.FailedAttempts, at)
		at = a.Until
	}
	if a.Window != meter.MaxWindow {
		t.Errorf("window %v", a.Window)
	}
	if a, n := a.Fail(at.Add(meter.MaxWindow)); a.Window != meter.AttemptsWindow || n != 1 || !a.Until.IsZero() {
		t.Errorf("after a quiet day: %+v", a)
	}
}

// TestAFailureEndsNoWait: one more failure while an agent waits does not let it through sooner.
func TestAFailureEndsNoWait(t *testing.T) {
	for _, window := range []time.Duration{meter.AttemptsWindow, 2 * meter.AttemptsWindow, meter.MaxWindow} {
		waits := meter.Attempts{Window: window, Until: noon.Add(time.Minute)}
		if after, _ := waits.Fail(noon); after.Wait(noon) != time.Minute || after.Window != window {
			t.Errorf("with a window of %v: %+v", window, after)
		}
	}
}

// TestNeverMoreThanTheLimit: however the failures fall and whatever the store holds, no more than ten are let through in any
// minute, a wait is bounded, and no argument is changed.
func TestNeverMoreThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := meter.Attempts{Window: time.Duration(rapid.Int64().Draw(t, "window")),
			Until: noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e10).Draw(t, "until")))}
		at := noon
		var through []time.Time
		for range 60 {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "pause")))
			wait := a.Wait(at)
			if wait < 0 || wait > meter.MaxWindow {
				t.Fatalf("wait %v", wait)
			}
			if wait > 0 {
				continue
			}
			before := append([]time.Time{}, a.Failed...)
			next, n := a.Fail(at)
			if diff := cmp.Diff(before, append([]time.Time{}, a.Failed...)); diff != "" || n < 1 || n > meter.FailedAttempts {
				t.Fatalf("%d failures; the argument changed: %s", n, diff)
			}
			a, through = next, append(through, at)
		}
		for i := meter.FailedAttempts; i < len(through); i++ {
			if through[i].Sub(through[i-meter.FailedAttempts]) < meter.AttemptsWindow {
				t.Fatalf("eleven answers within %v", through[i].Sub(through[i-meter.FailedAttempts]))
			}
		}
	})
}
