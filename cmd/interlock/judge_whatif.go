package main

import (
	"interlock"
	"interlock/embedded"
	"interlock/internal/judgetest"
	"interlock/internal/replay"
)

type judgeWhatIf struct {
	pastFlags
	Since string `help:"Only what was decided since: 90m, 8h, 7d ago, or a time as 2006-01-02T15:04:05Z." default:"7d" placeholder:"TIME"`
	Agent string `help:"Only what this agent did." placeholder:"NAME"`
	Most  int    `help:"Ask about no more than this many different actions." default:"200" placeholder:"N"`
	Allow bool   `name:"allow-stricter" help:"Exit 0 although something would be denied that was not."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock judge what-if --help` adds.
func (judgeWhatIf) Help() string {
	return "--rules FILE names ground rules to add to those that ship. Each recorded action that no gate denied is asked about under them, and\n" +
		"under those in force unless the record holds what the judge said under these. It costs what the judge costs. What comes out is not\n" +
		"authoritative: a model is asked now, nothing is decided or recorded. Exits 1 where something would be denied that was not, or had no answer."
}

// maxWhatIf is how many actions may be asked about.
const maxWhatIf = 10_000

// Run asks recorded actions again.
func (c *judgeWhatIf) Run(p *program) error {
	if c.Most < 1 || c.Most > maxWhatIf {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--most", "is from 1 to %d", maxWhatIf))
	}
	candidate, settings, err := p.candidateGround()
	if err != nil {
		return err
	}
	if candidate == "" {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--rules", "name the file of ground rules to ask under"))
	}
	from, err := p.moment("--since", c.Since)
	if err != nil {
		return err
	}
	inForce, _, err := p.groundRules(settings)
	if err != nil {
		return err
	}
	other, _, err := embedded.GroundRulesWith(candidate)
	if err != nil {
		return err
	}
	trial := &judgetest.WhatIf{Impacts: !alone(settings), Most: c.Most,
		Said: func(r *replay.Record) []interlock.Judgment { return r.Snapshot.Judgments }}
	if trial.Before, err = p.theJudge(settings, inForce); err != nil {
		return err
	}
	if trial.After, err = p.theJudge(settings, other); err != nil {
		return err
	}
	log, err := p.past(&c.pastFlags)
	if err != nil {
		return err
	}
	defer log.close()
	if err := log.verified(p); err != nil { // what is asked about must be what was recorded
		return err
	}
	if err := log.try(p, from, trial, func(r *replay.Record) bool {
		return r == nil || c.Agent == "" || r.Requester.Agent == c.Agent
	}); err != nil {
		return err
	}
	report, err := trial.Ask(p.ctx, p.asking("asking the judge"))
	p.asking("")(0, 0)
	if err != nil {
		return err
	}
	report.Archived = log.archived
	if c.JSON {
		err = writeLine(p.stdout, report)
	} else {
		err = report.Print(p.stdout, printable)
	}
	if err == nil && (report.Unanswered > 0 || report.Stricter() && !c.Allow) {
		return &exitCode{code: 1}
	}
	return err
}
