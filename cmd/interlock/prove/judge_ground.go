package prove

import (
	"context"
	"fmt"
	"io"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/groundrules"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// judgeGroundCommands are those about ground rules, and about how good a judge is under them.
type judgeGroundCommands struct {
	Rules  judgeRulesCommand `cmd:"" help:"Show, compare and lint the ground rules that a judge holds actions against."`
	Test   judgeTestCommand  `cmd:"" help:"Find out how far a judge agrees with labelled cases, and whether it can be talked round."`
	WhatIf judgeWhatIf       `cmd:"" name:"what-if" help:"Ask recorded actions again under the ground rules of --rules FILE."`
}

type judgeRulesCommand struct {
	Show  judgeRulesShow  `cmd:"" help:"Print the ground rules exactly as a judge is sent them, or one of them."`
	Diff  judgeRulesDiff  `cmd:"" help:"Say what a file of your own ground rules would change."`
	Lint  judgeRulesLint  `cmd:"" help:"Point at ground rules that are vague, contradict each other, lack examples or are too long."`
	Adopt judgeRulesAdopt `cmd:"" help:"Order that judges hold actions against a file's ground rules from now on."`
}

// groundRules are the ground rules in force, and those among them that the operator adds.
func groundRules(p *cli.Program, settings config.Config) (whole, added *groundrules.Rules, err error) {
	now, err := embedded.GroundRulesNow(p.Ctx, settings)
	return now.Rules, now.Added, err
}

// theJudge is the judge of the settings, holding questions against some ground rules.
func theJudge(p *cli.Program, settings config.Config, ground *groundrules.Rules) (interlock.Judge, error) {
	if p.Judge != nil {
		return p.Judge(settings, ground)
	}
	if !settings.Judge.IsSet() {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "judge", "no judge is configured; docs/judge.md says how")
	}
	clients, err := embedded.Judges(settings, embedded.Judging{Ground: ground, Getenv: p.Getenv, Now: p.Now})
	if err != nil {
		return nil, err
	}
	return clients[0], nil
}

// candidateGround takes --rules for a file of ground rules, as commands about a judge do, and returns the settings without it.
func candidateGround(p *cli.Program) (file string, settings config.Config, err error) {
	file, p.Globals.RulesDir = p.Globals.RulesDir, ""
	settings, err = p.Settings()
	return file, settings, err
}

type judgeRulesShow struct {
	ID   string `arg:"" optional:"" help:"Id of a ground rule. Default: all of them."`
	With string `help:"The rules that ship with this file's in place of those in force." type:"path" placeholder:"FILE"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock judge rules show --help` adds.
func (judgeRulesShow) Help() string {
	return "What is printed is what is sent, byte for byte: its SHA-256 is the digest that events name."
}

// Run prints ground rules.
func (c *judgeRulesShow) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	whole, _, err := groundRules(p, settings)
	if c.With != "" {
		whole, _, err = embedded.GroundRulesWith(c.With)
	}
	if err != nil {
		return err
	}
	if c.ID != "" {
		rule, known := whole.Rule(c.ID)
		if !known {
			return interlock.Errorf(interlock.CodeNotFound, "ID", "%.60q is no ground rule; `interlock judge rules show` prints them", c.ID)
		}
		return cli.WriteIndented(p.Stdout, rule)
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Digest interlock.Digest   `json:"digest"`
			Bytes  int                `json:"bytes"`
			Tokens int                `json:"tokens"` // roughly
			Rules  []groundrules.Rule `json:"rules"`
		}{whole.Digest(), len(whole.Text()), whole.Tokens(), whole.Rules()})
	}
	_, err = io.WriteString(p.Stdout, whole.Text())
	return err
}

