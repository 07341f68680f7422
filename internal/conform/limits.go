package conform

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

func limitChecks() []Check {
	return []Check{
		{IDs: []string{"EC-2.3", "EC-T2.3"}, Drives: "HTTP API, an operator's commands, log", Do: caps},
	}
}

// managed is a home of its own at tier 2.
func managed(ctx context.Context, d *Driver, name string) (*House, error) {
	return d.House(ctx, Plan{Name: name, Clocked: true, Rules: `
maso: {tier: 2, first_use: noted}
limits:
  - {id: team.records, per: agent, measure: records, unknown: 1, most: 3, escalate_at: 100%, match: {kind: [read]}}
  - {id: team.money, per: agent, measure: money, currency: EUR, most: 1000, escalate_at: 100%}
  - {id: team.calls, per: agent, measure: external-calls, most: 2, escalate_at: 100%}
`})
}

func caps(ctx context.Context, d *Driver) (string, error) {
	h, err := managed(ctx, d, "caps")
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "records", "money", "crowd"); err != nil {
		return "", err
	}
	payment := Tool("make_payment", map[string]any{"to": "a", "amount": 2000, "currency": "EUR"})
	asked, err := h.Expect(ctx, "money", payment, "ask") // money is always asked about
	if err != nil {
		return "", err
	}
	if _, err := h.Order(ctx, "ada", "approve", asked.Request); err != nil {
		return "", err
	}
	money, err := h.Expect(ctx, "money", payment, "deny")
	if err != nil {
		return "", err
	}
	for n := range 3 {
		if _, err := h.Expect(ctx, "records", Shell(fmt.Sprint("cat record-", n)), "allow"); err != nil {
			return "", err
		}
	}
	over, err := h.Expect(ctx, "records", Shell("cat record-4"), "deny")
	if err != nil {
		return "", err
	}
	passed, crowd := h.crowd(ctx, "crowd")
	phases := h.CLI(ctx, "", "phase", "show", "--json").Out
	events := h.Events(ctx, "PHASE_CHANGED")
	return fmt.Sprintf("three records pass, the fourth and a payment beyond the cap are denied, of %d at once exactly %d pass, and the agents are in "+
			"phase A by the cap", crowd, passed), First(Unless(passed == 3, "of %d at once %d passed", crowd, passed),
			Unless(over.Rule == "limit.team.records", "the fourth is refused by %s", over.Rule),
			Unless(money.Rule == "limit.team.money", "the payment is refused by %s", money.Rule),
			Unless(strings.Contains(phases, `"agent:records"`) && strings.Contains(phases, `"agent:money"`), "no phase was raised: %s", phases),
			Unless(strings.Contains(events, `"trigger":"cap"`), "the log does not say by what: %s", events))
}

// crowd has an agent ask for many records at once, and returns how many passed of how many.
func (h *House) crowd(ctx context.Context, agent string) (passed, of int) {
	const callers = 40
	answers := make([]string, callers)
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() { answers[n] = h.Decide(ctx, agent, Shell(fmt.Sprint("cat record-", n))).Answer })
	}
	all.Wait()
	for _, a := range answers {
		if a == "allow" {
			passed++
		}
	}
	return passed, callers
}
