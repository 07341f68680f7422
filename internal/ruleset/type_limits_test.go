package ruleset_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// TestATypeLimits: what a type limits are limits like any other that concern its agents alone; caps ask from half of them on.
func TestATypeLimits(t *testing.T) {
	const document = `types:
  - name: clerk
    accountable: ada
    tools: ["*"]
    tier: 3
    models: [some-model-1]
    limits: [{id: clerks.calls, per: type, measure: external-calls, most: 9, within: 1h}]
    caps: {records: 100, money: {USD: 5000, EUR: 4000}}
  - {name: other, accountable: ada, tools: ["*"]}
`
	r, err := typed(t, document)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range r.Limits("guard", &interlock.AgentRecord{ID: "a", Type: "clerk"}) {
		got = append(got, fmt.Sprint(l.ID, " ", l.Per, " ", l.Measure, " ", l.Currency, l.Most, " ", time.Duration(l.Within), " ",
			l.EscalateAt, " ", l.Verdict))
	}
	want := []string{"cap.clerk.money.EUR agent money EUR4000 24h0m0s 50% deny", "cap.clerk.money.USD agent money USD5000 24h0m0s 50% deny",
		"cap.clerk.records agent records 100 24h0m0s 50% deny", "clerks.calls type external-calls 9 1h0m0s 0% deny"}
	if !slices.Equal(got, want) {
		t.Errorf("the clerk is bound by %q", got)
	}
	if others := r.Limits("guard", &interlock.AgentRecord{ID: "b", Type: "other"}); len(others) > 0 {
		t.Errorf("another type is bound by %v", others)
	}
	if own := r.TypeNamed("clerk"); !slices.Equal(own.Models, []string{"some-model-1"}) {
		t.Errorf("it reasons with %q", own.Models)
	}
	for tier, agent := range map[int]interlock.AgentRecord{3: {ID: "a", Type: "clerk"}, 0: {ID: "b", Type: "other"}} {
		if got := r.TierFor(agent); got != tier {
			t.Errorf("%s acts at tier %d", agent.ID, got)
		}
	}
	if r.HighestTier() != 3 {
		t.Errorf("the highest tier is %d", r.HighestTier())
	}
}

// TestALimitOfATypeIsLoosened: a lower cap of a type is no looser ruleset, and a higher one is.
func TestALimitOfATypeIsLoosened(t *testing.T) {
	rules := func(cap int) *ruleset.Ruleset {
		r, err := typed(t, fmt.Sprintf("types: [{name: clerk, accountable: ada, tools: [x], caps: {records: %d}}]", cap))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for to, want := range map[int][]string{10: nil, 5: nil, 11: {"limit cap.clerk.records"}, 0: {"limit cap.clerk.records"}} {
		if got, err := ruleset.Loosened(rules(10), rules(to)); err != nil || !slices.Equal(got, want) {
			t.Errorf("from 10 to %d: %q, %v", to, got, err)
		}
	}
}
