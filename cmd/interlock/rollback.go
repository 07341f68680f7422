package main

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/rollback"
	"interlock/internal/store"
)

type rollbackCommand struct {
	List   rollbackList   `cmd:"" default:"withargs" help:"List the rollbacks that are under way, newest first."`
	Show   rollbackShow   `cmd:"" help:"Show how far one has come, step by step, and what stays."`
	Plan   rollbackPlan   `cmd:"" help:"Say what has to be undone: what was compromised and everything downstream of it."`
	Begin  rollbackBegin  `cmd:"" help:"Have it begin: isolate whoever it touches, and record each step that is to be carried out."`
	Done   rollbackDone   `cmd:"" help:"Say that a step is undone, and what stays of it."`
	Failed rollbackFailed `cmd:"" help:"Say that a step could not be undone, and why."`
}

// seedFlags say what was compromised.
type seedFlags struct {
	Agent string `help:"The agent that was compromised." placeholder:"NAME"`
	Since string `help:"From then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." placeholder:"TIME"`
	Event string `help:"Or one action, by its decision's event id." placeholder:"ID"`
}

func (f *seedFlags) seed(p *program) (dataflow.Seed, error) {
	s := dataflow.Seed{Agent: f.Agent, Event: f.Event}
	if f.Since != "" {
		at, err := p.moment("--since", f.Since)
		if err != nil {
			return s, err
		}
		s.Since = at.UTC()
	}
	return s, rollback.Check(s)
}

type rollbackPlan struct {
	seedFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is what `interlock rollback plan --help` adds.
func (rollbackPlan) Help() string {
	return "What is downstream is computed from the log: files, rows, addresses and servers that one action wrote and a later one read, work\n" +
		"that one run gave another, what a run knew by then, and events that an agent named. Where nothing recorded says otherwise it is\n" +
		"included, as possible. Nothing is changed."
}

// Run prints the plan.
func (c *rollbackPlan) Run(p *program) error {
	seed, err := c.seed(p)
	if err != nil {
		return usage(err)
	}
	opened, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	plan, err := p.planned(opened, seed)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, plan)
	}
	_, err = fmt.Fprint(p.stdout, planText(&plan))
	return err
}

// planned works out a plan under the rules that are in force here.
func (p *program) planned(log *store.Store, seed dataflow.Seed) (rollback.Plan, error) {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return rollback.Plan{}, err
	}
	return rollback.Read(func(visit func(interlock.Entry) error) error { return log.Walk(p.ctx, visit) }, 0, seed, evaluator.Rules)
}

// planText writes a plan for people.
func planText(plan *rollback.Plan) string {
	var out strings.Builder
	what := "event " + plan.Event
	if plan.Agent != "" {
		what = printable(plan.Agent) + " since " + plan.Since.Format("2006-01-02T15:04:05Z")
	}
	if len(plan.Steps) == 0 {
		return "nothing of " + what + " ran, so there is nothing to undo\n"
	}
	fmt.Fprintf(&out, "rolling back %s: %d actions of %d agents, the last one first\n", what, len(plan.Steps), len(plan.Agents))
	for _, a := range plan.Agents {
		fmt.Fprintf(&out, "  %s: %d, %s\n", printable(a.Agent), a.Steps, a.Sure)
	}
	for n := range plan.Steps {
		out.WriteString(stepText(&plan.Steps[n]))
	}
	for n, left := range plan.Residue {
		if n == 0 {
			out.WriteString("\nwhat stays whatever anybody does:\n")
		}
		fmt.Fprintf(&out, "  %s\n", printable(left))
	}
	if plan.Unread > 0 {
		fmt.Fprintf(&out, "\n%d decisions are in an archive and were not looked at\n", plan.Unread)
	}
	return out.String()
}

func stepText(s *rollback.Step) string {
	var out strings.Builder
	sure := string(s.Sure)
	if s.Itself {
		sure = "compromised"
	}
	fmt.Fprintf(&out, "\n%d. %s %s: %s [%s]\n", s.N, s.At.UTC().Format("2006-01-02T15:04:05Z"), printable(s.Agent), printable(s.Did), sure)
	for _, why := range s.Because {
		fmt.Fprintf(&out, "   because: %s (%s, of event %.12s)\n", printable(why.Why), why.Sure, why.From)
	}
	fmt.Fprintf(&out, "   %s, by %s: %s\n", s.Undo, s.By, printable(s.How))
	if s.Residue != "" {
		fmt.Fprintf(&out, "   stays: %s\n", printable(s.Residue))
	}
	fmt.Fprintf(&out, "   event %s\n", s.Event)
	return out.String()
}
