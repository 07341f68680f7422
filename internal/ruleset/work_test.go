package ruleset

import (
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/spec"
)

// manyRules is a document of n rules as operators write them: half of patterns and globs, half of conditions on impacts.
func manyRules(n int) []byte {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range n {
		match := fmt.Sprintf(`{pattern: '(?i)\btool%04d\s+--(?:wipe|drop)\b'}`, i)
		switch i % 4 {
		case 1:
			match = fmt.Sprintf(`{glob: ["service%04d deploy *"]}`, i)
		case 2:
			match = fmt.Sprintf(`{kind: [network], via: ["client%04d *"]}`, i)
		case 3:
			match = fmt.Sprintf(`{kind: [write], via: ["vault%04d"], traits: {none: [dry-run]}}`, i)
		}
		fmt.Fprintf(&b, "  - {id: team.r%04d, layer: 3, verdict: deny, reason: no, match: %s}\n", i, match)
	}
	return []byte(b.String())
}

// tried counts what is really done for one text and one impact: patterns run, states the automaton goes through, rules held against
// the impact.
func tried(t *testing.T, r *Ruleset, text string, impact interlock.Impact) (patterns, states, rules int) {
	t.Helper()
	work := r.Work([]Text{{interlock.KindShell, text}}, []interlock.Impact{impact})
	r.texts().matcher.machine().literals.find(foldText(text), func(int32) { states++ })
	return work.Patterns, states, work.Rules
}

// TestWorkDoesNotGrowWithRules: what gate 1 does for an action is counted and not timed: with twenty times the rules no more patterns are
// run, no more literals found and no more rules held against an impact, unless the action is what they are about (ASA 8.1).
func TestWorkDoesNotGrowWithRules(t *testing.T) {
	spec.Covers(t, "ASA-8.1-2")
	texts := []string{"git push origin main", "go test ./...", "tool0001 --help", "npm run deploy " + strings.Repeat("x ", 2000)}
	impacts := []interlock.Impact{
		{Kind: interlock.ImpactNetwork, Via: "git push", Traits: []string{"upload"}},
		{Kind: interlock.ImpactWrite, Via: "go test"},
		{Kind: interlock.ImpactDelete, Via: "rm", Traits: []string{"recursive"}},
	}
	type work struct{ patterns, literals, rules int }
	var first []work
	for _, n := range []int{100, 500, 2000} {
		r, err := Load(nil, map[string][]byte{"team.yaml": manyRules(n)})
		if err != nil {
			t.Fatal(err)
		}
		var all []work
		for _, text := range texts {
			for _, impact := range impacts {
				p, s, rules := tried(t, r, text, impact)
				all = append(all, work{p, s, rules})
			}
		}
		if first == nil {
			first = all
		}
		for i := range all {
			if all[i] != first[i] || all[i].patterns+all[i].rules > 4 {
				t.Errorf("with %d rules case %d does %+v, with 100 %+v", n, i, all[i], first[i])
			}
		}
		// A rule that is meant is found however many there are, by itself alone.
		last := fmt.Sprintf("tool%04d --wipe", n-4)
		if p, _, _ := tried(t, r, last, impacts[1]); p != 1 || len(r.MatchTexts(interlock.KindShell, []Text{{interlock.KindShell, last}})) != 1 {
			t.Errorf("with %d rules %q is held against %d patterns", n, last, p)
		}
	}
}

// TestLooksAreBounded: before the automaton is made conditions are looked for one by one, so many in all and no more.
func TestLooksAreBounded(t *testing.T) {
	r, err := Load(nil, map[string][]byte{"team.yaml": manyRules(500)})
	if err != nil {
		t.Fatal(err)
	}
	m := r.texts().matcher
	for range 100 {
		m.match(0, "git status", func(int) { t.Error("nothing is about this") })
	}
	if most := int32(maxLooks + len(m.conditions)); m.looks.Load() > most {
		t.Errorf("%d conditions were looked at one by one, at most %d may be", m.looks.Load(), most)
	}
}
