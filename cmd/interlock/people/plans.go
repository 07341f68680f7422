package people

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

type PlansCommand struct {
	List plansList `cmd:"" default:"withargs" help:"List the plans of runs, newest first."`
	Show plansShow `cmd:"" help:"Show one plan: its steps, what can't be undone, and what stands against it."`
}

type plansList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists plans.
func (c *plansList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	plans, err := core.PlansUnder(p.Ctx, opened, ledger.All, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, plans.More())
	return cli.ShowRows(p, c.JSON, plans.Rows, "no plans", func(rows []interlock.Plan) *cli.Table {
		t, at := cli.NewTable("PLAN", "STATUS", "AGE", "DONE", "FINAL FROM*", "AGENT**", "RUN*"), cli.Now()
		for _, l := range rows {
			t.Row(l.ID, string(l.Status), cli.Age(at.Sub(l.Created)), fmt.Sprintf("%d of %d", l.Done, len(l.Steps)), cli.OrDash(stepNumber(l.Irreversible)),
				cli.Printable(l.Agent), l.Run)
		}
		return t
	})
}

func stepNumber(n int) string {
	if n == 0 {
		return ""
	}
	return "step " + strconv.Itoa(n)
}

type plansShow struct {
	ID   string `arg:"" help:"The plan's id, or that of its run." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run shows one plan.
func (c *plansShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	plan, found, err := planOf(p, opened, c.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return interlock.Errorf(interlock.CodeNotFound, "ID", "no plan and no run with a plan has this name; `interlock plans` lists them")
	case c.JSON:
		return cli.WriteLine(p.Stdout, plan)
	}
	lines := [][2]string{{"plan", plan.ID}, {"status", string(plan.Status)}, {"agent", plan.Agent}, {"run", plan.Run},
		{"handed over", plan.Created.Local().Format(time.RFC3339)}, {"final from", stepNumber(plan.Irreversible)}, {"accepted by", plan.By}}
	if plan.Status == interlock.PlanWaiting {
		lines = append(lines, [2]string{"waits for", "interlock approve " + plan.Request})
	}
	for _, o := range plan.Objections {
		lines = append(lines, [2]string{"against it", o.Verdict.String() + ", " + o.Rule + ": " + o.Reason})
	}
	for n, s := range plan.Steps {
		lines = append(lines, [2]string{stepNumber(n + 1), stepLine(s, n < plan.Done)})
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

// stepLine is a step in one line.
func stepLine(s interlock.StepView, done bool) string {
	parts := []string{s.Verdict.String(), string(s.Reversibility)}
	if s.Lapses {
		parts = append(parts, fmt.Sprintf("lapses after %ds", s.Undo))
	}
	if done {
		parts = append(parts, "done")
	}
	line := s.Says + "  (" + strings.Join(parts, ", ") + ")"
	if s.MadeGood != "" {
		line += ", made good by: " + s.MadeGood
	} else if s.Final() {
		line += ", made good by nothing"
	}
	return line
}

// planOf finds a plan by its id or its run's.
func planOf(p *cli.Program, from core.Ledger, id string) (interlock.Plan, bool, error) {
	plans, err := core.PlansUnder(p.Ctx, from, ledger.PlanNamed(id), 1)
	if err != nil || len(plans.Rows) == 0 {
		return interlock.Plan{}, false, err
	}
	return plans.Rows[0], true, nil
}

type CommitmentsCommand struct {
	List commitmentsList `cmd:"" default:"withargs" help:"List what was decided where the rules hold agents to it, newest first."`
	cli.PlainOrders
}

type commitmentsList struct {
	cli.ListFlags
	Locked bool `help:"Those that are locked alone."`
	JSON   bool `name:"json" help:"Print JSON."`
}

// Run lists commitments.
func (c *commitmentsList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	mark := ledger.All
	if c.Locked {
		mark = ledger.CommitmentsLocked
	}
	list, err := core.CommitmentsUnder(p.Ctx, opened, mark, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, list.More())
	return cli.ShowRows(p, c.JSON, list.Rows, "nothing is committed", func(rows []ledger.CommitmentBody) *cli.Table {
		t, at := cli.NewTable("COMMITMENT", "RULE", "AGE", "STATE", "REVERSED", "AGENT*", "CHOICE**", "ABOUT**"), cli.Now()
		for _, l := range rows {
			state := "stands"
			if !l.Locked.IsZero() {
				state = "locked"
			}
			t.Row(l.Name, cli.Printable(l.Rule), cli.Age(at.Sub(l.At)), state, strconv.Itoa(len(l.Reversals)), cli.Printable(l.Agent), cli.Printable(l.Says),
				cli.Printable(l.About))
		}
		return t
	})
}
