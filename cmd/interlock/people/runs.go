package people

import (
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	admissionruns "interlock/internal/admission/runs"
	"interlock/internal/ledger"
)

type RunsCommand struct {
	List runsList `cmd:"" default:"withargs" help:"List the runs that are open, newest first."`
	Show runsShow `cmd:"" help:"Show one run, with what it was delegated by and what it has delegated."`

	Extend runsExtend `cmd:"" help:"Give a run more time."`
	Accept runsAccept `cmd:"" help:"Accept other constraints for a run than those of its first checkpoint."`
}

type runsList struct {
	cli.ListFlags
	Agent string `help:"Of this agent alone." placeholder:"NAME"`
	Ended bool   `help:"Those that have ended instead."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run lists runs.
func (c *runsList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	mark := ledger.All
	switch {
	case c.Ended && c.Agent != "":
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--agent", "is for runs that are open"))
	case c.Ended:
		mark = ledger.RunsEnded
	case c.Agent != "":
		mark = ledger.RunsOf(c.Agent)
	}
	runs, err := core.RunsUnder(p.Ctx, opened, mark, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, runs.More())
	return cli.ShowRows(p, c.JSON, runs.Rows, "no runs", runTable)
}

// runTable lists runs in the order they are given.
func runTable(runs []interlock.Run) *cli.Table {
	t, at := cli.NewTable("RUN", "STATUS", "AGE", "TIME LEFT", "AGENT**", "ON BEHALF OF*", "TASK**"), cli.Now()
	for _, r := range runs {
		left, behalf := "-", "-"
		if !r.Until.IsZero() && r.Ended.IsZero() {
			left = cli.Span(r.Until.Sub(at))
		}
		if len(r.Chain) > 0 {
			behalf = cli.Printable(r.Chain[0].Agent)
		}
		t.Row(r.ID, string(r.Status), cli.Age(at.Sub(r.Created)), left, cli.Printable(r.Agent), behalf,
			cli.OrDash(cli.Printable(r.Task)))
		if r.Ended.IsZero() {
			t.Styled("STATUS", cli.Yellow)
		} else {
			t.Styled("STATUS", cli.Faint)
		}
	}
	return t
}

type runsShow struct {
	ID   string `arg:"" help:"The run's id." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// A runShown is a run with those it has delegated.
type runShown struct {
	interlock.Run
	Delegated  []interlock.Run    `json:"delegated,omitempty"`
	Checkpoint *interlock.RunKept `json:"checkpoint,omitempty"` // the newest
}

// Run shows one run.
func (c *runsShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	found, err := core.RunsUnder(p.Ctx, opened, ledger.RunNamed(c.ID), 1)
	if err != nil {
		return err
	}
	if len(found.Rows) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "ID", "no run of this name is registered")
	}
	below, err := core.RunsUnder(p.Ctx, opened, ledger.RunUnder(c.ID), cli.MaxListed)
	if err != nil {
		return err
	}
	shown := runShown{Run: found.Rows[0], Delegated: below.Rows}
	if shown.Checkpoint, err = admissionruns.NewestCheckpoint(p.Ctx, opened, c.ID); err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, shown)
	}
	r := shown.Run
	lines := [][2]string{{"run", r.ID}, {"status", string(r.Status)}, {"agent", r.Agent}, {"principal", r.Principal}, {"task", r.Task},
		{"tools", strings.Join(r.Tools, ", ")}, {"orchestration", r.Orchestration}, {"registered", r.Created.Local().Format(time.RFC3339)}}
	if !r.Until.IsZero() {
		lines = append(lines, [2]string{"until", r.Until.Local().Format(time.RFC3339)})
	}
	if !r.Paused.IsZero() && r.Ended.IsZero() {
		lines = append(lines, [2]string{"paused", r.Paused.Local().Format(time.RFC3339) + ", because its time is over"})
	}
	if k := shown.Checkpoint; k != nil {
		lines = append(lines, [2]string{"checkpoint", fmt.Sprintf("%d of %s, with %d constraints and %d still to be done", k.Number,
			k.At.Local().Format(time.RFC3339), len(k.Constraints), len(k.Pending))}, [2]string{"goal", k.Goal})
	}
	for _, by := range r.Chain {
		lines = append(lines, [2]string{"on behalf of", by.Agent + " in " + by.Run})
	}
	for _, b := range shown.Delegated {
		lines = append(lines, [2]string{"delegated to", b.Agent + " in " + b.ID})
	}
	for _, by := range r.Attested {
		lines = append(lines, [2]string{"attested", by.Tool + ": " + string(by.Status) + " by " + by.By + ", decided by " + by.Event})
	}
	if len(r.Missing) > 0 {
		lines = append(lines, [2]string{"missing", strings.Join(r.Missing, ", ")})
	}
	for _, one := range r.Reviews {
		lines = append(lines, [2]string{"asked about", "its result " + string(one.Result) + ": interlock pending " + one.Request})
	}
	if !r.Ended.IsZero() {
		lines = append(lines, [2]string{"ended", r.Ended.Local().Format(time.RFC3339) + " by " + r.By}, [2]string{"why", r.Why})
	}
	for _, l := range lines {
		if l[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(p.Stdout, "%-14s %s\n", l[0], cli.Printable(l[1])); err != nil {
			return err
		}
	}
	return nil
}

type runsExtend struct {
	cli.OrderFlags
	ID     string        `arg:"" help:"The run's id." placeholder:"ID"`
	For    time.Duration `required:"" help:"How much time it has from now on, such as 30m." placeholder:"DURATION"`
	Reason string        `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool          `name:"json" help:"Print JSON."`
}

// Help is what `interlock runs extend --help` adds.
func (runsExtend) Help() string {
	return "A signed order, recorded as RUN_CHANGED. A run is given at most as much at once as its agent's type lets (time_box), or a day.\n" +
		"What it had asked before its time was over stays withdrawn: its agent asks again. What it has delegated is given more by itself."
}

// Run gives a run more time.
func (c *runsExtend) Run(p *cli.Program) error {
	return runOrder(p, c.OrderFlags, c.ID, admissionruns.ExtendDetail(c.For), c.Reason, c.JSON, "the run %s goes on, by order of %s")
}

type runsAccept struct {
	cli.OrderFlags
	ID     string `arg:"" help:"The run's id." placeholder:"ID"`
	Digest string `arg:"" help:"The digest of the constraints, as the refused checkpoint names it." placeholder:"DIGEST"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock runs accept --help` adds.
func (runsAccept) Help() string {
	return "A signed order, recorded as RUN_CHANGED. The run's next checkpoint may have exactly these constraints, which hold from then on."
}

// Run accepts constraints.
func (c *runsAccept) Run(p *cli.Program) error {
	return runOrder(p, c.OrderFlags, c.ID, admissionruns.AcceptDetail(interlock.Digest(c.Digest)), c.Reason, c.JSON,
		"the next checkpoint of the run %s may have these constraints, by order of %s")
}

// runOrder gives an order about a run.
func runOrder(p *cli.Program, who cli.OrderFlags, id, detail, reason string, asJSON bool, says string) error {
	if !ledger.Registered(id) {
		return interlock.Errorf(interlock.CodeInvalid, "ID", "is no id of a registered run: run_ and 24 digits")
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.OrderNew(backend, who, interlock.VerbChangeRun, id, detail, reason)
	if err != nil {
		return err
	}
	return p.Moved(asJSON, given, done, says)
}
