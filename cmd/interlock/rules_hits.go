package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

type rulesHitsCommand struct {
	Since string `help:"Count from then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"7d" placeholder:"TIME"`
	Until string `help:"Count up to then; likewise. Default: now." placeholder:"TIME"`
	All   bool   `help:"Name rules without a hit too."`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// hitsPage is how many events are read at once.
const hitsPage = 500

// Run counts the log's decisions by rule, most hits first.
func (c *rulesHitsCommand) Run(p *program) error {
	from, err := p.moment("--since", c.Since)
	if err != nil {
		return err
	}
	until := now()
	if c.Until != "" {
		if until, err = p.moment("--until", c.Until); err != nil {
			return err
		}
	}
	byRule := map[string]*auditlog.Hits{}
	if c.All {
		set, err := p.ruleset()
		if err != nil {
			return err
		}
		for _, r := range set.Rules() {
			byRule[r.ID] = &auditlog.Hits{Rule: r.ID}
		}
	}
	decisions, err := c.count(p, from, until, byRule)
	if err != nil {
		return err
	}
	return c.print(p, auditlog.Ranked(byRule), decisions)
}

// count goes through the log from its end and counts what was decided in between.
func (c *rulesHitsCommand) count(p *program, from, until time.Time, byRule map[string]*auditlog.Hits) (decisions int, err error) {
	store, _, err := p.auditStore()
	if err != nil {
		return 0, err
	}
	defer store.Close()
	for before := int64(-1); ; {
		entries, err := store.Entries(p.ctx, "", ledger.Before(before, hitsPage))
		if err != nil || len(entries) == 0 {
			return decisions, err
		}
		for _, e := range entries {
			before = e.Index
			if auditlog.Released(&e) {
				continue // archived, and not counted
			}
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				return decisions, fmt.Errorf("event %d: %w", e.Index, err)
			}
			if event.Recorded.Before(from) {
				return decisions, nil
			}
			if event.Recorded.After(until) {
				continue
			}
			decided, err := auditlog.ReadDecision(e)
			if err != nil || decided.Canary {
				continue // an event of another type, or one of doctor's
			}
			decisions++
			auditlog.Tally(byRule, decided.Decision, event.Recorded)
		}
		if before == 0 {
			return decisions, nil
		}
	}
}

func (c *rulesHitsCommand) print(p *program, list []*auditlog.Hits, decisions int) error {
	if c.JSON {
		for _, h := range list {
			if err := writeLine(p.stdout, h); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tASKED\tDENIED\tDECISIVE\tSUPPRESSED\tLAST")
	for _, h := range list {
		last := "-"
		if !h.Last.IsZero() {
			last = h.Last.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", h.Rule, h.Asked, h.Denied, h.Decisive, h.Suppressed, last)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "%d decisions\n", decisions)
	return err
}

// moment reads a time, or how long ago it was.
func (p *program) moment(flag, text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := period(text)
	if err != nil {
		return time.Time{}, usage(interlock.Errorf(interlock.CodeInvalid, flag,
			"%.40q is no time; write how long ago as 90m, 8h or 7d, or a time as 2006-01-02T15:04:05Z", text))
	}
	return p.now().Add(-ago), nil
}
