package main

import (
	"fmt"

	"interlock/internal/conform"
)

type conformanceASA struct {
	Strict bool `help:"Every clause has to pass, and not the MUSTs alone; also what needs several machines."`
	Here   bool `help:"Say instead whether this home's settings have both gates. Nothing is changed."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock conformance asa --help` adds.
func (conformanceASA) Help() string {
	return "Holds throw-away homes of this program, with a judge of their own, against the Internet-Draft of the Asimov Safety Architecture.\n" +
		"Your own home, settings and log are not touched. Each line is pass, fail or pending, a clause, and what was seen; then come the\n" +
		"eight items of its section 20. Exits 1 unless every MUST passes; topology and signed messages may be pending, except with --strict."
}

// Run makes every check, or looks at this home.
func (c conformanceASA) Run(p *program) error {
	if c.Here {
		return c.here(p)
	}
	clauses, err := conform.ASAClauses()
	if err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintln(p.stdout, conform.Draft)
	}
	return conformanceRun{name: "asa", clauses: clauses, checks: conform.ASAChecks(), strict: c.Strict, json: c.JSON,
		without: "topology and signed messages", items: func(results []conform.Result) {
			for _, r := range results {
				if n := conform.Item(r.ID); n > 0 && r.Word == conform.Pass {
					fmt.Fprintf(p.stdout, "item %d: %s\n", n, r.Word)
				} else if n > 0 {
					fmt.Fprintf(p.stdout, "item %d: %s: %s\n", n, r.Word, r.Seen)
				}
			}
		}}.drive(p)
}

// here says which of the draft's items the settings of this home can meet at all.
func (c conformanceASA) here(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if settings, err = p.inForce(settings); err != nil {
		return err
	}
	result := conform.Result{ID: "ASA-20-1", Must: true, Word: conform.Pass, Seen: "profile asa, and a judge is named"}
	switch {
	case !settings.Judge.IsSet():
		result.Word, result.Seen = conform.Fail, "item 1, both gates: no judge is named in the settings; docs/judge.md says how"
	case !alone(settings):
		result.Word = conform.Fail
		result.Seen = "item 1, both gates on every action: the profile is " + settings.Profile + ", and only asa wants the judge's allow"
	}
	if c.JSON {
		err = writeLine(p.stdout, result)
	} else {
		_, err = fmt.Fprintf(p.stdout, "%s\n%s %s %s\n", conform.Draft, result.Word, result.ID, result.Seen)
	}
	if err == nil && result.Word != conform.Pass {
		return &exitCode{code: 1}
	}
	return err
}
