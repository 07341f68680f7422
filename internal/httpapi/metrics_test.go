package httpapi

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/spec"
)

// No caller can make further series: findings of rules nobody loaded are counted together.
func TestRuleHitsAreBounded(t *testing.T) {
	m := newMetrics(time.Time{}, Build{}, func() InForce { return InForce{Rules: []string{"t.b", "t.a", "t.never"}} })
	found := func(rule string, v interlock.Verdict) interlock.Finding {
		return interlock.Finding{Rule: rule, Verdict: v}
	}
	for range 3 {
		m.decision(interlock.KindShell, &interlock.Answer{Decision: interlock.Decision{Findings: []interlock.Finding{
			found("t.a", interlock.Deny), found("t.b", interlock.Ask), found("made.up-1", interlock.Deny), found("made.up-2", interlock.Deny),
			found("t.b", interlock.Allow)}}}, time.Millisecond)
	}
	var page exposition
	m.write(&page)
	var got []string
	for line := range strings.Lines(page.String()) {
		if strings.HasPrefix(line, "interlock_rule_hits_total{") {
			got = append(got, strings.TrimSpace(strings.TrimPrefix(line, "interlock_rule_hits_total")))
		}
	}
	want := `{rule="t.a",verdict="deny"} 3;{rule="t.b",verdict="allow"} 3;{rule="t.b",verdict="ask"} 3;{rule="other",verdict="deny"} 6`
	if have := strings.Join(got, ";"); have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

// What other rules object to is counted from when they come into force, and what those of before objected to stays counted.
func TestRuleHitsOfRulesThatChange(t *testing.T) {
	now := InForce{Ruleset: "one", Rules: []string{"t.a"}}
	m := newMetrics(time.Time{}, Build{}, func() InForce { return now })
	decide := func(ruleset interlock.Digest, rules ...string) {
		d := interlock.Decision{Ruleset: ruleset}
		for _, rule := range rules {
			d.Findings = append(d.Findings, interlock.Finding{Rule: rule, Verdict: interlock.Deny})
		}
		m.decision(interlock.KindShell, &interlock.Answer{Decision: d}, time.Millisecond)
	}
	decide("one", "t.a", "t.b")
	now = InForce{Ruleset: "two", Rules: []string{"t.b"}}
	decide("one", "t.a")
	decide("two", "t.b", "t.c")
	decide("", "t.b")
	var page exposition
	m.write(&page)
	for _, want := range []string{`interlock_rule_hits_total{rule="t.a",verdict="deny"} 2`, `interlock_rule_hits_total{rule="t.b",verdict="deny"} 2`,
		`interlock_rule_hits_total{rule="other",verdict="deny"} 2`, `ruleset="two"`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s in\n%s", want, page.String())
		}
	}
}

// TestDenialsByGate: what the deterministic gate and what the judge denied are told apart, by kind of action, and what was only asked is
// neither's.
func TestDenialsByGate(t *testing.T) {
	spec.Covers(t, "ASA-17.3-1")
	m := newMetrics(time.Time{}, Build{}, nil)
	for _, tc := range []struct {
		kind interlock.Kind
		gate string
		v    interlock.Verdict
	}{{interlock.KindShell, "rules", interlock.Deny}, {interlock.KindShell, "self", interlock.Halt}, {interlock.KindSQL, "judge", interlock.Deny},
		{interlock.KindSQL, "rules", interlock.Ask}} {
		m.decision(tc.kind, &interlock.Answer{Decision: interlock.Decision{Verdict: tc.v, Answer: interlock.Deny,
			Findings: []interlock.Finding{{Gate: tc.gate, Rule: "r", Verdict: tc.v}}}}, time.Millisecond)
	}
	var page exposition
	m.write(&page)
	for _, want := range []string{`interlock_denials_total{gate="1",kind="shell"} 2`, `interlock_denials_total{gate="2",kind="sql"} 1`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(page.String(), "interlock_denials_total{") != 2 {
		t.Error("something else is counted as a denial")
	}
}
