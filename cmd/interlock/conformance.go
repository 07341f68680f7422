package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/mcpaql/evidence"
)

type conformanceCommand struct {
	MCPAQL conformanceMCPAQL `cmd:"" name:"mcp-aql" help:"Hold a live server of this program against MCP-AQL, clause by clause."`
	MASO   conformanceMASO   `cmd:"" name:"maso" help:"Hold throw-away homes of this program against MASO Execution Control, clause by clause."`
	ASA    conformanceASA    `cmd:"" name:"asa" help:"Hold throw-away homes of this program against the Asimov Safety Architecture, clause by clause."`
}

type conformanceMCPAQL struct {
	Evidence bool `help:"Print the evidence bundle instead: real answers of this program, for the specification's conformance runner."`
}

// Help is what `interlock conformance mcp-aql --help` adds.
func (conformanceMCPAQL) Help() string {
	return "Starts this program's MCP server twice, once for each endpoint mode, in a temporary home and drives it as a client\n" +
		"does. Your own home, settings and log are not touched. Each line is pass or fail, a clause, and what was seen; clauses that\n" +
		"no client can see are left out. Exits 1 if a MUST fails. Give what --evidence prints to the runner of the specification."
}

// evidenceTime bounds the whole collection.
const evidenceTime = time.Minute

// Run judges, or prints the bundle.
func (c conformanceMCPAQL) Run(p *program) error {
	ctx, cancel := context.WithTimeout(p.ctx, evidenceTime)
	defer cancel()
	home, err := os.MkdirTemp("", "interlock-evidence-")
	if err != nil {
		return fmt.Errorf("making a temporary home: %w", err)
	}
	defer os.RemoveAll(home)
	semantic, err := p.serveTo(ctx, home, "semantic")
	if err != nil {
		return err
	}
	defer semantic.Close()
	single, err := p.serveTo(ctx, home, "single")
	if err != nil {
		return err
	}
	defer single.Close()
	bundle, err := evidence.Collect(ctx, semantic, single)
	if err != nil {
		return fmt.Errorf("collecting evidence: %w", err)
	}
	if !c.Evidence {
		judgements, err := evidence.Judge(ctx, bundle, single)
		if err != nil {
			return fmt.Errorf("judging: %w", err)
		}
		return p.judged(judgements)
	}
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(bundle)
}

// judged prints what was seen of each clause, the counts and the verdict. Its error says that a MUST has failed.
func (p *program) judged(judgements []evidence.Judgement) error {
	passed, failed, broken := 0, 0, 0
	for _, one := range judgements {
		word := "pass"
		if passed++; !one.Passed {
			passed--
			failed++
			word = "fail"
		}
		if !one.Passed && one.Must {
			broken++
		}
		fmt.Fprintln(p.stdout, word, one.ID, strings.Join(strings.Fields(one.Seen), " "))
	}
	fmt.Fprintf(p.stdout, "%d passed, %d failed, of %d clauses that a client can see\n", passed, failed, len(judgements))
	if broken > 0 {
		fmt.Fprintf(p.stdout, "not conformant: %d MUST failed\n", broken)
		return fmt.Errorf("%d clauses that must hold do not", broken)
	}
	fmt.Fprintln(p.stdout, "conformant, as far as a client can see; docs/conformance.md names the tests of every clause")
	return nil
}

// serveTo starts this program's MCP server as a process of its own and connects to it. Nothing that is set for this process
// reaches it: the evidence is of the program, not of somebody's settings.
func (p *program) serveTo(ctx context.Context, home, mode string) (*mcp.ClientSession, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	command := exec.CommandContext(ctx, program, "mcp", "--home", home, "--mode", mode, "--safety-loop", "enforcing", "--agent",
		"evidence-"+mode)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "MCPAQL_") && (!strings.HasPrefix(name, "INTERLOCK_") || name == "INTERLOCK_TEST_MAIN") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Stderr = p.stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "interlock-evidence", Version: version()}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return nil, fmt.Errorf("starting the server in %s mode: %w", mode, err)
	}
	return session, nil
}
