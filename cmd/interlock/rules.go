package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"interlock"
	"interlock/embedded"
	"interlock/internal/ruleset"
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
	s := p.screen()
	ruleTable(set.Rules()).print(s)
	fmt.Fprintf(s, "%d rules, profiles %s, ruleset %s\n", len(set.Rules()), strings.Join(set.Profiles(), " "), set.Digest())
	return s.show()
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

type rulesDiffCommand struct {
	Dir    string `arg:"" optional:"" help:"Directory of YAML rules to compare with the ones in force." type:"path"`
	Shadow bool   `help:"Where the rules that decide in the shadow have parted from the ones in force instead."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run prints one line per difference; the status is 0 whether there are any or not.
func (c *rulesDiffCommand) Run(p *program) error {
	switch {
	case c.Shadow == (c.Dir != ""):
		return usage(interlock.Errorf(interlock.CodeInvalid, "DIR", "name a directory of rules, or --shadow"))
	case c.Shadow:
		return shadowDiff(p, c.JSON)
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
	if c.JSON {
		return printChanges(p.stdout, changes, from.Digest(), evaluator.Rules.Digest())
	}
	for _, change := range changes {
		if _, err := fmt.Fprintf(p.stdout, "%s %s\n", change.How, change.What); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%d differences; %s -> %s\n", len(changes), from.Digest(), evaluator.Rules.Digest())
	return err
}

// printChanges prints what differs between two rulesets as one JSON object.
func printChanges(w io.Writer, changes []ruleset.Change, from, to interlock.Digest) error {
	type change struct {
		How  string `json:"how"`
		What string `json:"what"`
	}
	list := make([]change, 0, len(changes))
	for _, c := range changes {
		list = append(list, change{c.How, c.What})
	}
	return writeLine(w, struct {
		From    interlock.Digest `json:"from"`
		To      interlock.Digest `json:"to"`
		Changes []change         `json:"changes"`
	}{from, to, list})
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
