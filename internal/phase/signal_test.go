package phase_test

import (
	"testing"

	"interlock"
	"interlock/internal/phase"
	"interlock/spec"
)

// TestTold: of each level people are told once, at 70, 85 and 95 percent of a context window, and again only after it was emptied.
func TestTold(t *testing.T) {
	spec.Covers(t, "EC-1.9")
	told := 0
	for n, step := range []struct {
		value int
		tell  bool
		from  int
	}{{69, false, 0}, {70, true, 70}, {84, false, 70}, {69, false, 70}, {71, false, 70}, {96, true, 95}, {90, false, 95}, {35, false, 95},
		{99, false, 95}, {34, false, 0}, {86, true, 85}, {85, false, 85}, {95, true, 95}, {100, false, 95}} {
		after, tell := (phase.Bands{}).Told(told, interlock.Signal{Kind: interlock.SignalContext, Value: step.value})
		if tell != step.tell || after != step.from {
			t.Errorf("step %d, %d %%: told %v, %d", n, step.value, tell, after)
		}
		told = after
	}
}

// TestLevels: each kind has levels, each worse than the one before; of quality and health little is bad.
func TestLevels(t *testing.T) {
	for _, kind := range interlock.SignalKinds() {
		levels := (phase.Bands{}).Levels(kind)
		if len(levels) == 0 || levels[len(levels)-1].Severity != phase.Critical {
			t.Errorf("%s: %v", kind, levels)
		}
		for n := 1; n < len(levels); n++ {
			if levels[n].From <= levels[n-1].From || levels[n].From > 100 {
				t.Errorf("%s: %v", kind, levels)
			}
		}
	}
	for _, test := range []struct {
		signal interlock.Signal
		want   phase.Severity
	}{
		{interlock.Signal{Kind: interlock.SignalQuality, Value: 61}, ""},
		{interlock.Signal{Kind: interlock.SignalQuality, Value: 60}, phase.Informational},
		{interlock.Signal{Kind: interlock.SignalQuality, Value: 20}, phase.Critical},
		{interlock.Signal{Kind: interlock.SignalHealth, Value: 0}, phase.Critical},
		{interlock.Signal{Kind: interlock.SignalHealth, Value: 100}, ""},
		{interlock.Signal{Kind: interlock.SignalFraud, Value: 1}, phase.Critical},
		{interlock.Signal{Kind: interlock.SignalDLP, Value: 0}, ""},
		{interlock.Signal{Kind: "weather", Value: 100}, ""},
	} {
		if level, _ := (phase.Bands{}).Reached(test.signal); level.Severity != test.want {
			t.Errorf("%+v: %q", test.signal, level.Severity)
		}
	}
}
