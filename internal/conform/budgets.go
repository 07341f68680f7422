package conform

import (
	"context"
	"fmt"
	"strings"
)

func budgetChecks() []Check {
	return []Check{
		{IDs: []string{"EC-B-1"}, Drives: "reports over OTLP, HTTP API, log", Do: ladder},
		{IDs: []string{"EC-B-2"}, Drives: "reports over OTLP, HTTP API, an operator's commands, log", Do: economicBreaker},
	}
}

// budgeted is a home of its own at tier 2 where each agent may use a thousand tokens.
func budgeted(ctx context.Context, d *Driver, name string, agents ...string) (*House, error) {
	h, err := d.House(ctx, Plan{Name: name, Clocked: true, Rules: `
maso: {tier: 2, first_use: noted}
budgets:
  - {id: team.tokens, per: agent, measure: tokens, most: 1000, within: 1h}
`})
	if err != nil {
		return nil, err
	}
	return h, h.Agents(ctx, agents...)
}

// uses has an agent report how many tokens it has used since it last did; n numbers its reports.
func (h *House) uses(ctx context.Context, agent string, n, tokens int) Reply {
	point := map[string]any{"startTimeUnixNano": fmt.Sprint(n * 1000), "timeUnixNano": fmt.Sprint(n*1000 + 1000),
		"asInt":      fmt.Sprint(tokens),
		"attributes": []any{map[string]any{"key": "session.id", "value": map[string]any{"stringValue": "s1"}}}}
	metric := map[string]any{"name": "claude_code.token.usage", "sum": map[string]any{"aggregationTemporality": 1,
		"isMonotonic": true,
		"dataPoints":  []any{point}}}
	return h.Call(ctx, agent, "POST", "/otlp/v1/metrics", map[string]any{"resourceMetrics": []any{map[string]any{
		"scopeMetrics": []any{map[string]any{"metrics": []any{metric}}}}}})
}

// does is how a read and a change of an agent are answered.
func (h *House) does(ctx context.Context, agent string) string {
	return h.Decide(ctx, agent, Shell("ls")).Verdict + " " + h.Decide(ctx, agent, Shell("mkdir build")).Verdict
}

func ladder(ctx context.Context, d *Driver) (string, error) {
	h, err := budgeted(ctx, d, "ladder", "builder", "other")
	if err != nil {
		return "", err
	}
	used := 0
	for n, step := range []struct {
		to         int
		want, told string
	}{{490, "allow allow", ""}, {500, "allow allow", "notice"}, {750, "allow allow", "warn"}, {900, "allow ask", "throttle"},
		{950, "allow deny", "degrade"}, {1000, "deny deny", "stop"}} {
		for range 2 { // the same report again counts once
			if reply := h.uses(ctx, "builder", n+1, step.to-used); reply.Status != 200 {
				return "", fmt.Errorf("a report is answered %d %s", reply.Status, reply.Text)
			}
		}
		used = step.to
		if got := h.does(ctx, "builder"); got != step.want {
			return "", fmt.Errorf("with %d of 1000 used a read and a change are answered %s, not %s", used, got, step.want)
		}
		steps := h.Events(ctx, "BUDGET_STEP")
		if told := strings.Count(steps, `"step":"`+step.told+`"`); step.told != "" && told != 1 || strings.Count(steps,
			`"step":`) > n {
			return "", fmt.Errorf("with %d of 1000 used people are told %d times of %q: %s", used, told, step.told, steps)
		}
	}
	other := h.does(ctx, "other")
	return "at 50 and 75 per cent people are told, at 90 changes are asked about, at 95 denied, at 100 everything is; each " +
			"step is told once, what is " +
			"reported twice counts once, and another agent has its own", Unless(other == "allow allow", "another agent is answered %s",
			other)
}

func economicBreaker(ctx context.Context, d *Driver) (string, error) {
	h, err := budgeted(ctx, d, "economy", "builder", "thrifty")
	if err != nil {
		return "", err
	}
	h.uses(ctx, "builder", 1, 960)
	less := h.uses(ctx, "builder", 2, -900)
	lower := h.does(ctx, "builder")
	h.uses(ctx, "builder", 3, 100)
	for range 4 {
		if got := h.does(ctx, "builder"); got != "deny deny" {
			return "", fmt.Errorf("with nothing left it is answered %s", got)
		}
	}
	moved := h.Events(ctx, "BREAKER_TRIPPED") + h.Events(ctx, "PHASE_CHANGED")
	forbidden := h.Decide(ctx, "builder", Shell("rm -rf /"))
	if err := refusals(ctx, h, "builder", 3); err != nil {
		return "", err
	}
	tripped := h.Events(ctx, "BREAKER_TRIPPED")
	_, calm := h.Expect(ctx, "thrifty", Shell("ls"), "allow")
	return "what an agent reports never lowers its use; with its budget used up it is refused without a breaker or a phase " +
			"moving, and what the rules " +
			"forbid is refused for what it is and opens the security breaker all the same", First(calm,
			Unless(strings.Contains(less.Text, "rejectedDataPoints"), "a use below nothing is answered %d %s", less.Status, less.Text),
			Unless(lower == "allow deny", "after it said that it used less it is answered %s", lower),
			Unless(!strings.Contains(moved, "event_id"), "the budget moved a breaker or a phase: %s", moved),
			Unless(strings.Contains(forbidden.Text, "fs.delete-root"), "what is forbidden is refused for %s", forbidden.Text),
			Unless(strings.Contains(tripped, `"to":"open"`), "what was forbidden opened no breaker"))
}
