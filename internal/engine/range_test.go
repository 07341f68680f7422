package engine

import (
	"encoding/json"
	"testing"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// TestRanges: a pre-approved range answers what is asked of production and of others within its bounds, and nothing that is asked for
// another reason or that lies outside of them.
func TestRanges(t *testing.T) {
	spec.Covers(t, "EC-AC-1", "EC-AC-2")
	rules, err := ruleset.Load(shippedFiles(t), map[string][]byte{"t.yaml": []byte("maso: {tier: 2}\n")})
	if err != nil {
		t.Fatal(err)
	}
	spend := interlock.Impact{Kind: interlock.ImpactSpend, Reach: interlock.ReachExternal, Reversibility: interlock.Window,
		Confidence: interlock.Inferred, Via: "refund", Money: 2000, Currency: "EUR"}
	write := interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachProduction, Reversibility: interlock.Window,
		Confidence: interlock.Inferred, Via: "refund"}
	final := write
	final.Reversibility = interlock.Irreversible
	dollars, unknown, secret := spend, spend, write
	dollars.Currency, unknown.Money, secret.Kind = "USD", 0, interlock.ImpactCredential
	asks := func(gate string) []interlock.Finding {
		return []interlock.Finding{{Gate: gate, Rule: gate + ".x", Layer: 3, Verdict: interlock.Ask, Reason: "x", Impacts: []int{0}}}
	}
	condition := func(name, operator, value string) interlock.Condition {
		return interlock.Condition{Parameter: name, Operator: operator, Value: json.RawMessage(value)}
	}
	within := interlock.Grant{ID: "grt_1", Kind: interlock.KindTool, Tool: "refund", Created: noon.Add(-time.Hour), Expires: noon.Add(time.Hour),
		Conditions: []interlock.Condition{condition("amount", "<=", "50"), condition("currency", "in", `["EUR"]`), condition("to", "matches", `"c-*"`)},
		Range:      &interlock.Range{Type: "clerk", Free: []string{"note"}, Currency: "EUR", Most: 5000}}
	const good = `{"amount":20,"currency":"EUR","to":"c-1","note":"thanks"}`
	for name, test := range map[string]struct {
		arguments string
		impacts   []interlock.Impact
		findings  []interlock.Finding
		edit      func(*question)
		answered  bool
	}{
		"money within its bounds": {arguments: good, impacts: []interlock.Impact{spend}, answered: true},
		"a write to production":   {arguments: good, impacts: []interlock.Impact{write}, answered: true},
		"beside a read": {arguments: good, impacts: []interlock.Impact{write, {Kind: interlock.ImpactRead,
			Reversibility: interlock.Readonly, Confidence: interlock.Parsed, Reach: interlock.ReachExternal}}, answered: true},
		"the bound itself":          {arguments: `{"amount":50,"currency":"EUR","to":"c-1"}`, impacts: []interlock.Impact{spend}, answered: true},
		"beyond a bound":            {arguments: `{"amount":51,"currency":"EUR","to":"c-1"}`, impacts: []interlock.Impact{spend}},
		"none of the set":           {arguments: `{"amount":20,"currency":"USD","to":"c-1"}`, impacts: []interlock.Impact{spend}},
		"another prefix":            {arguments: `{"amount":20,"currency":"EUR","to":"x-1"}`, impacts: []interlock.Impact{spend}},
		"a bound argument missing":  {arguments: `{"amount":20,"currency":"EUR"}`, impacts: []interlock.Impact{spend}},
		"an argument of its own":    {arguments: `{"amount":20,"currency":"EUR","to":"c-1","force":true}`, impacts: []interlock.Impact{spend}},
		"another type of argument":  {arguments: `{"amount":"twenty","currency":"EUR","to":"c-1"}`, impacts: []interlock.Impact{spend}},
		"more money in all":         {arguments: good, impacts: []interlock.Impact{spend, spend, spend}},
		"another currency":          {arguments: good, impacts: []interlock.Impact{dollars}},
		"an amount that is unknown": {arguments: good, impacts: []interlock.Impact{unknown}},
		"what can't be undone":      {arguments: good, impacts: []interlock.Impact{write, final}},
		"a secret":                  {arguments: good, impacts: []interlock.Impact{secret}},
		"the first use":             {arguments: good, impacts: []interlock.Impact{write}, findings: asks("first-use")},
		"half a cap":                {arguments: good, impacts: []interlock.Impact{write}, findings: asks("limit")},
		"what a judge flags":        {arguments: good, impacts: []interlock.Impact{write}, findings: asks("judge")},
		"a phase":                   {arguments: good, impacts: []interlock.Impact{write}, findings: asks("phase")},
		"a gate that nobody knows":  {arguments: good, impacts: []interlock.Impact{write}, findings: asks("strange")},
		"what is denied": {arguments: good, impacts: []interlock.Impact{write}, findings: []interlock.Finding{
			{Gate: "rules", Rule: "x", Layer: 3, Verdict: interlock.Deny, Reason: "x", Impacts: []int{0}}}},
		"what layer 2 asks": {arguments: good, impacts: []interlock.Impact{write}, findings: []interlock.Finding{
			{Gate: "rules", Rule: "x", Layer: 2, Verdict: interlock.Ask, Reason: "x", Impacts: []int{0}}}},
		"another type":     {arguments: good, impacts: []interlock.Impact{write}, edit: func(q *question) { q.snapshot.Agent.Type = "other" }},
		"another tool":     {arguments: good, impacts: []interlock.Impact{write}, edit: func(q *question) { q.action.Tool = "refund_all" }},
		"its time is over": {arguments: good, impacts: []interlock.Impact{write}, edit: func(q *question) { q.now = noon.Add(time.Hour) }},
		"a command": {arguments: good, impacts: []interlock.Impact{write},
			edit: func(q *question) { q.action = interlock.Action{Kind: interlock.KindShell, Input: "refund"} }},
		"only watched mode": {arguments: good, impacts: []interlock.Impact{write}, edit: func(q *question) { q.snapshot.Mode = interlock.Monitoring }},
	} {
		q := question{rules: rules, snapshot: standing(), now: noon, findings: test.findings, analysis: impact.Analysis{Impacts: test.impacts},
			action: interlock.Action{Kind: interlock.KindTool, Tool: "refund", Arguments: json.RawMessage(test.arguments)}}
		q.snapshot.Agent = interlock.AgentRecord{ID: "one", Type: "clerk", Principal: "pat", Trust: interlock.TrustValidated,
			Created: noon.Add(-time.Hour)}
		q.snapshot.Grants = []interlock.Grant{within}
		if test.edit != nil {
			test.edit(&q)
		}
		d := q.decide()
		if (d.Grant != "") != test.answered || test.answered && d.Answer != interlock.Allow || !test.answered && d.Verdict == interlock.Allow {
			t.Errorf("%s: %v answered %v by grant %q: %+v", name, d.Verdict, d.Answer, d.Grant, d.Findings)
		}
	}
}
