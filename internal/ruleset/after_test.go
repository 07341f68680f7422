package ruleset_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// afterRule loads one operator's rule with a condition on earlier actions.
func afterRule(t *testing.T, match, after string) (*ruleset.Ruleset, error) {
	t.Helper()
	return ruleset.Load(nil, map[string][]byte{"team.yaml": []byte("rules:\n  - {id: t.x, layer: 3, verdict: ask, reason: team rule, match: " + match + ", after: " + after + "}\n")})
}

func TestAfterIsChecked(t *testing.T) {
	for _, test := range []struct{ match, after, want string }{
		{"{glob: ['deploy *']}", "{kind: [write]}", "needs impact conditions in its match"},
		{"{kind: [execute]}", "{within: 5m}", "say what an earlier action must have done"},
		{"{kind: [execute]}", "{kind: [write], same: host}", "same must be target"},
		{"{kind: [execute]}", "{kind: [write], times: 17}", "times must be from 1 to 16"},
		{"{kind: [execute]}", "{kind: [write], times: -1}", "times must be from 1 to 16"},
		{"{kind: [execute]}", "{kind: [write], within: 31m}", "nothing is remembered for longer"},
		{"{kind: [execute]}", "{kind: [write], within: soon}", "length of time"},
		{"{kind: [execute]}", "{kind: [wrote]}", "unknown impact kind"},
		{"{kind: [execute]}", "{kind: [write], same: target, times: 2, within: 5m}", ""},
	} {
		_, err := afterRule(t, test.match, test.after)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s after %s: %v, want %q", test.match, test.after, err, test.want)
		}
	}
}

func wrote(target string, at time.Time) interlock.PastAction {
	return interlock.PastAction{At: at, Kind: interlock.KindShell, Impacts: []interlock.Impact{{Kind: interlock.ImpactWrite, Target: target}}}
}

// TestFollows: which histories meet which condition.
func TestFollows(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, test := range []struct {
		name, after, target string
		recent              []interlock.PastAction
		want                bool
	}{
		{"nothing came before", "{kind: [write]}", "/a/x", nil, false},
		{"something did", "{kind: [write]}", "/a/x", []interlock.PastAction{wrote("/b", ago(time.Hour))}, true},
		{"something else did", "{kind: [delete]}", "/a/x", []interlock.PastAction{wrote("/a/x", ago(time.Second))}, false},
		{"the same target", "{kind: [write], same: target}", "/a/x", []interlock.PastAction{wrote("/a/x", ago(time.Second))}, true},
		{"in the target", "{kind: [write], same: target}", "/a/x", []interlock.PastAction{wrote("/a", ago(time.Second))}, true},
		{"in the target, with a slash", "{kind: [write], same: target}", "/a/x", []interlock.PastAction{wrote("/a/", ago(time.Second))}, true},
		{"beside the target", "{kind: [write], same: target}", "/a/x", []interlock.PastAction{wrote("/a/xy", ago(time.Second))}, false},
		{"a name that begins alike", "{kind: [write], same: target}", "/ab", []interlock.PastAction{wrote("/a", ago(time.Second))}, false},
		{"around the target", "{kind: [write], same: target}", "/a", []interlock.PastAction{wrote("/a/x", ago(time.Second))}, false},
		{"everything", "{kind: [write], same: target}", "/a/x", []interlock.PastAction{wrote("/", ago(time.Second))}, false},
		{"a target that was forgotten", "{kind: [write], same: target}", "", []interlock.PastAction{wrote("", ago(time.Second))}, false},
		{"in time", "{kind: [write], within: 1m}", "/a", []interlock.PastAction{wrote("/b", ago(time.Minute))}, true},
		{"too long ago", "{kind: [write], within: 1m}", "/a", []interlock.PastAction{wrote("/b", ago(61*time.Second))}, false},
		{"the clock went back", "{kind: [write], within: 1m}", "/a", []interlock.PastAction{wrote("/b", ago(-time.Hour))}, true},
		{"often enough", "{kind: [write], times: 2}", "/a", []interlock.PastAction{wrote("/b", ago(2)), wrote("/b", ago(1))}, true},
		{"not often enough", "{kind: [write], times: 3}", "/a", []interlock.PastAction{wrote("/b", ago(2)), wrote("/b", ago(1))}, false},
		{"often, but long ago", "{kind: [write], times: 2, within: 1m}", "/a", []interlock.PastAction{wrote("/b", ago(time.Hour)), wrote("/b", ago(1))}, false},
	} {
		rules, err := afterRule(t, "{kind: [execute]}", test.after)
		if err != nil {
			t.Fatal(err)
		}
		impacts := []interlock.Impact{{Kind: interlock.ImpactRead, Target: "/elsewhere"}, {Kind: interlock.ImpactExecute, Target: test.target}}
		hits := rules.MatchImpacts(interlock.KindShell, impacts)
		if len(hits) != 1 {
			t.Fatalf("%s: %d rules match", test.name, len(hits))
		}
		if got := hits[0].Rule.Follows(&interlock.Snapshot{Recent: test.recent, Taken: now}, impacts, hits[0].Impacts); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestRemember: only what a rule may ask for is kept, bounded, and nothing of what was refused.
func TestRemember(t *testing.T) {
	rules, err := afterRule(t, "{kind: [execute]}", "{kind: [write], within: 10m}")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var impacts []interlock.Impact
	for range 10 {
		impacts = append(impacts, interlock.Impact{Kind: interlock.ImpactRead, Target: "r"},
			interlock.Impact{Kind: interlock.ImpactWrite, Target: strings.Repeat("w", 300)})
	}
	for verdict, want := range map[interlock.Verdict]int{interlock.Allow: 6, interlock.Ask: 6, interlock.Deny: 0, interlock.Halt: 0} {
		past, ok := rules.Remember(interlock.KindShell, interlock.Decision{Answer: verdict, Impacts: impacts}, now)
		if len(past.Impacts) != want || ok != (want > 0) {
			t.Errorf("answered %s: %d impacts, %v; want %d", verdict, len(past.Impacts), ok, want)
		}
		for _, i := range past.Impacts {
			if i.Kind != interlock.ImpactWrite || i.Target != "" {
				t.Errorf("answered %s: remembered %+v", verdict, i)
			}
		}
	}
	if _, ok := rules.Remember(interlock.KindShell, interlock.Decision{Answer: interlock.Allow, Impacts: impacts[:1]}, now); ok {
		t.Error("a read nobody asks for is remembered")
	}
	recent := []interlock.PastAction{wrote("a", now.Add(-11*time.Minute)), wrote("b", now.Add(-10*time.Minute)), wrote("c", now)}
	if kept := rules.Recent(recent, now); len(kept) != 2 || kept[0].Impacts[0].Target != "b" {
		t.Errorf("of three, the youngest of them as old as any rule asks for: %+v", kept)
	}
	none, err := ruleset.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.Remember(interlock.KindShell, interlock.Decision{Answer: interlock.Allow, Impacts: impacts}, now); ok || none.Recalls() {
		t.Error("without a rule that asks, something is remembered")
	}
}