type judgeRulesDiff struct {
	File string `arg:"" help:"File of ground rules to add to those that ship." type:"path"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Run prints one line per difference; the status is 0 whether there are any or not.
func (c *judgeRulesDiff) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	from, _, err := groundRules(p, settings)
	if err != nil {
		return err
	}
	to, _, err := embedded.GroundRulesWith(c.File)
	if err != nil {
		return err
	}
	changes := groundrules.Diff(from, to)
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			From    interlock.Digest     `json:"from"`
			To      interlock.Digest     `json:"to"`
			Changes []groundrules.Change `json:"changes"`
		}{from.Digest(), to.Digest(), changes})
	}
	for _, change := range changes {
		fmt.Fprintf(p.Stdout, "%s %s\n", change.How, change.What)
	}
	_, err = fmt.Fprintf(p.Stdout, "%d differences; %s -> %s\n", len(changes), from.Digest(), to.Digest())
	return err
}

type judgeRulesLint struct {
	File    string `arg:"" optional:"" help:"File of ground rules to add to those that ship. Default: those in force." type:"path"`
	Window  int    `help:"Tokens that the judge's model can read and write at once; 0: not known." default:"32768" placeholder:"TOKENS"`
	Payload int    `help:"Bytes of the largest question that it is asked." default:"65536" placeholder:"BYTES"`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// aroundTokens is roughly what comes around ground rules and question: the role, the form of the answer, and the answer.
const aroundTokens = 1000

// Help is what `interlock judge rules lint --help` adds.
func (judgeRulesLint) Help() string {
	return "Tokens are taken to be 4 bytes each. Exit status 1 if there is anything, as of interlock rules lint."
}

// A groundProblem is a problem with the file it is in; one of the rules that ship has none.
type groundProblem struct {
	File string `json:"file,omitempty"`
	groundrules.Problem
}

// Run fails if anything is found.
func (c *judgeRulesLint) Run(p *cli.Program) error {
	if c.Window < 0 || c.Payload < 0 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--window", "it and --payload are 0 or more"))
	}
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	file := c.File
	whole, added, err := groundRules(p, settings)
	if file != "" {
		whole, added, err = embedded.GroundRulesWith(file)
	} else if added != nil {
		file = settings.Judge.RulesFile(settings.Home)
	}
	if err != nil {
		return err
	}
	room := groundrules.Room{Window: c.Window, Payload: groundrules.Tokens(c.Payload), Around: aroundTokens}
	found := []groundProblem{}
	for _, problem := range groundrules.Lint(whole, added, room) {
		at := groundProblem{Problem: problem}
		if added != nil && problem.Line > 0 {
			at.File = file
		}
		found = append(found, at)
	}
	return c.print(p, whole, found)
}

func (c *judgeRulesLint) print(p *cli.Program, whole *groundrules.Rules, found []groundProblem) error {
	what := fmt.Sprintf("%d ground rules, about %d tokens", len(whole.Rules()), whole.Tokens())
	if c.JSON {
		err := cli.WriteLine(p.Stdout, struct {
			Looked   string          `json:"looked_at"`
			Problems []groundProblem `json:"problems"`
		}{what, found})
		if err == nil && len(found) > 0 {
			return &cli.ExitCode{Code: 1}
		}
		return err
	}
	for _, problem := range found {
		if problem.File != "" {
			fmt.Fprintf(p.Stdout, "%s:%d: ", cli.Printable(problem.File), problem.Line)
		}
		fmt.Fprintln(p.Stdout, problem)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s: %d problems", what, len(found))
	}
	_, err := fmt.Fprintf(p.Stdout, "%s: no problems\n", what)
	return err
}

type judgeOwed struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is what `interlock judge owed --help` adds.
func (judgeOwed) Help() string {
	return "Where settings have a class of actions judged after they were let through (judge.after), a running server asks the judge and\n" +
		"records its answer. What it denied then, or was not heard of in time, was taken back: `interlock rollback plan --event ID` says\n" +
		"what would have to be undone."
}

// Run lists what is owed, and what was taken back.
func (c *judgeOwed) Run(p *cli.Program) error {
	owed, back, err := c.read(p)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Owed  []ledger.OwedBody `json:"owed"`
			Taken []audit.TakenBack `json:"taken_back"`
		}{owed, back})
	}
	s := p.Screen()
	if len(owed) == 0 {
		fmt.Fprintln(s, "no judgment is owed")
	} else {
		t := cli.NewTable("OWED FOR EVENT", "SINCE", "UNTIL", "AGENT", "JUDGE", "CLASS**")
		for n := range owed {
			o := &owed[n]
			t.Row(o.Event, cli.When(o.At), cli.When(o.Until), cli.Printable(o.Requester.Agent), cli.Printable(o.Judge),
				cli.Printable(o.Class))
		}
		t.Print(s)
	}
	if len(back) > 0 {
		fmt.Fprintln(s)
		t := cli.NewTable("TAKEN BACK", "AT", "AGENT", "RESULT", "HELD", "RULE", "CLASS**")
		for _, b := range back {
			t.Row(b.Event, b.At, cli.Printable(b.Agent), b.Result, cli.Printable(b.Held), cli.Printable(b.Rule), cli.Printable(b.Class))
		}
		t.Print(s)
	}
	return s.Show()
}

// WithOwed adds to a page of metrics what judges said of actions after they were let through, and how much they still owe.
func WithOwed(backend *embedded.Backend, next func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		said := backend.JudgedAfter()
		fmt.Fprint(w, "# HELP interlock_judged_after_total Answers of judges about actions that had been let through; denials before are gate 2's.\n"+
			"# TYPE interlock_judged_after_total counter\n")
		for _, result := range []string{auditlog.JudgedAllow, auditlog.JudgedDeny, auditlog.JudgedUnheard} {
			fmt.Fprintf(w, "interlock_judged_after_total{result=%q} %d\n", result, said[result])
		}
		n, err := backend.Store.Count(context.Background(), ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(0))
		if err == nil { // what can be told is told; /readyz says that the store can't be read
			fmt.Fprintf(w, "# HELP interlock_judgments_owed Actions that were let through and wait for their judge.\n"+
				"# TYPE interlock_judgments_owed gauge\ninterlock_judgments_owed %d\n", n)
		}
		return next(w)
	}
}

// read finds what is owed and what was taken back; nothing in a home in which nothing was decided yet.
func (c *judgeOwed) read(p *cli.Program) (owed []ledger.OwedBody, back []audit.TakenBack, err error) {
	owed, back = []ledger.OwedBody{}, []audit.TakenBack{}
	settings, err := p.Settings()
	if err != nil || !store.Exists(settings.Home) {
		return owed, back, err
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	rows, _, err := opened.Scan(p.Ctx, ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(c.Limit()))
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		if o, is := row.Value.(ledger.OwedBody); is {
			o.Payload, o.Impacts = "", nil // its decision says what the action was
			owed = append(owed, o)
		}
	}
	back, err = audit.TookBack(p.Ctx, opened, c.Limit())
	return owed, back, err
}
