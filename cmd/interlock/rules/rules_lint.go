package rules

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/tune"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/rules"
)

type rulesTestCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run fails if any rule's own test does.
func (c *rulesTestCommand) Run(p *cli.Program) error {
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	cases, problems := ruletest.Run(evaluator.Rules, evaluator.Analyser)
	return printProblems(p, c.JSON, fmt.Sprintf("%d tests of %d rules", cases, len(evaluator.Rules.Rules())),
		located(evaluator, problems, nil))
}

type rulesLintCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock rules lint --help` adds.
func (rulesLintCommand) Help() string {
	return "Your own rules come first, each with its file and line; then what they do to rules that ship. Exit status 1 if there is anything."
}

// Run fails if anything is found.
func (c *rulesLintCommand) Run(p *cli.Program) error {
	evaluator, settings, err := p.Evaluator()
	if err != nil {
		return err
	}
	if err := ruleset.Verify(rules.Defaults()); err != nil { // which deciding takes for granted
		return err
	}
	problems := append(ruletest.Lint(evaluator.Rules, evaluator.Analyser),
		ruletest.Idle(evaluator.Rules, evaluator.Analyser, evaluator.Profile)...)
	var shipped []ruletest.Problem // what there is without any rule of the user's
	if len(evaluator.Own) > 0 && len(problems) > 0 {
		settings.Rules = ""
		alone, err := embedded.NewEvaluator(settings)
		if err != nil {
			return err
		}
		shipped = append(ruletest.Lint(alone.Rules, alone.Analyser),
			ruletest.Idle(alone.Rules, alone.Analyser, alone.Profile)...)
	}
	large, err := tune.LargeCaps(p, evaluator.Rules)
	if err != nil {
		return err
	}
	budgets, err := tune.LargeBudgets(p, evaluator.Rules)
	if err != nil {
		return err
	}
	return printProblems(p, c.JSON, fmt.Sprintf("%d rules", len(evaluator.Rules.Rules())),
		located(evaluator, slices.Concat(problems, large, budgets), shipped))
}

// A problemAt is a problem with the place where its rule is written.
type problemAt struct {
	Rule    string `json:"rule"`
	File    string `json:"file,omitempty"` // below the rules directory; of a rule that ships none
	Line    int    `json:"line,omitempty"`
	Case    string `json:"case,omitempty"`
	Message string `json:"message"`
	Yours   bool   `json:"yours"`  // the rule is the user's
	Caused  bool   `json:"caused"` // the rule ships, and is well without the user's rules
}

// String is the problem in one line, the place first, as compilers and editors write it.
func (at problemAt) String() string {
	text := ruletest.Problem{Rule: at.Rule, Case: at.Case, Message: at.Message}.String()
	switch {
	case at.File != "":
		return fmt.Sprintf("%s:%d: %s", at.File, at.Line, text)
	case at.Caused:
		return "because of your rules: " + text
	}
	return text
}

// located finds where the rules of problems are written, and puts the user's first. Problems that are not among shipped either are
// the doing of the user's rules.
func located(evaluator *admission.Evaluator, problems, shipped []ruletest.Problem) []problemAt {
	out := []problemAt{}
	for _, problem := range problems {
		at := problemAt{Rule: problem.Rule, Case: problem.Case, Message: problem.Message}
		rule, known := evaluator.Rules.Rule(problem.Rule)
		limit, limits := evaluator.Rules.Limit(problem.Rule)
		_, budget := evaluator.Rules.Budget(problem.Rule) // which only operators write
		if known && rule.User() || limits && limit.User() || budget {
			at.Yours = true
			at.File, at.Line = ruleLine(evaluator.Own, problem.Rule)
		} else {
			at.Caused = len(evaluator.Own) > 0 && !slices.Contains(shipped, problem)
		}
		out = append(out, at)
	}
	slices.SortStableFunc(out, func(a, b problemAt) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return out
}

func rank(at problemAt) int {
	switch {
	case at.Yours:
		return 0
	case at.Caused:
		return 1
	}
	return 2
}

// ruleLine finds the line on which a rule's id is in the user's files.
func ruleLine(documents map[string][]byte, id string) (file string, line int) {
	stands := regexp.MustCompile(`^[\s{-]*["']?id["']?\s*:\s*["']?` + regexp.QuoteMeta(id) + `["']?\s*(,.*|#.*|\}.*)?$`)
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for n, text := range strings.Split(string(documents[name]), "\n") {
			if stands.MatchString(strings.TrimRight(text, "\r")) {
				return name, n + 1
			}
		}
	}
	return "", 0
}

