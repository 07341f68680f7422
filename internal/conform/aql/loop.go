package aql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/conform"
)

func loopChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.7.2-1"}, Drives: "introspect, MCP to the limit of steps and beyond it, an operator's yes", Do: stepLimit},
		{IDs: []string{"AQL-8.7.2-2"}, Drives: "MCP", Do: failurePauses},
		{IDs: []string{"AQL-8.7.2-3", "AQL-SL-5.2"}, Drives: "MCP with hints that patterns name", Do: patterns},
		{IDs: []string{"AQL-8.7.2-4"}, Drives: "MCP, log", Do: tiers},
		{IDs: []string{"AQL-8.7.2-5"}, Drives: "MCP as agents of each tolerance", Do: tolerances},
		{IDs: []string{"AQL-8.7.4"}, Drives: "introspect and MCP as agents with settings of their own", Do: ownLoop},
		{IDs: []string{"AQL-D-8.3", "AQL-D-9.3"}, Drives: "MCP, log", Do: repetition},
		{IDs: []string{"AQL-D-9.4"}, Drives: "MCP, log", Do: factors},
	}
}

// loopRules set the loop, for everybody and for some.
const loopRules = `
policy:
  deny: ["shred *", "delete_all_herons*"]
  requiresApproval: ["*deploy*", "shred notes*"]
  autoApprove: ["make *", "shred notes deploy*", "rm heron-safe*"]
loop:
  max_autonomous_steps: 3
  agents:
    - {agent: "careful*", max_autonomous_steps: 2, tolerance: conservative, policy: {deny: ["touch heron*"]}}
    - {agent: "bold*", max_autonomous_steps: 20, tolerance: aggressive}
`

// looped is the home of these rules.
func looped(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql-loop", Clocked: true, Rules: loopRules})
}

func stepLimit(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "limited")
	defer c.Close()
	begin(c, "task")
	loop := conform.Reply{Text: do(c, "introspect", params{"query": "operations"}).Member("data._protocol.safety_loop")}
	w.unless(loop.Member("maxAutonomousSteps") == "3" && loop.Member("defaults.maxAutonomousSteps") == "3",
		"introspection says %s, by default %s",
		loop.Member("maxAutonomousSteps"), loop.Member("defaults.maxAutonomousSteps"))
	for n := range 3 {
		w.unless(goesOn(step(c, "task", fmt.Sprintf("reading page-%d", n))), "step %d of 3 does not go on", n+1)
	}
	over := step(c, "task", "reading page-4")
	w.unless(holds(over) && strings.Contains(over.Member("data.reason"), "Step limit") && over.Member("data.request_id") != "",
		"step 4: %s", over.Text)
	_, yes := h.Order(ctx, "ada", "approve", over.Member("data.request_id"))
	w.error(yes)
	w.unless(goesOn(step(c, "task", "reading page-4")), "after an operator's yes it does not go on")
	plainHome, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	other := connect(ctx, plainHome, "default-limit", "--endpoints", "single")
	defer other.Close()
	limit, err := strconv.Atoi(do(other, "introspect",
		params{"query": "operations"}).Member("data._protocol.safety_loop.defaults.maxAutonomousSteps"))
	w.unless(err == nil && limit > 0 && limit < 100, "the default is documented as %d: %v", limit, err)
	all := []any{params{"operation": "execute_agent", "params": params{"element_name": "task"}}}
	for n := range min(max(limit, 0), 98) + 1 {
		all = append(all, params{"operation": "record_execution_step", "params": params{"element_name": "task",
			"next_action_hint": fmt.Sprintf("reading page-%d", n)}})
	}
	many := other.Tool("mcp_aql", params{"operations": all})
	at := func(n int) string { return many.Member(fmt.Sprintf("results.%d.result.data.continue", n)) }
	w.unless(at(limit) == "true" && at(limit+1) == "false", "step %d is answered %q, the next one %q", limit, at(limit), at(limit+1))
	return fmt.Sprintf("set to 3, the fourth step waits for a human; by default %d, as introspection says, and the next one waits",
		limit), w.err()
}

func failurePauses(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "failing")
	defer c.Close()
	var w wrong
	begin(c, "task")
	for _, outcome := range []string{"success", "skipped"} {
		step(c, "task", "git status")
		w.unless(goesOn(step(c, "task", "git log", "outcome", outcome)), "after %s it does not go on", outcome)
	}
	r := step(c, "task", "git diff", "outcome", "failure")
	w.unless(holds(r) && strings.Contains(r.Member("data.reason"), "failed"), "after a failure: %s", r.Text)
	return "a reported failure pauses, success and skipped do not", w.err()
}

