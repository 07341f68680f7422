package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/embedded"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/rules"
)

type rulesCommand struct {
	List rulesListCommand `cmd:"" help:"List the rules in force and the digest that names them."`
	Show rulesShowCommand `cmd:"" help:"Show one rule or one profile whole, with its tests."`
	Test rulesTestCommand `cmd:"" help:"Run every rule's own tests through the whole decision."`
	Lint rulesLintCommand `cmd:"" help:"Point at rules that never fire, never decide or fire too widely."`
	Diff rulesDiffCommand `cmd:"" help:"Say what a directory of rules would change."`
	Hits rulesHitsCommand `cmd:"" help:"Count how often each rule objected, from the log."`

	Shadow  rulesShadowCommand  `cmd:"" help:"Have other rules decide beside the ones in force, answering nobody, or say which do."`
	Adopt   rulesAdoptCommand   `cmd:"" help:"Have the rules in the rules directory count as ordered: an admin's signed order."`
	Promote rulesPromoteCommand `cmd:"" help:"Put the rules that decide in the shadow into force: an admin's signed order."`

	Suppress     rulesSuppressCommand     `cmd:"" help:"Keep one rule silent in a scope for a while: an operator's signed order."`
	Suppressions rulesSuppressionsCommand `cmd:"" help:"List the orders by which rules are kept silent."`
	Unsuppress   rulesUnsuppressCommand   `cmd:"" help:"End such an order."`
}

type rulesListCommand struct {
	JSON bool `name:"json" help:"Print one JSON object per line."`
}

// Run lists the rules by id.
func (c *rulesListCommand) Run(p *program) error {
	set, err := p.ruleset()
	if err != nil {
		return err
	}
	if c.JSON {
		for _, r := range set.Rules() {
			if err := writeLine(p.stdout, r); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	for _, r := range set.Rules() {
		origin := ""
		if r.User() {
			origin = "(yours)"
		}
		fmt.Fprintf(table, "%s\t%s\tlayer %d\t%s %s\n", r.ID, r.Verdict, r.Layer, r.Reason, origin)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d rules, profiles %s, ruleset %s\n", len(set.Rules()),
		strings.Join(set.Profiles(), " "), set.Digest())
	return err
}

type rulesShowCommand struct {
	ID string `arg:"" help:"Id of a rule, or name of a profile."`
}

// Run prints a rule or profile as JSON, which is also valid YAML.
func (c *rulesShowCommand) Run(p *program) error {
	set, err := p.ruleset()
	if err != nil {
		return err
	}
	if rule, ok := set.Rule(c.ID); ok {
		return writeIndented(p.stdout, rule)
	}
	if profile, ok := set.Profile(c.ID); ok {
		return writeIndented(p.stdout, profile)
	}
	return interlock.Errorf(interlock.CodeNotFound, "ID",
		"%.60q is neither a rule nor a profile; `interlock rules list` names them", c.ID)
}

type rulesTestCommand struct{}

// Run fails if any rule's own test does.
func (rulesTestCommand) Run(p *program) error {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return err
	}
	cases, problems := ruletest.Run(evaluator.Rules, evaluator.Analyser)
	return reportProblems(p.stdout, fmt.Sprintf("%d tests of %d rules", cases, len(evaluator.Rules.Rules())), problems)
}

type rulesLintCommand struct{}

// Run fails if anything is found.
func (rulesLintCommand) Run(p *program) error {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return err
	}
	if err := ruleset.Verify(rules.Defaults()); err != nil { // which deciding takes for granted
		return err
	}
	problems := append(ruletest.Lint(evaluator.Rules, evaluator.Analyser),
		ruletest.Idle(evaluator.Rules, evaluator.Analyser, evaluator.Profile)...)
	return reportProblems(p.stdout, fmt.Sprintf("%d rules", len(evaluator.Rules.Rules())), problems)
}

func reportProblems(w io.Writer, what string, problems []ruletest.Problem) error {
	for _, problem := range problems {
		if _, err := fmt.Fprintln(w, problem); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s: %d problems", what, len(problems))
	}
	_, err := fmt.Fprintf(w, "%s: no problems\n", what)
	return err
}

type rulesDiffCommand struct {
	Dir    string `arg:"" optional:"" help:"Directory of YAML rules to compare with the ones in force." type:"path"`
	Shadow bool   `help:"Where the rules that decide in the shadow have parted from the ones in force instead."`
	JSON   bool   `name:"json" help:"Print JSON; with --shadow."`
}

// Run prints one line per difference; the status is 0 whether there are any or not.
func (c *rulesDiffCommand) Run(p *program) error {
	switch {
	case c.Shadow == (c.Dir != ""):
		return usage(interlock.Errorf(interlock.CodeInvalid, "DIR", "name a directory of rules, or --shadow"))
	case c.Shadow:
		return shadowDiff(p, c.JSON)
	case c.JSON:
		return usage(interlock.Errorf(interlock.CodeInvalid, "--json", "is for --shadow"))
	}
	from, err := p.ruleset()
	if err != nil {
		return err
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	settings.Rules = c.Dir
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		return err
	}
	changes, err := ruleset.Diff(from, evaluator.Rules)
	if err != nil {
		return err
	}
	for _, change := range changes {
		if _, err := fmt.Fprintf(p.stdout, "%s %s\n", change.How, change.What); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%d differences; %s -> %s\n", len(changes), from.Digest(), evaluator.Rules.Digest())
	return err
}

// ruleset loads the rules in force.
func (p *program) ruleset() (*ruleset.Ruleset, error) {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return nil, err
	}
	return evaluator.Rules, nil
}

func writeIndented(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
