package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ruleset"
)

// TestOverBudget: each step of the ladder does what it says, and below it the same action passes.
func TestOverBudget(t *testing.T) {
	b := &ruleset.Budget{ID: "team.day", Measure: ruleset.MeasureTokens, Most: 1000}
	for _, test := range []struct {
		used    int64
		changes bool
		want    interlock.Verdict
	}{
		{0, true, interlock.Allow}, {500, true, interlock.Allow}, {899, true, interlock.Allow}, {900, true, interlock.Ask},
		{900, false, interlock.Allow}, {949, true, interlock.Ask}, {950, true, interlock.Deny}, {999, false, interlock.Allow},
		{1000, false, interlock.Deny}, {1 << 52, true, interlock.Deny},
	} {
		f, objects := gate.OverBudget(b, test.used, test.changes, time.Minute)
		if objects != (test.want != interlock.Allow) || objects && (f.Verdict != test.want || f.Rule != "budget.team.day" || f.Reason == "") {
			t.Errorf("%d used, changes %v: %+v", test.used, test.changes, f)
		}
		if stopped := test.used >= 1000; stopped != (len(f.Obligations) > 0) {
			t.Errorf("%d used: %+v", test.used, f.Obligations)
		}
	}
}

// TestMoreUseNeverLoosens: the more of a budget is used, the less is let through, of what reads as of what changes something.
func TestMoreUseNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &ruleset.Budget{ID: "x", Most: rapid.Int64Range(1, ruleset.MaxMost).Draw(t, "most")}
		one, changes := rapid.Int64Range(0, ruleset.MaxMost).Draw(t, "used"), rapid.Bool().Draw(t, "changes")
		more := rapid.Int64Range(one, ruleset.MaxMost).Draw(t, "more")
		verdict := func(used int64, changes bool) interlock.Verdict {
			f, objects := gate.OverBudget(b, used, changes, 0)
			if !objects {
				return interlock.Allow
			}
			return f.Verdict
		}
		if verdict(more, changes).Compare(verdict(one, changes)) < 0 || verdict(one, true).Compare(verdict(one, false)) < 0 {
			t.Fatalf("of %d, %d used lets through more than %d", b.Most, more, one)
		}
		if one >= b.Most && verdict(one, false) != interlock.Deny {
			t.Fatalf("%d of %d are used and something is let through", one, b.Most)
		}
	})
}
