package mace

import (
	"context"
	"strings"

	"interlock/internal/conform"
)

func limitChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-7-1"}, Drives: "HTTP API, log", Do: quota},
		{IDs: []string{"MACE-7-2", "MACE-7-3"}, Drives: "HTTP API, log", Do: misuse},
	}
}

// limited is a home with a quota and a threshold of misuse.
func limited(ctx context.Context, d *conform.Driver) (town, error) {
	h, err := d.House(ctx, conform.Plan{Name: "mace-limits", Clocked: true, Rules: `
limits:
  - {id: team.quota, per: agent, measure: actions, most: 3, within: 1h, match: {kind: [read]}}
  - {id: team.scraping, per: agent, measure: actions, most: 2, within: 10m, verdict: ask, account_review: true,
	match: {kind: [write]}}
`})
	if err != nil {
		return town{}, err
	}
	return town{h}, h.Agents(ctx, "reader", "scraper")
}

func quota(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := limited(ctx, d)
	if err != nil {
		return "", err
	}
	for _, page := range []string{"1", "2", "3"} {
		if _, err := t.Expect(ctx, "reader", conform.Shell("cat page-"+page), "allow"); err != nil {
			return "", err
		}
	}
	over := t.Decide(ctx, "reader", conform.Shell("cat page-4"))
	event := t.newest(ctx, "RATE_LIMIT", "team.quota")
	return "of a quota of 3 the fourth read is denied, and when there will be room is recorded: " + event.by(), conform.First(
		conform.Unless(event.ID != "", "the log holds no RATE_LIMIT"),
		conform.Unless(over.Answer == "deny" && strings.HasPrefix(over.Rule, "limit."), "the fourth is answered %s by %s", over.Answer,
			over.Rule))
}

func misuse(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := limited(ctx, d)
	if err != nil {
		return "", err
	}
	for _, page := range []string{"1", "2"} {
		if _, err := t.Expect(ctx, "scraper", conform.Shell("touch page-"+page), "allow"); err != nil {
			return "", err
		}
	}
	over, err := t.Expect(ctx, "scraper", conform.Shell("touch page-3"), "ask")
	if err != nil {
		return "", err
	}
	event, told := t.newest(ctx, "ACCOUNT_REVIEW_REQUEST", "team.scraping"), t.newest(ctx, "ALERT", "team.scraping")
	_, reads := t.Expect(ctx, "scraper", conform.Shell("ls"), "allow")
	return "past a stated threshold of misuse people are asked to look at the account, and what it does next is asked about, not blocked: " +
			event.by(), conform.First(event.is("ACCOUNT_REVIEW_REQUEST"), told.is("ALERT"), reads,
			conform.Unless(strings.HasPrefix(over.Rule, "limit."), "it is asked about by %s", over.Rule),
			conform.Unless(strings.Contains(string(event.Payload), `"then":"asked"`), "the event says %s", event.Payload))
}
