package audit

import (
	"context"
	"fmt"
	"log/slog"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/containment"
	"interlock/internal/anomaly"
	"interlock/internal/ledger"
)

type AnomalyCommand struct {
	Show anomalyShow `cmd:"" default:"withargs" help:"Show how unusual what agents do is, and what that is made of."`
	Scan anomalyScan `cmd:"" help:"Look once at what the log has come to hold, as a running server does every few seconds."`
}

type anomalyShow struct {
	Agent string `arg:"" optional:"" help:"Show one agent, with everything its score is made of." placeholder:"AGENT"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock anomaly show --help` adds.
func (anomalyShow) Help() string {
	return "It reads the log up to its end and writes nothing. A score is of the ten minutes in which the agent did something last."
}

// A profileLine is one agent or type, as it is listed.
type profileLine struct {
	Name  string    `json:"name"`
	Type  string    `json:"type,omitempty"`
	Last  time.Time `json:"last"`
	Slots int       `json:"slots_known"`
	anomaly.Score
}

// Run shows them.
func (c *anomalyShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	profiles, err := containment.Profiles(p.Ctx, opened, opened)
	if err != nil {
		return err
	}
	lines := []profileLine{}
	for n := range profiles {
		one := &profiles[n]
		if c.Agent == "" || one.Name == ledger.HoldName(ledger.HoldAgent, c.Agent) {
			lines = append(lines, profileLine{one.Name, one.Type, one.Last, one.Slots(), one.Score})
		}
	}
	if c.Agent != "" && len(lines) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "AGENT",
			"nothing is recorded of %.80s; `interlock anomaly show` lists whom something is recorded of",
			cli.Printable(c.Agent))
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "nothing is recorded of any agent yet")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHO\tSCORE\tDRIFT\tLAST\tKNOWN FROM\tANOMALIES")
	for _, l := range lines {
		says := ""
		for _, a := range l.Alarms {
			says += " " + a.Code
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\n", cli.Printable(l.Name), l.Value, l.Drift, cli.When(l.Last), knownFrom(l.Slots), cli.OrDash(says))
	}
	if err := table.Flush(); err != nil || c.Agent == "" {
		return err
	}
	table = tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nDIMENSION\tWEIGHT\tVALUE\tWHY")
	for _, d := range lines[0].Of {
		value := fmt.Sprintf("%.2f", d.Value)
		if !d.Known {
			value = "not known"
		}
		fmt.Fprintf(table, "%s\t%.2f\t%s\t%s\n", d.Name, d.Weight, value, cli.OrDash(cli.Printable(d.Why)))
	}
	return table.Flush()
}

// knownFrom says of how many stretches of ten minutes it is known what is usual.
func knownFrom(slots int) string {
	if slots < anomaly.Learning {
		return fmt.Sprintf("%d of %d, learning", slots, anomaly.Learning)
	}
	return fmt.Sprint(slots)
}

type anomalyScan struct{}

// Help is what `interlock anomaly scan --help` adds.
func (anomalyScan) Help() string {
	return "For a home without a server, from cron or a timer. People are told of what is found, and phases follow, as the rules say (maso)."
}

// Run looks once.
func (c *anomalyScan) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	backend, err := p.OpenServer(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	if backend.Rules().Maso().Tier < 1 {
		return interlock.Errorf(interlock.CodeUnavailable, "maso",
			"no tier is in force, so nobody looks for what is unusual; name one in the rules (maso: {tier: 1})")
	}
	alarms, err := backend.LookForAnomalies(p.Ctx, true)
	if err == nil {
		err = backend.LookAtLayers(p.Ctx)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%d anomalies\n", alarms)
	return err
}

// watchActivityEvery is how long what is unusual may go without anybody being told.
const watchActivityEvery = 5 * time.Second

// WatchActivity looks for what is unusual for as long as the server runs, and writes what it knows at the end.
func WatchActivity(ctx context.Context, backend *embedded.Backend, logger *slog.Logger) {
	ticker := time.NewTicker(watchActivityEvery)
	defer ticker.Stop()
	look := func(ctx context.Context, all bool) {
		_, err := backend.LookForAnomalies(ctx, all)
		if err == nil {
			err = backend.LookAtLayers(ctx)
		}
		if err != nil && ctx.Err() == nil {
			logger.Warn("looking for what is unusual", "error", err.Error())
		}
	}
	for {
		select {
		case <-ctx.Done():
			look(context.WithoutCancel(ctx), true)
			return
		case <-ticker.C:
			look(ctx, false)
		}
	}
}
