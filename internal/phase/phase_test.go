package phase_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/phase"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestTransitions: every way up is there, a machine may take it, and steps may be skipped; every way down is one step, nobody's but a
// person's in a named role, and out of emergency it takes a second person.
func TestTransitions(t *testing.T) {
	spec.Covers(t, "EC-P-2", "EC-P-3")
	all := phase.Phases()
	for from, a := range all {
		for to, b := range all {
			for tier := range 4 {
				step, known := phase.Find(a, b, tier)
				direct := a == phase.Emergency && b == phase.Primary && tier <= 1 // nothing lies between
				if want := to > from || to == from-1 || direct; known != want {
					t.Errorf("%s to %s at tier %d: %v", a, b, tier, known)
				}
				if !known {
					continue
				}
				if step.Machine != (to > from) {
					t.Errorf("%s to %s: a machine may: %v", a, b, step.Machine)
				}
				if len(step.Roles) == 0 || to < from && step.May("operator") || step.May("") || step.May("viewer") {
					t.Errorf("%s to %s may be ordered by %v", a, b, step.Roles)
				}
				if step.Owner != (to < from && a == phase.Emergency && !(direct && tier == 0)) || (to < from &&
					b == phase.Primary) != strings.Contains(step.Proof, "tainted") {
					t.Errorf("%s to %s: %+v", a, b, step)
				}
			}
		}
	}
	if _, known := phase.Find("", phase.Emergency, 1); !known {
		t.Error("from primary to emergency is no way")
	}
	if _, known := phase.Down(phase.Primary, 2); known {
		t.Error("something is looser than primary")
	}
	for text, want := range map[string]phase.Phase{"a": phase.Alternate, "Emergency": phase.Emergency, "P": phase.Primary} {
		if got, known := phase.Parse(text); !known || got != want {
			t.Errorf("%q is %q, %v", text, got, known)
		}
	}
	if _, known := phase.Parse("X"); known || phase.Phase("X").Compare(phase.Contingency) <= 0 {
		t.Error("what is no phase is one, or a loose one")
	}
}

