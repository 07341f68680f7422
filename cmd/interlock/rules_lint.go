package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/rules"
)

type rulesTestCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run fails if any rule's own test does.
func (c *rulesTestCommand) Run(p *program) error {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return err
	}
	cases, problems := ruletest.Run(evaluator.Rules, evaluator.Analyser)
	return p.problems(c.JSON, fmt.Sprintf("%d tests of %d rules", cases, len(evaluator.Rules.Rules())), located(evaluator, problems, nil))
}

type rulesLintCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock rules lint --help` adds.
func (rulesLintCommand) Help() string {
	return "Your own rules come first, each with its file and line; then what they do to rules that ship. Exit status 1 if there is anything."
}

// Run fails if anything is found.
func (c *rulesLintCommand) Run(p *program) error {
	evaluator, settings, err := p.evaluator()
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
	large, err := p.largeCaps(evaluator.Rules)
	if err != nil {
		return err
	}
	budgets, err := p.largeBudgets(evaluator.Rules)
	if err != nil {
		return err
	}
	return p.problems(c.JSON, fmt.Sprintf("%d rules", len(evaluator.Rules.Rules())),
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

// ruleLine finds the line on which a rule's id stands in the user's files.
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

// problems prints what was found and fails if that is anything.
func (p *program) problems(asJSON bool, what string, found []problemAt) error {
	if asJSON {
		if err := writeLine(p.stdout, struct {
			Looked   string      `json:"looked_at"`
			Problems []problemAt `json:"problems"`
		}{what, found}); err != nil {
			return err
		}
		if len(found) > 0 {
			return &exitCode{code: 1}
		}
		return nil
	}
	for _, problem := range found {
		if _, err := fmt.Fprintln(p.stdout, problem); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%s: %d problems", what, len(found))
	}
	_, err := fmt.Fprintf(p.stdout, "%s: no problems\n", what)
	return err
}
