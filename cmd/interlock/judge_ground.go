package main

import (
	"fmt"
	"io"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/groundrules"
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
func (p *program) groundRules(settings config.Config) (whole, added *groundrules.Rules, err error) {
	now, err := embedded.GroundRulesNow(p.ctx, settings)
	return now.Rules, now.Added, err
}

// theJudge is the judge of the settings, holding questions against some ground rules.
func (p *program) theJudge(settings config.Config, ground *groundrules.Rules) (interlock.Judge, error) {
	if p.judge != nil {
		return p.judge(settings, ground)
	}
	if !settings.Judge.IsSet() {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "judge", "no judge is configured; docs/judge.md says how")
	}
	clients, err := embedded.Judges(settings, embedded.Judging{Ground: ground, Getenv: p.getenv, Now: p.now})
	if err != nil {
		return nil, err
	}
	return clients[0], nil
}

// candidateGround takes --rules for a file of ground rules, as commands about a judge do, and returns the settings without it.
func (p *program) candidateGround() (file string, settings config.Config, err error) {
	file, p.globals.RulesDir = p.globals.RulesDir, ""
	settings, err = p.settings()
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
func (c *judgeRulesShow) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	whole, _, err := p.groundRules(settings)
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
		return writeIndented(p.stdout, rule)
	}
	if c.JSON {
		return writeLine(p.stdout, struct {
			Digest interlock.Digest   `json:"digest"`
			Bytes  int                `json:"bytes"`
			Tokens int                `json:"tokens"` // roughly
			Rules  []groundrules.Rule `json:"rules"`
		}{whole.Digest(), len(whole.Text()), whole.Tokens(), whole.Rules()})
	}
	_, err = io.WriteString(p.stdout, whole.Text())
	return err
}

type judgeRulesDiff struct {
	File string `arg:"" help:"File of ground rules to add to those that ship." type:"path"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Run prints one line per difference; the status is 0 whether there are any or not.
func (c *judgeRulesDiff) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	from, _, err := p.groundRules(settings)
	if err != nil {
		return err
	}
	to, _, err := embedded.GroundRulesWith(c.File)
	if err != nil {
		return err
	}
	changes := groundrules.Diff(from, to)
	if c.JSON {
		return writeLine(p.stdout, struct {
			From    interlock.Digest     `json:"from"`
			To      interlock.Digest     `json:"to"`
			Changes []groundrules.Change `json:"changes"`
		}{from.Digest(), to.Digest(), changes})
	}
	for _, change := range changes {
		fmt.Fprintf(p.stdout, "%s %s\n", change.How, change.What)
	}
	_, err = fmt.Fprintf(p.stdout, "%d differences; %s -> %s\n", len(changes), from.Digest(), to.Digest())
	return err
}

type judgeRulesLint struct {
	File    string `arg:"" optional:"" help:"File of ground rules to add to those that ship. Default: those in force." type:"path"`
	Window  int    `help:"Tokens that the judge's model can read and write at once; 0: not known." default:"32768" placeholder:"TOKENS"`
	Payload int    `help:"Bytes of the largest question that it is asked." default:"65536" placeholder:"BYTES"`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// aroundTokens is roughly what stands around ground rules and question: the role, the form of the answer, and the answer.
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
func (c *judgeRulesLint) Run(p *program) error {
	if c.Window < 0 || c.Payload < 0 {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--window", "it and --payload are 0 or more"))
	}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	file := c.File
	whole, added, err := p.groundRules(settings)
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

func (c *judgeRulesLint) print(p *program, whole *groundrules.Rules, found []groundProblem) error {
	what := fmt.Sprintf("%d ground rules, about %d tokens", len(whole.Rules()), whole.Tokens())
	if c.JSON {
		err := writeLine(p.stdout, struct {
			Looked   string          `json:"looked_at"`
			Problems []groundProblem `json:"problems"`
		}{what, found})
		if err == nil && len(found) > 0 {
			return &exitCode{code: 1}
		}
		return err
	}
	for _, problem := range found {
		if problem.File != "" {
			fmt.Fprintf(p.stdout, "%s:%d: ", printable(problem.File), problem.Line)
		}
		fmt.Fprintln(p.stdout, problem)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s: %d problems", what, len(found))
	}
	_, err := fmt.Fprintf(p.stdout, "%s: no problems\n", what)
	return err
}