func patterns(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := inMode(ctx, d, "monitoring")
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "bold-patterned")
	defer c.Close()
	var w wrong
	begin(c, "task")
	listed := []string{"rule policy.deny", "rule policy.requires-approval"}
	for hint, want := range map[string][]string{
		"shred notes.txt": {"(deny, rule policy.deny)"},
		"SHRED Notes.txt": {"(deny, rule policy.deny)"},
		"Next I will call DELETE-ALL-HERONS on the tenant.":  {"(deny, rule policy.deny)"},
		"To make room I will run `shred notes.txt` at once.": {"(deny, rule policy.deny)"},
		"shred notes deploy.txt":                             {"(deny, rule policy.deny)"},
		"Terraform deploy":                                   {"(ask, rule policy.requires-approval)"},
		"make deploy-docs":                                   {"(ask, rule policy.requires-approval)"},
		"make lint":                                          nil,
		"I will not shred notes.txt.":                        nil,
		"reading README.md":                                  nil,
	} {
		r := step(c, "task", hint)
		told := r.Member("data.factors")
		for _, f := range want {
			w.unless(strings.Contains(told, f), "%s: %s", hint, told)
		}
		for _, f := range listed {
			w.unless(len(want) > 0 || !strings.Contains(told, f), "%s: %s", hint, told)
		}
	}
	enforcing, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	for agent, tc := range map[string]struct {
		hint string
		is   func(conform.Reply) bool
	}{"denied": {"shred notes deploy.txt", stops}, "asked": {"make deploy-docs", holds}, "approved": {"make lint", goesOn}} {
		c := connect(ctx, enforcing, "pattern-"+agent)
		r := acts(c, tc.hint)
		c.Close()
		w.unless(tc.is(r), "%s: %s", tc.hint, r.Text)
	}
	e := connect(ctx, enforcing, "careful-evaluated")
	defer e.Close()
	safe, scored := acts(e, "rm heron-safe.o"), step(e, "task", "rm heron.o")
	w.unless(goesOn(safe) && holds(scored), "of two deletions the one that is approved is answered %s, the other %s", safe.Text,
		scored.Text)
	return "deny before requiresApproval before autoApprove before evaluation, in any case, on the hint and what it names", w.err()
}

