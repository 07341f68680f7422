package prove

import (
	"interlock/cmd/interlock/cli"
	"interlock/internal/conform"
	"interlock/internal/conform/mace"
)

type conformanceMACE struct {
	Strict bool `help:"Every clause has to pass, and not the MUSTs alone."`
	Here   bool `help:"Say instead which clauses this home's settings and people satisfy, and what they lack. Nothing is changed."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock conformance mace --help` adds.
func (conformanceMACE) Help() string {
	return "Holds throw-away homes of this program, which councils govern, against the MACE safety boundaries, their governance and replay.\n" +
		"Your own home, settings and log are not touched. Each line is pass, fail or pending, a clause, and what was seen. Exits 1 unless\n" +
		"every MUST passes, with --strict every clause. What was sent and answered is in a new file, whose path is printed."
}

// Run makes every check.
func (c conformanceMACE) Run(p *cli.Program) error {
	clauses, err := conform.MACEClauses()
	if err != nil {
		return err
	}
	if c.Here {
		return homeRun{name: "mace", clauses: clauses, set: "a council", strict: c.Strict, json: c.JSON}.look(p)
	}
	return conformanceRun{name: "mace", clauses: clauses, checks: mace.Checks(), strict: c.Strict, json: c.JSON, without: "what is pending"}.drive(p)
}
