package gate_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

// TestReasonsNameTheObject: what is asked about stands in the reason: the effect, the object, what does it and where.
func TestReasonsNameTheObject(t *testing.T) {
	long := "/srv/" + strings.Repeat("x", 300) + "/end"
	for _, c := range []struct {
		impacts []interlock.Impact
		want    string
	}{
		{[]interlock.Impact{{Kind: "delete", Target: "web-1", Via: "kubectl delete", Reach: "production"},
			{Kind: "delete", Target: "web-2", Via: "kubectl delete", Reach: "production"}},
			"why: deletes web-1, web-2 (kubectl delete) in production"},
		{[]interlock.Impact{{Kind: "network", Target: "example.com:", Via: "scp", Reach: "external", Traits: []string{"upload"}}},
			"why: sends data to example.com (scp)"},
		{[]interlock.Impact{{Kind: "credential", Target: "~/.aws/credentials", Via: "cat", Reach: "home",
			Reversibility: "readonly"}}, "why: reads the secret ~/.aws/credentials (cat)"},
		{[]interlock.Impact{{Kind: "write", Target: "/etc/hosts", Via: ">", Reach: "system", Traits: []string{"append"}}}, "why: adds to /etc/hosts"},
		{[]interlock.Impact{{Kind: "spend", Target: "bob", Via: "pay", Amount: 1205, Reach: "external"}}, "why: spends 12.05 on bob (pay)"},
		{[]interlock.Impact{{Kind: "delete", Target: "a\nb\x1b[31m", Via: "rm", Reach: "home"}}, "why: deletes a b [31m (rm)"},
		{[]interlock.Impact{{Kind: "delete", Target: "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123", Via: "rm", Reach: "home"}}, "why: deletes [redacted] (rm)"},
	} {
		at := make([]int, 0, len(c.impacts))
		for n := range c.impacts {
			c.impacts[n].Confidence = interlock.Parsed
			if c.impacts[n].Reversibility == "" {
				c.impacts[n].Reversibility = interlock.Irreversible
			}
			at = append(at, n)
		}
		got := gate.Told(gate.Gates(), []interlock.Finding{{Verdict: interlock.Ask, Reason: "why", Impacts: at}}, interlock.Action{}, impact.Analysis{Impacts: c.impacts})
		if reason := got[0].Reason; reason != c.want && !(strings.Contains(c.want, "[redacted]") && !strings.Contains(reason, "ghp_")) {
			t.Errorf("%q, want %q", reason, c.want)
		}
	}
	analysis := impact.Analysis{}
	var at []int
	for n := range 1000 {
		analysis.Impacts = append(analysis.Impacts,
			interlock.Impact{Kind: "delete", Target: long + strings.Repeat("y", n), Reach: "home", Via: long,
				Reversibility: "irreversible", Confidence: "parsed"})
		at = append(at, n)
	}
	if got := gate.Told(gate.Gates(), []interlock.Finding{{Verdict: interlock.Deny, Reason: "why", Impacts: at}}, interlock.Action{},
		analysis); len([]rune(got[0].Reason)) > 300 || !strings.Contains(got[0].Reason, "more") {
		t.Errorf("the reason is not bounded: %s", got[0].Reason)
	}
}

// TestReasonsWithoutImpacts: a declared danger and a list name the tool or the command.
func TestReasonsWithoutImpacts(t *testing.T) {
	findings := func(gate string) []interlock.Finding {
		return []interlock.Finding{{Gate: gate, Verdict: interlock.Ask, Reason: "why"}, {Gate: gate, Verdict: interlock.Allow, Reason: "why not"}}
	}
	if got := gate.Told(gate.Gates(), findings("danger"), interlock.Action{Tool: "refund"}, impact.Analysis{}); got[0].Reason != "why: refund" || got[1].Reason != "why not" {
		t.Error(got)
	}
	if got := gate.Told(gate.Gates(), findings("policy"), interlock.Action{},
		impact.Analysis{Texts: []fact.Text{{Kind: "shell", Value: "wipe all"}}}); got[0].Reason != "why: wipe all" {
		t.Error(got)
	}
	if got := gate.Told(gate.Gates(), findings("loop"), interlock.Action{Tool: "refund"}, impact.Analysis{}); got[0].Reason != "why" {
		t.Error(got)
	}
}

// TestNoReasonHoldsASecret: whichever way a name comes into a reason, a secret in it does not, not even a piece of one that was
// cut off.
func TestNoReasonHoldsASecret(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"
	for _, i := range []interlock.Impact{
		{Kind: "execute", Target: "${X}" + secret, Confidence: interlock.Unknown, Traits: []string{fact.TraitDynamic}},
		{Kind: "delete", Target: secret, Via: "python3", Confidence: interlock.Unknown, Traits: []string{fact.TraitInline}},
		{Kind: "write", Target: secret, Via: "perl", Confidence: interlock.Unknown, Traits: []string{fact.TraitInline}},
		{Kind: "execute", Target: secret, Via: "ruby", Confidence: interlock.Unknown, Traits: []string{fact.TraitInline, fact.TraitUnsupported}},
		{Kind: "execute", Target: strings.Repeat("x/", 570) + secret, Confidence: interlock.Unknown, Traits: []string{fact.TraitDynamic}},
	} {
		i.Reach, i.Reversibility = interlock.ReachWorkspace, interlock.Reversible
		analysis := impact.Analysis{Impacts: []interlock.Impact{i}}
		found := gate.Unknown(nil, interlock.Snapshot{}, interlock.Action{}, analysis)
		reason := gate.Told(gate.Gates(), found, interlock.Action{}, analysis)[0].Reason
		if strings.Contains(reason, "abcdefghij") || strings.Contains(reason, "ghp_abc") {
			t.Errorf("%s: %s", i.Target, reason)
		}
		found = gate.Told(gate.Gates(), []interlock.Finding{{Verdict: interlock.Ask, Reason: "why", Impacts: []int{0}}}, interlock.Action{}, analysis)
		if strings.Contains(found[0].Reason, "abcdefghij") {
			t.Errorf("%s: %s", i.Target, found[0].Reason)
		}
	}
}
