package serve

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"time"
	"unicode"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/people"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/mcpaql"
)

type MCPCommand struct {
	Agent      string `help:"Identity of the agent behind this server; blocks and approvals are bound to it." default:"mcp" placeholder:"NAME"`
	Endpoints  string `help:"semantic (a tool for each kind of operation) or single (one tool)." enum:"semantic,single," default:"" placeholder:"MODE"`
	SafetyLoop string `help:"enforcing, monitoring, logging or disabled, instead of what settings and MCPAQL_SAFETY_LOOP say." placeholder:"MODE"`
}

// Help is what `interlock mcp --help` adds.
func (MCPCommand) Help() string {
	return "Serves the MCP-AQL safety loop on standard input and output, for an MCP client to start. `interlock up` serves the\n" +
		"same at /mcp. Here --mode takes semantic or single as well. The mode of the safety loop comes from --safety-loop, --mode,\n" +
		"MCPAQL_SAFETY_LOOP or the settings, in this order; whoever starts this process decides, and the change is recorded."
}

// Run serves one client until its input ends.
func (c *MCPCommand) Run(p *cli.Program) error {
	settings, single, err := c.settings(p)
	if err != nil {
		return err
	}
	if err := checkAgentName(c.Agent); err != nil {
		return cli.Usage(err)
	}
	cli.TuneMemory()
	backend, err := p.OpenServer(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settings = backend.Settings // those that are in force
	people.SaySettled(p, backend)
	if err := withoutToken(p, backend, c.Agent); err != nil {
		return err
	}
	server, err := mcpServer(p, settings, backend, single)
	if err != nil {
		return err
	}
	connection, err := randomName()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the workspace is not known then, and no path is inside it
	}
	return server.RunStdio(p.Ctx, mcpaql.Caller{Agent: c.Agent, Principal: account.Name(), Connection: "stdio:" + connection,
		Dir: dir}, waitable(p.Stdin), p.Stdout)
}

// settings are the program's, with the mode of the safety loop as this command is told it, and which tools are served.
func (c *MCPCommand) settings(p *cli.Program) (settings config.Config, single bool, err error) {
	single = c.Endpoints == "single"
	mode := c.SafetyLoop
	switch p.Globals.Mode {
	case "semantic", "single":
		if c.Endpoints != "" && c.Endpoints != p.Globals.Mode {
			return settings, false, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--mode",
				"and --endpoints say different things; give one"))
		}
		single = p.Globals.Mode == "single"
		p.Globals.Mode = ""
	}
	if settings, err = p.Settings(); err != nil {
		return settings, false, err
	}
	field := "--safety-loop"
	if mode == "" && p.Globals.Mode == "" {
		mode, field = p.Getenv("MCPAQL_SAFETY_LOOP"), "MCPAQL_SAFETY_LOOP"
	}
	if mode != "" {
		if err := settings.Mode.UnmarshalText([]byte(mode)); err != nil {
			return settings, false, cli.Usage(interlock.Errorf(interlock.CodeInvalid, field, "%v", err))
		}
	}
	return settings, single, nil
}

// mcpServer is the safety loop over an open backend, for whichever transport.
func mcpServer(p *cli.Program, settings config.Config, backend *embedded.Backend, single bool) (*mcpaql.Server, error) {
	return mcpaql.New(mcpaql.Config{Backend: backend.Admission, Rules: backend.Rules, Profile: settings.Profile,
		Mode: settings.Mode,
		Now:  p.Now, Random: rand.Reader, Logger: slog.New(slog.NewJSONHandler(p.Stderr, nil)), Single: single, Version: embedded.Version(),
		View: embedded.NewViews(settings, p.Now).Gather, Acknowledge: settings.MCPAcknowledge,
		Tokens: mcpaql.TokenConfig{TTL: time.Duration(settings.MCPTokenTTL),
			ForbiddenTTL: time.Duration(settings.MCPForbiddenTokenTTL),
			Tolerance:    time.Duration(settings.MCPClockTolerance)},
		Memory:     memoryOf(settings, backend),
		Executions: settings.MCPExecutions, Idle: time.Duration(settings.MCPIdle)})
}

// memoryOf is where agents keep facts, if the settings say that they do.
func memoryOf(settings config.Config, backend *embedded.Backend) mcpaql.Memory {
	if !settings.Memory.Enabled {
		return nil
	}
	return backend.Admission
}

// checkAgentName refuses names that no log line could show as they are.
func checkAgentName(name string) error {
	if name == "" || len(name) > 128 {
		return interlock.Errorf(interlock.CodeInvalid, "--agent", "must have 1 to 128 bytes")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return interlock.Errorf(interlock.CodeInvalid, "--agent",
				"holds a space or a character that can't be shown; use letters, digits and hyphens")
		}
	}
	return nil
}

func randomName() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
