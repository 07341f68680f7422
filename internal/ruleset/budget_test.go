package ruleset_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/ruleset"
)

func budgets(t *testing.T, text string) (*ruleset.Ruleset, error) {
	t.Helper()
	return ruleset.Load(nil, map[string][]byte{"team.yaml": []byte("budgets:\n" + text)})
}

// TestBudgetsAreChecked: what a budget can't be is refused with its field.
func TestBudgetsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"  - {id: Team, per: agent, measure: tokens, most: 1}":                                                 "id must be",
		"  - {id: a.b, per: nobody, measure: tokens, most: 1}":                                                 "per must be one of",
		"  - {id: a.b, per: agent, measure: actions, most: 1}":                                                 "give tokens or money",
		"  - {id: a.b, per: agent, measure: money, most: 1}":                                                   "ISO 4217",
		"  - {id: a.b, per: agent, measure: tokens, currency: USD, most: 1}":                                   "only money has a currency",
		"  - {id: a.b, per: agent, measure: tokens, most: 0}":                                                  "a budget of nothing",
		"  - {id: a.b, per: agent, measure: tokens, most: -1}":                                                 "most must be",
		"  - {id: a.b, per: agent, measure: tokens, most: 1, within: 1ms}":                                     "within must be",
		"  - {id: a.b, per: agent, measure: tokens, most: 1, agents: [\"\"]}":                                  "the glob is empty",
		"  - {id: a.b, per: agent, measure: tokens, most: 1, warn_at: 3%}":                                     "warn_at",
		"  - {id: a.b, per: run, measure: tokens, most: 1}\n  - {id: a.b, per: run, measure: tokens, most: 1}": "already",
	} {
		if _, err := budgets(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	r, err := budgets(t, "  - {id: a.b, per: run, measure: money, currency: JPY, most: 5000}")
	if err != nil || len(r.AllBudgets()) != 1 || r.AllBudgets()[0].Window() == 0 {
		t.Fatalf("%v: %v", r, err)
	}
}

// TestBudgetsLoosened: less, or for more agents, is stricter for nobody to be asked; what leaves more is named.
func TestBudgetsLoosened(t *testing.T) {
	const was = "  - {id: a.b, per: agent, measure: tokens, most: 100, within: 1h}"
	for text, want := range map[string]bool{
		was: false,
		"  - {id: a.b, per: agent, measure: tokens, most: 90, within: 1h}":                   false,
		"  - {id: a.b, per: agent, measure: tokens, most: 101, within: 1h}":                  true,
		"  - {id: a.b, per: agent, measure: tokens, most: 100, within: 30m}":                 true,
		"  - {id: a.b, per: agent, measure: tokens, most: 100, within: 1h, agents: [\"x\"]}": true,
		"  - {id: a.c, per: agent, measure: tokens, most: 100, within: 1h}":                  true,
	} {
		from, err := budgets(t, was)
		if err != nil {
			t.Fatal(err)
		}
		to, err := budgets(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if less, err := ruleset.Loosened(from, to); err != nil || (len(less) > 0) != want {
			t.Errorf("%s: %v, %v", text, less, err)
		}
	}
}

// TestBudgetSteps: the ladder is MASO's, and each budget is counted for those it says.
func TestBudgetSteps(t *testing.T) {
	r, err := budgets(t, "  - {id: a.type, per: type, measure: tokens, most: 200}\n  - {id: b.one, per: agent, measure: tokens, most: "+
		"1, agents: [clerk]}")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := r.Budget("a.type")
	for used, want := range map[int64]string{0: "", 99: "", 100: "notice", 149: "notice", 150: "warn", 180: "throttle", 189: "throttle", 190: "degrade",
		199: "degrade", 200: "stop", 1 << 52: "stop"} {
		if step := b.Step(used); step.Name != want {
			t.Errorf("%d of 200 is %q, want %q", used, step.Name, want)
		}
	}
	agent := interlock.AgentRecord{ID: "builder", Type: "maker"}
	if of := r.Budgets("guard", &agent); len(of) != 1 || of[0].Taken(interlock.Requester{Agent: "builder"}, &agent, 3).Of[0] != "maker" {
		t.Errorf("%+v", of)
	}
}
