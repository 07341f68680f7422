package stop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/rollback"
	"interlock/internal/store"
)

type RollbackCommand struct {
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

func (f *seedFlags) seed(p *cli.Program) (dataflow.Seed, error) {
	s := dataflow.Seed{Agent: f.Agent, Event: f.Event}
	if f.Since != "" {
		at, err := p.Moment("--since", f.Since)
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
func (c *rollbackPlan) Run(p *cli.Program) error {
	seed, err := c.seed(p)
	if err != nil {
		return cli.Usage(err)
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	plan, err := planned(p, opened, seed)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, plan)
	}
	_, err = fmt.Fprint(p.Stdout, planText(&plan))
	return err
}

// planned works out a plan under the rules that are in force here.
func planned(p *cli.Program, log *store.Store, seed dataflow.Seed) (rollback.Plan, error) {
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return rollback.Plan{}, err
	}
	return rollback.Read(func(visit func(interlock.Entry) error) error { return log.Walk(p.Ctx, visit) }, 0, seed, evaluator.Rules)
}

// planText writes a plan for people.
func planText(plan *rollback.Plan) string {
	var out strings.Builder
	what := "event " + plan.Event
	if plan.Agent != "" {
		what = cli.Printable(plan.Agent) + " since " + plan.Since.Format("2006-01-02T15:04:05Z")
	}
	if len(plan.Steps) == 0 {
		return "nothing of " + what + " ran, so there is nothing to undo\n"
	}
	fmt.Fprintf(&out, "rolling back %s: %d actions of %d agents, the last one first\n", what, len(plan.Steps), len(plan.Agents))
	for _, a := range plan.Agents {
		fmt.Fprintf(&out, "  %s: %d, %s\n", cli.Printable(a.Agent), a.Steps, a.Sure)
	}
	for n := range plan.Steps {
		out.WriteString(stepText(&plan.Steps[n]))
	}
	for n, left := range plan.Residue {
		if n == 0 {
			out.WriteString("\nwhat stays whatever anybody does:\n")
		}
		fmt.Fprintf(&out, "  %s\n", cli.Printable(left))
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
	fmt.Fprintf(&out, "\n%d. %s %s: %s [%s]\n", s.N, s.At.UTC().Format("2006-01-02T15:04:05Z"), cli.Printable(s.Agent), cli.Printable(s.Did), sure)
	for _, why := range s.Because {
		fmt.Fprintf(&out, "   because: %s (%s, of event %.12s)\n", cli.Printable(why.Why), why.Sure, why.From)
	}
	fmt.Fprintf(&out, "   %s, by %s: %s\n", s.Undo, s.By, cli.Printable(s.How))
	if s.Residue != "" {
		fmt.Fprintf(&out, "   stays: %s\n", cli.Printable(s.Residue))
	}
	fmt.Fprintf(&out, "   event %s\n", s.Event)
	return out.String()
}

type rollbackBegin struct {
	cli.OrderFlags
	seedFlags
	Hold   string `help:"Whom to isolate: all that the plan touches, or those of whom it is certain." enum:"all,certain" default:"all"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock rollback begin --help` adds.
func (rollbackBegin) Help() string {
	return "A signed order of an admin, recorded as ROLLBACK_BEGUN with the plan as it was shown. Whoever the plan touches is isolated (phase A),\n" +
		"what they had asked and what they were allowed and have not used expires, standing grants that they were given since end, and\n" +
		"runs that were delegated downstream end. Everything else is for people and programs: `interlock rollback done` and `failed` say\n" +
		"how each step went, and the last one ends it."
}

// Run gives the order.
func (c *rollbackBegin) Run(p *cli.Program) error {
	seed, err := c.seed(p)
	if err != nil {
		return cli.Usage(err)
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	plan, err := rollback.Read(func(visit func(interlock.Entry) error) error { return backend.Store.Walk(p.Ctx, visit) }, 0, seed,
		backend.Rules())
	if err != nil {
		return err
	}
	if len(plan.Steps) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "--agent", "nothing of it ran, so there is nothing to undo")
	}
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	detail := runs.RollbackDetail{Size: plan.Size, Plan: digest, Hold: []string{}}
	for _, a := range plan.Agents {
		if c.Hold == "all" || a.Sure == dataflow.Certain {
			detail.Hold = append(detail.Hold, a.Agent)
		}
	}
	given, err := cli.NewOrder(interlock.VerbBeginRollback, runs.RollbackSubject(seed), detail.String(), c.Reason,
		interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.Order(backend, c.OrderFlags, given)
	if err != nil {
		return err
	}
	id := runs.RollbackID(given.ID)
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			ID    string        `json:"id"`
			Event string        `json:"event"`
			By    string        `json:"by"`
			Held  []string      `json:"held"`
			Ended []string      `json:"runs_ended"`
			Plan  rollback.Plan `json:"plan"`
		}{id, done.Events[0], given.Operator, detail.Hold, append([]string{}, done.Ended...), plan})
	}
	if _, err := fmt.Fprint(p.Stdout, planText(&plan)); err != nil {
		return err
	}
	for _, run := range done.Ended {
		if _, err := fmt.Fprintf(p.Stdout, "run %s ended\n", cli.Printable(run)); err != nil {
			return err
		}
	}
	return p.Done(done, "\nrollback %s has begun with %d steps to carry out, and %s isolated, by order of %s", id, plan.Open(),
		cli.Printable(strings.Join(detail.Hold, ", ")), given.Operator)
}