// printProblems prints what was found and fails if that is anything.
func printProblems(p *cli.Program, asJSON bool, what string, found []problemAt) error {
	if asJSON {
		if err := cli.WriteLine(p.Stdout, struct {
			Looked   string      `json:"looked_at"`
			Problems []problemAt `json:"problems"`
		}{what, found}); err != nil {
			return err
		}
		if len(found) > 0 {
			return &cli.ExitCode{Code: 1}
		}
		return nil
	}
	for _, problem := range found {
		if _, err := fmt.Fprintln(p.Stdout, problem); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%s: %d problems", what, len(found))
	}
	_, err := fmt.Fprintf(p.Stdout, "%s: no problems\n", what)
	return err
}

type rulesShadowCommand struct {
	New  string `arg:"" optional:"" help:"Directory of rules to decide beside those in force, with the defaults." type:"path"`
	For  string `help:"For how long: 90m, 8h, 7d; at most 90d." default:"14d" placeholder:"TIME"`
	Stop bool   `help:"Have the candidate decide no more. What it decided otherwise is kept for 30 days."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock rules shadow --help` adds.
func (rulesShadowCommand) Help() string {
	return "The candidate decides every action after it was answered, and answers nobody. Without NEW: says what decides in the shadow.\n" +
		"interlock rules diff --shadow shows where the two parted, interlock rules promote puts the candidate into force."
}

// Run begins, ends or shows a shadow.
func (c *rulesShadowCommand) Run(p *cli.Program) error {
	if c.New != "" && c.Stop {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--stop", "takes no rules"))
	}
	length, err := cli.Period(c.For)
	if err != nil {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	switch {
	case c.Stop:
		body, err := backend.EndShadow(p.Ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Stdout, "%s decides in the shadow no more\n", body.Ruleset)
		return err
	case c.New != "":
		documents, err := embedded.UserRules(c.New)
		if err != nil {
			return err
		}
		if _, err := backend.BeginShadow(p.Ctx, documents, cli.Now().Add(length)); err != nil {
			return err
		}
	}
	return c.show(p, backend)
}

func (c *rulesShadowCommand) show(p *cli.Program, backend *embedded.Backend) error {
	state, err := audit.ShadowOf(p.Ctx, backend)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, state)
	}
	if state.Shadow == nil {
		_, err = fmt.Fprintln(p.Stdout, "no ruleset decides in the shadow")
		return err
	}
	until := "until " + state.Until.Local().Format("2006-01-02 15:04")
	if state.Over {
		until += ", which is over"
	}
	_, err = fmt.Fprintf(p.Stdout, "%s decides in the shadow of %s %s\n%s\n", state.Shadow.Ruleset, state.InForce, until,
		shadowCounts(state.Shadow))
	return err
}

// shadowCounts says how much a candidate has decided, and what of that it could not.
func shadowCounts(r *replay.ShadowReport) string {
	text := fmt.Sprintf("%d decisions, %d otherwise", r.Decisions, parted(&r.Report)+r.Others)
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %d left out because there was no room", r.Dropped)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d it could not make", r.Failed)
	}
	return text
}

// parted is how many decisions differ.
func parted(r *replay.Report) (n int) {
	for i := range r.Changes {
		n += r.Changes[i].Count
	}
	return n
}

// shadowDiff prints where the candidate and the rules in force have parted.
func shadowDiff(p *cli.Program, asJSON bool) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	state, err := audit.ShadowOf(p.Ctx, backend)
	if err != nil {
		return err
	}
	if state.Shadow == nil {
		return interlock.Errorf(interlock.CodeNotFound, "--shadow",
			"no ruleset decides in the shadow; interlock rules shadow NEW begins it")
	}
	if asJSON {
		return cli.WriteLine(p.Stdout, state)
	}
	fmt.Fprintf(p.Stdout, "%s in the shadow of %s since %s: %s\n", state.Shadow.Ruleset, state.InForce,
		state.Began.Local().Format("2006-01-02 15:04"), shadowCounts(state.Shadow))
	return audit.PrintTrial(p, &state.Shadow.Report)
}

