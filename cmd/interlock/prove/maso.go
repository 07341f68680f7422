package prove

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/conform"
	"interlock/internal/ledger"
	"interlock/internal/maturity"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

type MasoCommand struct {
	Test   masoTest   `cmd:"" help:"Run the acceptance tests of MASO Execution Control on throw-away homes, and print a table."`
	Report masoReport `cmd:"" help:"Name this home's level of maturity and what the gates between tiers still take, with the evidence."`
}

type masoTest struct {
	Tier int  `help:"Only those of one tier: 1, 2 or 3." placeholder:"N"`
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is what `interlock maso test --help` adds.
func (masoTest) Help() string {
	return "The tests EC-T1.1 to EC-T3.7, as interlock conformance maso makes them: on homes in a temporary directory, with processes, tokens\n" +
		"and keys of their own. Your own home is not touched. Exits 1 if one failed."
}

// testPrefix is what the ids of acceptance tests begin with.
const testPrefix = "EC-T"

// Run makes the tests.
func (c *masoTest) Run(p *cli.Program) error {
	if c.Tier < 0 || c.Tier > 3 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--tier", "%d is no tier; name 1, 2 or 3", c.Tier))
	}
	clauses, err := conform.Clauses()
	if err != nil {
		return err
	}
	prefix := testPrefix
	if c.Tier > 0 {
		prefix += fmt.Sprint(c.Tier, ".")
	}
	clauses = slices.DeleteFunc(clauses, func(one conform.Clause) bool { return !strings.HasPrefix(one.ID, prefix) })
	var results []conform.Result
	if err := driven(p, func(d *conform.Driver) error {
		results = conform.Run(p.Ctx, d, clauses, conform.Checks(), nil)
		return p.Ctx.Err()
	}); err != nil {
		return err
	}
	tally := conform.Count(results, false)
	if c.JSON {
		for n := range results {
			results[n].Steps = nil
		}
		err = cli.WriteLine(p.Stdout, results)
	} else {
		err = printTests(p.Stdout, results, tally)
	}
	if err == nil && tally.Failed > 0 {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

func printTests(w io.Writer, results []conform.Result, tally conform.Tally) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEST\tRESULT\tTIME\tWHAT WAS SEEN")
	for _, r := range results {
		took := "-"
		if r.Took > 0 {
			took = fmt.Sprintf("%.1fs", r.Took.Seconds())
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.ID, r.Word, took, r.Seen)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed, %d pending, of %d tests\n", tally.Passed, tally.Failed, tally.Pending, len(results))
	return err
}

type masoReport struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock maso report --help` adds.
func (masoReport) Help() string {
	return "Reads this home's log, rules and settings and changes nothing. A level is named only if there is evidence for all that it asks for, and\n" +
		"for all that the levels before it ask for. What is called unknown can't be told from here, and opens no gate."
}

// Run prints the report.
func (c *masoReport) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	home, err := masoHome(p, opened)
	if err != nil {
		return err
	}
	book := &maturity.Book{Lately: home.Now.UTC().Add(-lately)}
	if err := opened.Walk(p.Ctx, func(e interlock.Entry) error {
		book.Add(e)
		return nil
	}); err != nil {
		return err
	}
	report := maturity.Of(home, book)
	if c.JSON {
		return cli.WriteLine(p.Stdout, report)
	}
	return printMaturity(p.Stdout, report)
}

// masoHome is how this home is set up, as far as MASO asks.
func masoHome(p *cli.Program, opened *store.Store) (maturity.Home, error) {
	evaluator, settings, err := p.Evaluator()
	if err != nil {
		return maturity.Home{}, err
	}
	h := maturity.Home{Now: p.Now(), Tier: evaluator.Rules.Maso().Tier, Profile: settings.Profile, Mode: settings.Mode.String(),
		Most: map[string]int64{}, Roles: map[string]string{}}
	for _, m := range settings.Judge.Judges {
		h.Judges = append(h.Judges, m.Name)
	}
	if runtime.GOOS != "linux" {
		h.NoSandbox = "it takes Linux"
	}
	for _, l := range evaluator.Rules.AllLimits() {
		if len(l.Profiles) > 0 && !slices.Contains(l.Profiles, settings.Profile) {
			continue
		}
		h.Most[l.ID] = l.Most
		switch {
		case l.Measure != ruleset.MeasureActions:
			h.Caps = append(h.Caps, l.ID)
		case l.Per == ruleset.PerAgent && len(l.Agents) == 0 && l.Within > 0:
			h.Rates = append(h.Rates, l.ID)
		}
	}
	defined := map[string]bool{}
	for _, t := range evaluator.Rules.Types() {
		defined[t.Name] = true
		if t.Sandbox != "" {
			h.Sandboxes++
		}
	}
	agents, err := core.Listed[interlock.AgentRecord](p.Ctx, opened, ledger.Agent, ledger.Every(listAll))
	if err != nil {
		return h, err
	}
	for _, a := range agents.Rows {
		if a.Observer || !a.Revoked.IsZero() {
			continue
		}
		h.Agents++
		if len(a.Allow) > 0 || defined[cmp.Or(a.Type, a.ID)] {
			h.Listed++
		}
	}
	operators, err := core.Operators(p.Ctx, opened)
	if err != nil {
		return h, err
	}
	for name, o := range operators {
		if o.Revoked.IsZero() {
			h.Roles[name] = o.Role
		}
	}
	head, err := opened.Head(p.Ctx)
	h.Checkpoint = len(head.Checkpoint) > 0
	return h, err
}

// lately is how far back a change that nobody was asked about tells how people work now.
const lately = 30 * 24 * time.Hour

// listAll bounds how many agents are looked at.
const listAll = 100_000

func printMaturity(w io.Writer, r maturity.Report) error {
	fmt.Fprintf(w, "maturity: %s (tier %d, %d days in the log)\n", r.Level, r.Tier, r.Days)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range r.Levels {
		reached := "not reached"
		if l.Reached {
			reached = "reached"
		}
		fmt.Fprintf(table, "\n%s: %s\n", l.Name, reached)
		printIndicators(table, l.Indicators)
	}
	for _, g := range r.Gates {
		open := "closed"
		if g.Open {
			open = "open"
		}
		fmt.Fprintf(table, "\ngate from tier %d to %d: %s\n", g.From, g.To, open)
		printIndicators(table, g.Indicators)
		if r.Tier >= g.To && !g.Open {
			fmt.Fprintf(table, "  this home's rules name tier %d, and the gate before it is closed\n", r.Tier)
		}
	}
	fmt.Fprintln(table, "\nAGENT\tDECISIONS\tASKED\tYES\tNO\tDENIED\tTRIPS\tOVER A CAP\tCAPS, AT MOST")
	for _, a := range r.Agents {
		var caps []string
		for _, c := range a.Caps {
			used := fmt.Sprintf("%s %d", c.Limit, c.Peak)
			if c.Most > 0 {
				used = fmt.Sprintf("%s %.0f %%", c.Limit, 100*c.Share)
			}
			caps = append(caps, used)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", cli.Printable(a.ID), a.Decisions, a.Asked, a.Yes, a.No, a.Denied, a.Trips, a.OverCap,
			cmp.Or(strings.Join(caps, ", "), "-"))
	}
	return table.Flush()
}

func printIndicators(w io.Writer, indicators []maturity.Indicator) {
	for _, i := range indicators {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", i.State, i.Name, cli.Printable(i.Seen))
	}
}