// TestObject holds what each phase lets pass, by whose it is and what is done.
func TestObject(t *testing.T) {
	spec.Covers(t, "EC-P-4", "EC-P-5", "EC-AC-3")
	reads, changes := phase.Act{Agent: "me"}, phase.Act{Agent: "me", Changes: true}
	says := phase.Act{Agent: "me", Changes: true, Messages: true}
	for name, c := range map[string]struct {
		scope string
		hold  phase.Hold
		want  [3]string // of reading, changing and addressing others
	}{
		"primary":        {phase.ScopeSystem, phase.Hold{Phase: phase.Primary}, [3]string{"", "", ""}},
		"nothing":        {phase.ScopeSystem, phase.Hold{}, [3]string{"", "", ""}},
		"isolated":       {phase.ScopeAgent, phase.Hold{Phase: phase.Alternate}, [3]string{"deny isolated", "deny isolated", "deny isolated"}},
		"others":         {phase.ScopeSystem, phase.Hold{Phase: phase.Alternate}, [3]string{"", "ask change", "ask change"}},
		"of a type":      {phase.ScopeType, phase.Hold{Phase: phase.Alternate}, [3]string{"", "ask change", "ask change"}},
		"of a layer":     {phase.ScopeLayer, phase.Hold{Phase: phase.Alternate}, [3]string{"", "ask change", "ask change"}},
		"nobody goes on": {phase.ScopeSystem, phase.Hold{Phase: phase.Contingency}, [3]string{"deny suspended", "deny suspended", "deny suspended"}},
		"another goes on": {phase.ScopeRun, phase.Hold{Phase: phase.Contingency, Only: "other"},
			[3]string{"deny suspended", "deny suspended", "deny suspended"}},
		"it goes on":      {phase.ScopeSystem, phase.Hold{Phase: phase.Contingency, Only: "me"}, [3]string{"ask every", "ask every", "deny message"}},
		"a layer is down": {phase.ScopeLayer, phase.Hold{Phase: phase.Contingency}, [3]string{"ask every", "ask every", "deny message"}},
		"emergency": {phase.ScopeAgent, phase.Hold{Phase: phase.Emergency, Only: "me"},
			[3]string{"halt emergency", "halt emergency", "halt emergency"}},
		"damaged": {phase.ScopeSystem, phase.Hold{Phase: "Q"}, [3]string{"halt emergency", "halt emergency", "halt emergency"}},
	} {
		var got [3]string
		for n, act := range []phase.Act{reads, changes, says} {
			f, objects := phase.Object("x:y", c.scope, noon, c.hold, act, 2)
			if !objects {
				continue
			}
			got[n] = f.Verdict.String() + " " + strings.TrimPrefix(f.Rule, "phase.")
			if (f.Layer == 1) != (f.Verdict != interlock.Ask) || f.Gate != "phase" || !strings.Contains(f.Reason, "x:y since 2026-11-20T12:00:00Z: ") ||
				!strings.Contains(f.Reason, "may loosen it") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStricterPhasesLetNothingMorePass: whatever is done and wherever a hold is, a later phase objects at least as strictly, unless the
// agent is the one that was named, which takes a person's order.
func TestStricterPhasesLetNothingMorePass(t *testing.T) {
	spec.Covers(t, "EC-P-1")
	rapid.Check(t, func(t *rapid.T) {
		act := phase.Act{Agent: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "agent"), Changes: rapid.Bool().Draw(t, "changes"),
			Messages: rapid.Bool().Draw(t, "messages")}
		scope := rapid.SampledFrom(phase.Scopes()).Draw(t, "scope")
		before := interlock.Allow
		for _, p := range phase.Phases() {
			now := interlock.Allow
			if f, objects := phase.Object("x:y", scope, noon, phase.Hold{Phase: p}, act, 2); objects {
				now = f.Verdict
			}
			if now.Compare(before) < 0 {
				t.Fatalf("%s on a %s answers %v to %+v, and the phase before %v", p, scope, now, act, before)
			}
			before = now
		}
	})
}

// TestDeadline: an alternate that nobody resolves is contingency from its deadline on, and no time makes an emergency anything else.
func TestDeadline(t *testing.T) {
	spec.Covers(t, "EC-P-6", "EC-P-7")
	h := phase.Hold{Phase: phase.Alternate, By: "olga", Trigger: phase.TriggerOrder, Deadline: noon.Add(phase.MaxAlternate)}
	for after, want := range map[time.Duration]phase.Phase{0: phase.Alternate, phase.MaxAlternate - 1: phase.Alternate,
		phase.MaxAlternate: phase.Contingency, 90 * 24 * time.Hour: phase.Contingency, -time.Hour: phase.Alternate} {
		got := h.At(noon.Add(after))
		if got.Phase != want || (want == phase.Contingency) != (got.Trigger == phase.TriggerTimer && got.By == "") {
			t.Errorf("after %v: %+v", after, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := phase.Hold{Phase: phase.Emergency, Deadline: noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "deadline")))}
		if got := e.At(noon.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "later")))); got.Phase != phase.Emergency {
			t.Fatalf("it is %s", got.Phase)
		}
	})
}

// TestCycles: three alternates of a day may be left again; the fourth is contingency, and the window rolls.
func TestCycles(t *testing.T) {
	spec.Covers(t, "EC-T3.3")
	var past []time.Time
	at := noon
	for n, want := range []phase.Phase{phase.Alternate, phase.Alternate, phase.Alternate, phase.Contingency} {
		before := slices.Clone(past)
		after, to := phase.Cycles(past, at)
		if to != want || !slices.Equal(past, before) {
			t.Errorf("cycle %d: %s", n+1, to)
		}
		past, at = after, at.Add(7*time.Hour)
	}
	if _, to := phase.Cycles(past, noon.Add(phase.CycleWindow+7*time.Hour)); to != phase.Alternate {
		t.Errorf("two of them are a day old: %s", to)
	}
	if _, to := phase.Cycles(past, noon.Add(-time.Hour)); to != phase.Contingency {
		t.Error("a clock that was set back frees cycles")
	}
}
