package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/internal/phase"
)

type breakerCommand struct {
	Show  breakerShow  `cmd:"" default:"withargs" help:"List the breakers that are not closed."`
	Trip  breakerTrip  `cmd:"" help:"Open a breaker: everything of an agent, or of a type, is refused."`
	Reset breakerReset `cmd:"" help:"Half-open an open breaker; close a half-open one under which enough went well."`
}

type breakerShow struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// A breakerLine is a breaker as it is listed.
type breakerLine struct {
	On      string    `json:"on"`
	State   string    `json:"state"`
	Since   time.Time `json:"since"`
	Reset   time.Time `json:"reset_from,omitzero"`
	Trigger string    `json:"trigger"`
	By      string    `json:"by,omitempty"`
	Running bool      `json:"running,omitempty"` // the one action has not ended
	Passed  int       `json:"passed,omitempty"`
	Why     string    `json:"why"`
}

// Run lists the breakers.
func (c *breakerShow) Run(p *program) error {
	opened, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	holds, err := actorHolds(p, opened, true)
	if err != nil {
		return err
	}
	lines := make([]breakerLine, len(holds))
	for n, h := range holds {
		lines[n] = breakerLine{On: h.Key, State: h.Breaker.State, Since: h.Breaker.Since, Reset: h.Breaker.Until, Trigger: h.Trigger, By: h.By,
			Running: h.Breaker.Probe != "", Passed: h.Breaker.Passed, Why: h.Why}
	}
	if c.JSON {
		return writeLine(p.stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintln(p.stdout, "every breaker is closed")
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BREAKER\tSTATE\tSINCE\tRESET FROM\tWENT WELL\tTRIGGER\tWHY")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d of %d\t%s\t%s\n", printable(l.On), l.State, when(l.Since), when(l.Reset), l.Passed,
			phase.MendingProbes, l.Trigger, brief(l.Why))
	}
	return table.Flush()
}

type breakerTrip struct {
	orderFlags
	On     string `arg:"" help:"agent:NAME or type:NAME." placeholder:"NAME"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock breaker trip --help` adds.
func (breakerTrip) Help() string {
	return "A signed order, recorded as BREAKER_TRIPPED. A breaker that somebody opened stays open until somebody resets it."
}

// Run opens a breaker.
func (c *breakerTrip) Run(p *program) error {
	return actorOrder(p, c.orderFlags, interlock.VerbTripBreaker, c.On, c.Reason, c.JSON, "the breaker of %s is open, by order of %s")
}

type breakerReset struct {
	orderFlags
	On     string `arg:"" help:"agent:NAME or type:NAME." placeholder:"NAME"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock breaker reset --help` adds.
func (breakerReset) Help() string {
	return "A signed order, recorded as BREAKER_RESET. Half-open, a breaker lets one action run at a time until its outcome is known; a\n" +
		"refusal opens it for twice as long. After three that went well, resetting it again closes it."
}

// Run resets a breaker.
func (c *breakerReset) Run(p *program) error {
	return actorOrder(p, c.orderFlags, interlock.VerbResetBreaker, c.On, c.Reason, c.JSON, "the breaker of %s is reset, by order of %s")
}