// stepFlags say how one step ended.
type stepFlags struct {
	cli.OrderFlags
	Step   string `arg:"" help:"The rollback and its step, such as rb_0123456789abcdef/3." placeholder:"STEP"`
	Stays  string `help:"What stays of it in any case." placeholder:"TEXT"`
	Reason string `required:"" help:"What was done, or why it failed." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

type rollbackDone struct{ stepFlags }

// Help is what `interlock rollback done --help` adds.
func (rollbackDone) Help() string {
	return "A signed order of whoever answers requests, recorded as ROLLBACK_STEP. The last step that is told ends the rollback."
}

// Run gives the order.
func (c *rollbackDone) Run(p *cli.Program) error { return c.tell(p, ledger.StepDone) }

type rollbackFailed struct{ stepFlags }

// Help is what `interlock rollback failed --help` adds.
func (rollbackFailed) Help() string {
	return "As `interlock rollback done`. What could not be undone is named among what stays. As long as the rollback goes on, it can be done\n" +
		"after all."
}

// Run gives the order.
func (c *rollbackFailed) Run(p *cli.Program) error { return c.tell(p, ledger.StepFailed) }

func (c *stepFlags) tell(p *cli.Program, status string) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbTellRollback, c.Step,
		runs.StepDetail{Status: status, Stays: c.Stays}.String(), c.Reason)
	if err != nil {
		return err
	}
	if err := p.Moved(c.JSON, given, done, "step %s is "+status+", says %s"); err != nil || c.JSON {
		return err
	}
	id, _, _ := strings.Cut(c.Step, "/")
	r, _, err := runs.RollbackNamed(p.Ctx, backend.Store, id)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(p.Stdout, rollbackState(&r))
	return err
}

// rollbackState says how far a rollback has come, and what stays.
func rollbackState(r *ledger.RollbackBody) string {
	var out strings.Builder
	if r.Ended.IsZero() {
		fmt.Fprintf(&out, "rollback %s goes on: %d steps are open\n", cli.Printable(r.ID), r.Open)
	} else {
		fmt.Fprintf(&out, "rollback %s has ended, %s\n", cli.Printable(r.ID), cli.When(r.Ended))
	}
	for n, left := range slices.SortedFunc(slices.Values(r.Residue), func(a, b ledger.RollbackLeft) int { return a.N - b.N }) {
		if n == 0 {
			out.WriteString("what stays:\n")
		}
		fmt.Fprintf(&out, "  %s\n", cli.Printable(left.What))
	}
	if r.More > 0 {
		fmt.Fprintf(&out, "  and %d more; the steps name them\n", r.More)
	}
	if len(r.Residue) == 0 && !r.Ended.IsZero() {
		out.WriteString("nothing of it stays\n")
	}
	return out.String()
}

type rollbackList struct {
	cli.ListFlags
	Ended bool `help:"Those that have ended instead."`
	JSON  bool `name:"json" help:"Print JSON."`
}

// Run lists rollbacks.
func (c *rollbackList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	list, err := runs.Rollbacks(p.Ctx, opened, c.Ended, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, list.More())
	if c.JSON {
		return cli.WriteLine(p.Stdout, append([]ledger.RollbackBody{}, list.Rows...))
	}
	if err := c.proposed(p, opened, list.Rows); err != nil {
		return err
	}
	if len(list.Rows) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "no rollbacks")
		return err
	}
	t := cli.NewTable("ROLLBACK", "BEGUN", "STEPS", "OPEN", "FAILED", "BY", "WHAT**", "WHY**")
	for n := range list.Rows {
		r := &list.Rows[n]
		t.Row(r.ID, cli.When(r.Begun), fmt.Sprint(r.Steps), fmt.Sprint(r.Open), fmt.Sprint(r.Failed), cli.Printable(r.By),
			cli.Printable(r.What),
			cli.Printable(r.Why))
	}
	s := p.Screen()
	t.Print(s)
	return s.Show()
}

// proposed names what a judge denied after it was let through, where no rollback of it is under way.
func (c *rollbackList) proposed(p *cli.Program, log *store.Store, begun []ledger.RollbackBody) error {
	if c.Ended {
		return nil
	}
	back, err := audit.TookBack(p.Ctx, log, c.Limit())
	if err != nil {
		return err
	}
	ended, err := runs.Rollbacks(p.Ctx, log, true, c.Limit())
	if err != nil {
		return err
	}
	begun = slices.Concat(begun, ended.Rows)
	for _, b := range back {
		what := runs.RollbackSubject(dataflow.Seed{Event: b.Event})
		if b.Undo == nil || b.Undo.Steps == 0 || slices.ContainsFunc(begun, func(r ledger.RollbackBody) bool { return r.What == what }) {
			continue
		}
		if _, err := fmt.Fprintf(p.Stdout, "proposed: %s, a judge's %s of what %s did: interlock rollback begin --event %s --reason TEXT\n",
			cli.Printable(b.Class), map[string]string{auditlog.JudgedDeny: "denial", auditlog.JudgedUnheard: "silence"}[b.Result],
			cli.Printable(b.Agent), b.Event); err != nil {
			return err
		}
	}
	return nil
}

type rollbackShow struct {
	ID   string `arg:"" help:"The rollback's id." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run shows one rollback.
func (c *rollbackShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	r, steps, err := runs.RollbackNamed(p.Ctx, opened, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			ledger.RollbackBody
			Each []ledger.RollbackStepBody `json:"each"`
		}{r, steps})
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s, begun %s by %s: %s\n", cli.Printable(r.ID), cli.Printable(r.What), r.Begun.Local().Format(time.RFC3339), cli.Printable(r.By),
		cli.Printable(r.Why))
	if len(r.Held) > 0 {
		fmt.Fprintf(&out, "isolated: %s\n", cli.Printable(strings.Join(r.Held, ", ")))
	}
	for n := range steps {
		s := &steps[n]
		fmt.Fprintf(&out, "%d. %s %s: %s\n", s.N, s.Status, cli.Printable(s.Agent), cli.Printable(s.Did))
		if s.Said != "" {
			fmt.Fprintf(&out, "   %s: %s\n", cli.Printable(s.By), cli.Printable(s.Said))
		}
	}
	out.WriteString(rollbackState(&r))
	_, err = fmt.Fprint(p.Stdout, out.String())
	return err
}
