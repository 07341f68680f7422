package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/conform"
	"interlock/internal/conform/aql"
	"interlock/internal/mcpaql/evidence"
)

type conformanceMCPAQL struct {
	Evidence bool `help:"Print the evidence bundle instead: real answers of this program, for the specification's conformance runner."`
	Strict   bool `help:"Every clause has to pass, and not the MUSTs alone; also those that docs/divergences.md departs from."`
	Here     bool `help:"Say instead which clauses this home's settings and rules satisfy, and what they lack. Nothing is changed."`
	JSON     bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock conformance mcp-aql --help` adds.
func (conformanceMCPAQL) Help() string {
	return "Holds throw-away homes of this program against MCP-AQL: `interlock mcp` on standard streams in both endpoint modes, /mcp over HTTP, and\n" +
		"operators' commands. Your own home, settings and log are not touched. Each line is pass, fail or pending, a clause, and what was\n" +
		"seen. Exits 1 unless every MUST passes; one that docs/divergences.md departs from may be pending, except with --strict. What was\n" +
		"sent and answered is in a new file, whose path is printed. Give what --evidence prints to the runner of the specification."
}

// evidenceTime bounds the whole collection.
const evidenceTime = time.Minute

// Run makes every check, looks at this home, or prints the bundle.
func (c conformanceMCPAQL) Run(p *cli.Program) error {
	if c.Evidence {
		return bundle(p)
	}
	clauses, err := conform.AQLClauses()
	if err != nil {
		return err
	}
	if c.Here {
		return homeRun{name: "mcp-aql", clauses: clauses, set: "MCP-AQL", strict: c.Strict, json: c.JSON}.look(p)
	}
	return conformanceRun{name: "mcp-aql", clauses: clauses, checks: aql.Checks(), strict: c.Strict, json: c.JSON,
		without: "what docs/divergences.md departs from"}.drive(p)
}

// bundle prints what this program answers, as the specification's runner reads it.
func bundle(p *cli.Program) error {
	ctx, cancel := context.WithTimeout(p.Ctx, evidenceTime)
	defer cancel()
	home, err := os.MkdirTemp("", "interlock-evidence-")
	if err != nil {
		return fmt.Errorf("making a temporary home: %w", err)
	}
	defer os.RemoveAll(home)
	semantic, err := serveTo(ctx, p, home, "semantic")
	if err != nil {
		return err
	}
	defer semantic.Close()
	single, err := serveTo(ctx, p, home, "single")
	if err != nil {
		return err
	}
	defer single.Close()
	collected, err := evidence.Collect(ctx, semantic, single)
	if err != nil {
		return fmt.Errorf("collecting evidence: %w", err)
	}
	out := json.NewEncoder(p.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(collected)
}

// serveTo starts this program's MCP server as a process of its own and connects to it. Nothing that is set for this process
// reaches it: the evidence is of the program, not of somebody's settings.
func serveTo(ctx context.Context, p *cli.Program, home, mode string) (*mcp.ClientSession, error) {
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
	command.Stderr = p.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "interlock-evidence", Version: embedded.Version()}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return nil, fmt.Errorf("starting the server in %s mode: %w", mode, err)
	}
	return session, nil
}
