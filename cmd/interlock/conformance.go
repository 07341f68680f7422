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
	MCPAQL conformanceMCPAQL `cmd:"" name:"mcp-aql" help:"Print the evidence bundle of MCP-AQL: real answers of this program, for the specification's conformance runner."`
}

type conformanceMCPAQL struct{}

// Help is what `interlock conformance mcp-aql --help` adds.
func (conformanceMCPAQL) Help() string {
	return "Starts this program's MCP server twice, once for each endpoint mode, in a temporary home and drives it as a client\n" +
		"does. Your own home, settings and log are not touched. Give the output to the runner of the MCP-AQL specification."
}

// evidenceTime bounds the whole collection.
const evidenceTime = time.Minute

// Run prints the bundle.
func (conformanceMCPAQL) Run(p *program) error {
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
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(bundle)
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