type rulesPromoteCommand struct {
	cli.OrderFlags
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock rules promote --help` adds.
func (rulesPromoteCommand) Help() string {
	return "An admin's signed order, which names the candidate and the rules it takes the place of. It is refused where the candidate\n" +
		"denies less than the rules in force, or is another one by now. The rules of before are kept beside."
}

// Run signs the order and has it carried out.
func (c *rulesPromoteCommand) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	body, _, err := backend.Candidate(p.Ctx)
	if err != nil {
		return err
	}
	if body.Ruleset == "" {
		return interlock.Errorf(interlock.CodeNotFound, "",
			"no ruleset decides in the shadow; interlock rules shadow NEW begins it")
	}
	given, err := cli.NewOrder(interlock.VerbPromoteRules, string(body.Ruleset), string(backend.Rules().Digest()), c.Reason,
		interlock.Requester{})
	if err != nil {
		return err
	}
	if given, err = p.Sign(backend, c.OrderFlags, given); err != nil {
		return err
	}
	done, err := backend.PromoteRules(p.Ctx, given.Order)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s is in force for every decision from now on, by order of %s, recorded as event %s\n", done.Ruleset,
		given.Operator, done.Event)
	if done.Former != "" {
		fmt.Fprintf(p.Stdout, "the rules of before are in %s\n", cli.Printable(done.Former))
	}
	return nil
}

type rulesSuppressCommand struct {
	Rule    string `arg:"" help:"Id of the rule, or of a profile's row, as decisions name it."`
	Reason  string `required:"" help:"Why, for the record and for every decision it touches." placeholder:"TEXT"`
	For     string `required:"" help:"How long: 90m, 8h, 7d; at most 90d." placeholder:"TIME"`
	Agent   string `help:"Only for agents this glob matches." placeholder:"GLOB"`
	Path    string `help:"Only where everything the rule objects to lies in this directory." type:"path" placeholder:"DIR"`
	Command string `help:"Only if each command that would run matches this glob as a whole." placeholder:"GLOB"`
	cli.OrderFlags
}

// Help is what `interlock rules suppress --help` adds.
func (rulesSuppressCommand) Help() string {
	return "Name at least one of --agent, --path and --command. What protects systems or Interlock itself can't be suppressed, and a rule " +
		"that denies takes an admin. Everything else that objects still does. docs/rules.md says more."
}

// Run signs an order and hands it in. Whether it counts is decided behind CarryOut, in the transaction that takes it.
func (c *rulesSuppressCommand) Run(p *cli.Program) error {
	length, err := cli.Period(c.For)
	if err != nil {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	denies, err := backend.Rules().Suppressible(c.Rule)
	if err != nil {
		return err
	}
	id, err := cli.NewID("sup_", 6)
	if err != nil {
		return err
	}
	created := cli.Now().UTC().Truncate(time.Second)
	order := interlock.Suppression{ID: id, Rule: c.Rule, Agent: c.Agent, Path: c.Path, Command: c.Command, Denials: denies,
		Reason: c.Reason, Created: created, Expires: created.Add(length)}
	given, done, err := p.Order(backend, c.OrderFlags, quorum.OfSuppression(order))
	if err != nil {
		return err
	}
	return p.Done(done, "%s: %s is suppressed %s until %s, by order of %s", order.ID, order.Rule, scopeOf(order),
		order.Expires.Local().Format("2006-01-02 15:04"), given.Operator)
}

// scopeOf says in words where an order holds.
func scopeOf(s interlock.Suppression) string {
	var parts []string
	for _, part := range [][2]string{{"for agents ", s.Agent}, {"in ", s.Path}, {"for commands ", s.Command}, {"in the run ", s.Run}} {
		if part[1] != "" {
			parts = append(parts, part[0]+cli.Printable(part[1]))
		}
	}
	return strings.Join(parts, " ")
}

type rulesSuppressionsCommand struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print one JSON object per line, with what was signed."`
}

// Run lists the orders that have not been lifted, those that have expired marked as such.
func (c *rulesSuppressionsCommand) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := core.Ordered[interlock.Suppression](p.Ctx, backend, interlock.VerbSuppress, ledger.Every(c.Limit()))
	if err != nil {
		return err
	}
	defer c.More(p, given.More())
	orders := cli.OldestFirst(given.Rows, func(s interlock.Suppression) (time.Time, string) { return s.Created, s.ID })
	return cli.PrintList(p.Stdout, c.JSON, "ID\tRULE\tSCOPE\tBY\tUNTIL\tREASON", orders, func(s interlock.Suppression) string {
		until := s.Expires.Local().Format("2006-01-02 15:04")
		if !s.InForce(cli.Now()) {
			until += " (expired)"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", s.ID, s.Rule, scopeOf(s), s.Operator, until, cli.Printable(s.Reason))
	})
}
