package main

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
	"interlock/internal/upstream"
)

type gatewayCommand struct {
	Agent   string   `help:"Identity of the agent behind this gateway; blocks and approvals are bound to it." default:"gateway" placeholder:"NAME"`
	Name    string   `help:"What the server after -- is called; its tools are NAME.tool. Default: the program's name." placeholder:"NAME"`
	Command []string `arg:"" optional:"" help:"After --: program and arguments of one MCP server."`
}

// Help is what `interlock gateway --help` adds.
func (gatewayCommand) Help() string {
	return "Stands between an MCP client and its servers on standard input and output: every call is decided before it is\n" +
		"forwarded, in exactly the form that was judged, and recorded with how it ended. `interlock gateway -- CMD ARG…` puts\n" +
		"one server behind it."
}

// Run serves one client until its input ends.
func (c *gatewayCommand) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if err := checkAgentName(c.Agent); err != nil {
		return usage(err)
	}
	servers, err := c.servers(p)
	if err != nil {
		return usage(err)
	}
	tuneServer()
	backend, err := embedded.OpenConfig(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := withoutToken(p, backend, c.Agent); err != nil {
		return err
	}
	gateway, err := newGateway(p, settings, backend, servers)
	if err != nil {
		return err
	}
	defer gateway.Close()
	connection, err := randomName()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the workspace is not known then, and no path is inside it
	}
	return gateway.RunStdio(p.ctx, mcpgateway.Caller{Agent: c.Agent, Principal: osUser(), Connection: "stdio:" + connection, Dir: dir}, p.stdin, p.stdout)
}

// withoutToken refuses to act for an agent that has to prove itself.
func withoutToken(p *program, backend *embedded.Backend, agent string) error {
	standing, err := backend.Standing(p.ctx)
	if err != nil {
		return err
	}
	if standing.Agents[agent].TokenHash != "" {
		return usage(interlock.Errorf(interlock.CodeUnauthorized, "--agent", "this agent has a token, so it can't be acted for without one; use the HTTP server, or another name"))
	}
	return nil
}

// servers are the servers this gateway stands before.
func (c *gatewayCommand) servers(p *program) ([]mcpgateway.Server, error) {
	if len(c.Command) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "CMD", "is missing; write -- and the command of an MCP server at the end")
	}
	name := c.Name
	if name == "" {
		name = serverName(c.Command[0])
	}
	server, err := upstream.New(upstream.Config{Name: name, Command: c.Command[0], Args: c.Command[1:]}, upstream.Options{Getenv: p.getenv})
	if err != nil {
		return nil, err
	}
	return []mcpgateway.Server{server}, nil
}

// serverName makes a server's name of its program's.
func serverName(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

// newGateway is the gateway over an open backend, for whichever transport.
func newGateway(p *program, settings config.Config, backend *embedded.Backend, servers []mcpgateway.Server) (*mcpgateway.Gateway, error) {
	return mcpgateway.New(mcpgateway.Config{Backend: backend.Admission, Servers: servers, Now: now, Random: rand.Reader,
		Logger: slog.New(slog.NewJSONHandler(p.stderr, nil)), Version: version(), View: embedded.NewViews(settings, now).Gather})
}
