package digest

import (
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/spec"
)

func decided(gate string, v interlock.Verdict) *auditlog.Decided {
	d := &auditlog.Decided{}
	d.Decision = interlock.Decision{Verdict: v, Answer: v}
	if v != interlock.Allow {
		d.Decision.Findings = []interlock.Finding{{Gate: gate, Rule: "r", Layer: 2, Verdict: v, Reason: "no"}}
	}
	return d
}

// TestDrop: a gate that denies a third of its share of before or less is named, each gate by itself; less work, little work and a little
// less are no drop.
func TestDrop(t *testing.T) {
	spec.Covers(t, "ASA-17.3-1")
	for name, tc := range map[string]struct {
		before, deniedBefore, now, denied int
		want                              bool
	}{
		"a third":           {1000, 90, 200, 6, true},
		"more than a third": {1000, 90, 200, 7, false},
		"none at all":       {100, 20, 100, 0, true},
		"as before":         {1000, 90, 1000, 90, false},
		"more":              {1000, 90, 200, 90, false},
		"little before":     {99, 30, 200, 0, false},
		"little now":        {1000, 90, 98, 0, false},
		"few denials":       {1000, 19, 200, 0, false},
	} {
		m := New(time.Time{}, time.Time{})
		add := func(n, denied int, within bool) {
			for i := range n {
				v := interlock.Allow
				if i < denied {
					v = interlock.Deny
				}
				m.gate(decided("rules", v), within)
			}
		}
		add(tc.before, tc.deniedBefore, false)
		add(tc.now, tc.denied, true)
		m.gate(decided("judge", interlock.Deny), true) // the other gate is counted by itself
		d := m.Sum()
		if d.Gates[0].Dropped != tc.want || (d.Drop() != "") != tc.want {
			t.Errorf("%s: %+v, says %q", name, d.Gates, d.Drop())
		}
		if len(d.Gates) != 2 || d.Gates[1].Gate != 2 || d.Gates[1].Denied != 1 || d.Gates[1].Dropped {
			t.Errorf("%s: the judge is counted as %+v", name, d.Gates)
		}
	}
}

// TestReview: the sample is of permits alone, bounded, and the same in whatever order the log is read.
func TestReview(t *testing.T) {
	one, other := New(time.Time{}, time.Time{}), New(time.Time{}, time.Time{})
	for i := range 40 {
		one.keep(fmt.Sprintf("%02d", i), decided("rules", interlock.Allow))
		other.keep(fmt.Sprintf("%02d", 39-i), decided("rules", interlock.Allow))
	}
	one.keep("0", decided("rules", interlock.Deny))
	approved := decided("rules", interlock.Ask)
	approved.Decision.Answer, approved.Decision.Approval = interlock.Allow, "apr_1"
	one.keep("00a", approved)
	other.keep("00a", approved)
	a, b := one.Sum().Review, other.Sum().Review
	if len(a) != sample || fmt.Sprint(a) != fmt.Sprint(b) || a[0].Event != "00" || a[1].By != "person" {
		t.Errorf("the samples are\n%v\n%v", a, b)
	}
}
