package stop

import (
	"fmt"
	"text/tabwriter"
	"time"

	"interlock/cmd/interlock/cli"
	"interlock/internal/phase"
)

type BreakerCommand struct {
	Show breakerShow `cmd:"" default:"withargs" help:"List the breakers that are not closed."`
	cli.PlainOrders
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
func (c *breakerShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
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
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "every breaker is closed")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BREAKER\tSTATE\tSINCE\tRESET FROM\tWENT WELL\tTRIGGER\tWHY")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d of %d\t%s\t%s\n", cli.Printable(l.On), l.State, cli.When(l.Since), cli.When(l.Reset),
			l.Passed,
			phase.MendingProbes, l.Trigger, cli.Brief(l.Why))
	}
	return table.Flush()
}