// risks is what picks risk and tier of a directive that nothing objects to.
var risks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(risk (\d+), (\w+(?: zone)?)\)|risk score of (\d+)`)
})

// decided is the newest decision about a step whose text holds something.
func decided(ctx context.Context, h *conform.House, holds string) conform.Reply {
	for line := range strings.Lines(h.CLI(ctx, "", "audit", "list", "--json").Out) {
		var entry struct {
			Event struct{ Payload json.RawMessage }
		}
		if strings.Contains(line, `"decision"`) && strings.Contains(line, holds) && json.Unmarshal([]byte(line), &entry) == nil {
			return conform.Reply{Text: string(entry.Event.Payload)}
		}
	}
	return conform.Reply{}
}

func tiers(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := inMode(ctx, d, "monitoring")
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "bold-tiers")
	defer c.Close()
	var w wrong
	begin(c, "task")
	var seen []string
	bounds := conform.Reply{Text: do(c, "introspect", params{"query": "operations"}).Member("data._protocol.safety_loop.tiers")}
	w.unless(bounds.Member("advisory") == "[0,30]" && bounds.Member("confirm") == "[31,60]" &&
		bounds.Member("verify") == "[61,85]" &&
		bounds.Member("danger_zone") == "[86,100]", "introspection has the tiers %s", bounds.Text)
	for _, hint := range []string{"reading heron-tiers.md", "rm heron-tiers.o", "calling purge_heron_tiers on the web server",
		"calling drop_heron_tiers on the database"} {
		r := step(c, "task", hint)
		event := decided(ctx, h, hint)
		risk, err := strconv.Atoi(event.Member("decision.risk"))
		tier := r.Member("data.nextStepRisk")
		w.unless(err == nil && tierOf(risk) == tier && cmp.Or(event.Member("decision.tier"), "advisory") == tier,
			"%s scores %s, and is in %s, recorded as %s: %v", hint,
			event.Member("decision.risk"), tier, event.Member("decision.tier"), err)
		seen = append(seen, fmt.Sprintf("%s %d", tier, risk))
	}
	for n, tier := range []string{"advisory", "confirm", "verify", "danger_zone"} {
		w.unless(strings.HasPrefix(seen[n], tier+" "), "%s is expected at %s", tier, seen[n])
	}
	return "scores and tiers of four steps: " + strings.Join(seen, ", "), w.err()
}

// tierOf is the tier of a score, as danger levels 8.1 has them.
func tierOf(risk int) string {
	switch {
	case risk < 0 || risk > 100:
		return "none"
	case risk <= 30:
		return "advisory"
	case risk <= 60:
		return "confirm"
	case risk <= 85:
		return "verify"
	}
	return "danger_zone"
}

func tolerances(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	watched, err := inMode(ctx, d, "monitoring")
	if err != nil {
		return "", err
	}
	var w wrong
	const low, high = "rm heron.o", "git push --force origin main"
	for agent, tc := range map[string]struct {
		tolerance      string
		atLow, atLarge bool
	}{"careful-one": {"25", true, true}, "moderate-one": {"50", false, true}, "bold-one": {"75", false, false}} {
		c := connect(ctx, h, agent)
		r := acts(c, low)
		w.unless(holds(r) == tc.atLow && goesOn(r) != tc.atLow, "%s, %s: %s", tc.tolerance, low, r.Text)
		told := do(c, "introspect", params{"query": "operations"}).Member("data._protocol.safety_loop.tolerance")
		w.unless(told == tc.tolerance, "it is told as %s instead of %s", told, tc.tolerance)
		c.Close()
		m := connect(ctx, watched, agent)
		for hint, over := range map[string]bool{low: tc.atLow, high: tc.atLarge} {
			begin(m, hint)
			factors := step(m, hint, hint).Member("data.factors")
			w.unless(strings.Contains(factors, "rule loop.tolerance") == over, "%s, %s: %s", tc.tolerance, hint, factors)
		}
		m.Close()
	}
	return "a score of a deletion pauses the conservative alone, one of a forced push the moderate as well, neither the aggressive",
		w.err()
}

func ownLoop(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for agent, want := range map[string][3]string{"careful-own": {"2", "25", "true"}, "bold-own": {"20", "75", "false"},
		"any-own": {"3", "50", "false"}} {
		c := connect(ctx, h, agent)
		loop := conform.Reply{Text: do(c, "introspect", params{"query": "operations"}).Member("data._protocol.safety_loop")}
		denies := fmt.Sprint(strings.Contains(loop.Member("patterns.deny"), "touch heron*"))
		w.unless(loop.Member("maxAutonomousSteps") == want[0] && loop.Member("tolerance") == want[1] && denies == want[2],
			"%s is told %s steps, %s, its own pattern %s", agent, loop.Member("maxAutonomousSteps"), loop.Member("tolerance"), denies)
		for _, list := range []string{"deny", "requiresApproval", "autoApprove"} {
			w.unless(loop.Member("patterns."+list+".0") != "", "%s is told no patterns of %s", agent, list)
		}
		r := acts(c, "touch heron.txt")
		w.unless(stops(r) == (want[2] == "true") && goesOn(r) == (want[2] == "false"), "%s by its own pattern: %s", agent, r.Text)
		w.unless(r.Member("data.stepsRemaining") == map[string]string{"careful-own": "2", "bold-own": "19", "any-own": "2"}[agent],
			"%s has %s steps left", agent,
			r.Member("data.stepsRemaining"))
		c.Close()
	}
	return "three agents have steps, tolerance and patterns of their own, introspection tells each its own, and they count", w.err()
}

// rising is a home in which repetition and several factors count.
func rising(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql-rising", Clocked: true, Rules: `
loop:
  escalation:
    - {id: many, match: {kind: [delete]}, times: 3, within: 10m, level: dangerous, reason: too many deletions}
  score:
    - {id: first, match: {via: ["git status", "git log"]}, add: 11, say: it is about the repository}
    - {id: second, match: {via: ["git log"]}, add: 7, say: it is about history}
`})
}

func repetition(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := rising(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for pause, escalates := range map[string]bool{"1s": true, "6m": false} {
		c := connect(ctx, h, "repeating-"+pause)
		begin(c, "task")
		var last conform.Reply
		for n := range 3 {
			last = step(c, "task", fmt.Sprintf("rm heron%d-%s.o", n, pause))
			w.unless(n == 2 || goesOn(last), "deletion %d, every %s: %s", n+1, pause, last.Text)
			if pause == "6m" {
				h.Pass(6 * 60e9)
			}
		}
		c.Close()
		declared := decided(ctx, h, "heron2-"+pause).Member("decision.danger")
		w.unless(holds(last) == escalates && strings.Contains(last.Member("data.factors"), "too many deletions") == escalates,
			"the third, every %s: %s", pause,
			last.Text)
		w.unless(declared == "destructive", "the declared level became %s", declared)
		w.unless((last.Member("data.nextStepRisk") == "verify") == escalates, "the third, every %s, is in the tier %s", pause,
			last.Member("data.nextStepRisk"))
	}
	return "the third deletion within ten minutes waits for a code as dangerous, its declared level stays destructive; spread over more time it passes", w.err()
}

func factors(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := rising(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "adding")
	defer c.Close()
	var w wrong
	score := func(hint string) int {
		step(c, "task", hint)
		n, err := strconv.Atoi(decided(ctx, h, hint).Member("decision.risk"))
		w.error(err)
		return n
	}
	begin(c, "task")
	none, one, both := score("cat heron.md"), score("git status heron"), score("git log heron")
	w.unless(one == none+11 && both == none+18, "without factors %d, with one of 11 %d, with that and one of 7 %d", none, one, both)
	return fmt.Sprintf("scores of %d, %d and %d, as no, one and two factors add up", none, one, both), w.err()
}
