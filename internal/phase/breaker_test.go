package phase_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/phase"
)

// TestTrips: three refusals within ten minutes, or more than a twentieth of at least twenty decisions within thirty.
func TestTrips(t *testing.T) {
	minutes := func(list ...int) (blocks []time.Time) {
		for _, m := range list {
			blocks = phase.Blocks(blocks, noon.Add(time.Duration(m)*time.Minute))
		}
		return blocks
	}
	decided := func(all, refused int) (tally phase.Tally) {
		for n := range all {
			tally = tally.With(noon, n < refused)
		}
		return tally
	}
	for name, c := range map[string]struct {
		blocks []time.Time
		tally  phase.Tally
		at     int
		want   bool
	}{
		"two":                         {minutes(0, 1), nil, 1, false},
		"three":                       {minutes(0, 1, 9), nil, 9, true},
		"three in ten minutes":        {minutes(0, 1, 10), nil, 10, false},
		"three, the clock set back":   {minutes(0, 1, -5), nil, -5, true},
		"a twentieth":                 {nil, decided(20, 1), 0, false},
		"more than a twentieth":       {nil, decided(20, 2), 0, true},
		"more, and too few":           {nil, decided(19, 5), 0, false},
		"more, and long ago":          {nil, decided(20, 5), 31, false},
		"more, and nearly long ago":   {nil, decided(20, 5), 29, true},
		"a twentieth of a great many": {nil, decided(2000, 101), 0, true},
	} {
		if why := phase.Trips(c.blocks, c.tally, noon.Add(time.Duration(c.at)*time.Minute)); (why != "") != c.want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestTallyIsBounded: however many actions there are and whatever the clock does, a tally is bounded and counts each of them that is
// not too old.
func TestTallyIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tally phase.Tally
		var blocks []time.Time
		at, n := noon, 0
		for _, step := range rapid.SliceOf(rapid.IntRange(-60, 60)).Draw(t, "seconds") {
			at = at.Add(time.Duration(step) * time.Second)
			tally, blocks = tally.With(at, true), phase.Blocks(blocks, at)
			n++
			if len(tally) > 31 || len(blocks) > 32 {
				t.Fatalf("%d minutes, %d refusals", len(tally), len(blocks))
			}
		}
		all, refused := tally.Sum(at)
		if all > n || refused != all || n > 0 && all == 0 {
			t.Fatalf("%d of %d, %d refused", all, n, refused)
		}
	})
}

// TestBreaker: an open breaker refuses everything, half-open it lets one action run at a time, and a refusal opens it for twice as long.
// Nothing but a reset makes it looser.
func TestBreaker(t *testing.T) {
	b := phase.Trip(nil, false, noon)
	says := func(b phase.Breaker, rule string, verdict interlock.Verdict) {
		t.Helper()
		if f, objects := b.Object("agent:x"); f.Rule != rule || objects != (verdict != interlock.Allow) || objects && f.Verdict != verdict {
			t.Errorf("it says %s %v: %s", f.Rule, f.Verdict, f.Reason)
		}
	}
	says(b, "breaker.open", interlock.Deny)
	if _, may := b.Reset(noon.Add(10*time.Minute - 1)); may {
		t.Error("half-opened too early")
	}
	b, may := b.Reset(noon.Add(10 * time.Minute))
	if !may || b.State != phase.HalfOpen {
		t.Fatalf("%+v", b)
	}
	says(b, "", interlock.Allow)
	b.Probe = "p"
	says(b, "breaker.busy", interlock.Deny)
	for _, c := range []struct {
		probe  string
		status interlock.OutcomeStatus
		frees  bool
	}{{"q", interlock.OutcomeSuccess, false}, {"p", interlock.OutcomeUnknown, false}, {"", interlock.OutcomeSuccess, false},
		{"p", interlock.OutcomeFailure, true}, {"p", interlock.OutcomeSkipped, true}, {"p", interlock.OutcomeSuccess, true}} {
		after, changed := b.Ended(c.probe, c.status)
		if changed != c.frees || (after.Probe == "") != c.frees || (after.Passed == 1) != (c.status == interlock.OutcomeSuccess && c.frees) {
			t.Errorf("%+v: %+v, %v", c, after, changed)
		}
	}
	reopened := phase.Trip(&b, false, noon)
	if reopened.Until != noon.Add(20*time.Minute) {
		t.Errorf("reopened until %v", reopened.Until)
	}
	for range 20 {
		reopened = phase.Trip(&reopened, false, noon)
	}
	if reopened.Until != noon.Add(24*time.Hour) {
		t.Errorf("in the end until %v", reopened.Until)
	}
	if half, may := phase.Trip(nil, true, noon).Reset(noon); !may || half.State != phase.HalfOpen {
		t.Errorf("one that somebody opened is somebody's to half-open: %+v", half)
	}
	for n := range phase.MendingProbes {
		if half, _ := b.Reset(noon); half.State != phase.HalfOpen || half.Passed != 0 {
			t.Errorf("after %d that went well: %+v", n, half)
		}
		b.Probe = "p"
		b, _ = b.Ended("p", interlock.OutcomeSuccess)
	}
	if whole, may := b.Reset(noon); !may || whole.State != phase.Closed {
		t.Errorf("after enough went well: %+v", whole)
	}
}
