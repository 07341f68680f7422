package ruletest_test

import (
	"strings"
	"testing"

	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/spec"
)

// TestGovernance: who may order and answer what is as the shipped cases say, and every verb has what counts and what is refused.
func TestGovernance(t *testing.T) {
	spec.Covers(t, "MACE-9.1-1")
	cases, err := ruletest.ShippedGovernance()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range ruletest.Govern(cases) {
		t.Error(problem)
	}
	counts, refused := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if c.Order != nil && c.Want == "counts" {
			counts[c.Order.Verb] = true
		} else if c.Order != nil {
			refused[c.Order.Verb] = true
		}
	}
	for _, verb := range quorum.Verbs() {
		name := string(verb.Name)
		if strings.Contains("replay force-continue", name) { // which are cases of a replay
			continue
		}
		if !counts[name] || !refused[name] {
			t.Errorf("%s has no case that counts, or none that is refused", name)
		}
	}
	t.Logf("%d cases", len(cases))
}

// TestGovernanceTells: a case that wants otherwise than it is, or for another reason, is told.
func TestGovernanceTells(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"{case: a, order: {verb: unblock, by: operator, subject: c}, want: counts}",
			`governance: wants counts, is refused (unauthorized: this order needs an operator with the admin role): "a"`},
		{"{case: b, order: {verb: unblock, by: admin, subject: c}, want: refused}",
			`governance: wants refused, is counts: "b"`},
		{"{case: c, order: {verb: unblock, by: operator, subject: c}, want: refused, code: expired}",
			`governance: is refused for another reason: unauthorized: ` +
				`this order needs an operator with the admin role: "c"`},
		{"{case: d, order: {verb: unblock, by: operator, subject: c}, want: refused, says: council}",
			`governance: is refused for another reason: unauthorized: ` +
				`this order needs an operator with the admin role: "d"`},
		{"{case: e, request: {principal: alice, answers: [{by: operator, says: allow}]}, want: waits}",
			`governance: wants waits, is approved: "e"`},
		{"{case: f, order: {verb: unblock, by: admin, subject: c}, want: counts}",
			""},
		{"{case: g, request: {principal: alice, answers: [{by: operator, says: allow, signed: by}]}, want: approved}",
			""},
	} {
		text, want := test.text, test.want
		cases, err := ruleset.GovernanceCases("team.yaml", []byte("governance:\n  - "+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for _, problem := range ruletest.Govern(cases) {
			got += problem.String()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	for text, says := range map[string]string{
		"{order: {verb: unblock, by: a}, want: counts}":                     "says nothing of what it is",
		"{case: a, want: counts}":                                           "one of order, request and replay",
		"{case: a, order: {verb: unblock, by: a}, want: approved}":          "is one of",
		"{case: a, order: {verb: unblock, by: a}, want: counts, code: x}":   "only a refusal",
		"{case: a, order: {verb: unblock, by: a, age: soon}, want: counts}": "no length of time",
		"{case: a, order: {verb: unblock, by: a, hat: red}, want: counts}":  "hat",
	} {
		if _, err := ruleset.GovernanceCases("team.yaml", []byte("governance:\n  - "+text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
