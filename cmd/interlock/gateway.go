package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/internal/upstream"
)

type gatewayCommand struct {
	Agent   string   `help:"Identity of the agent behind this gateway; blocks and approvals are bound to it. Default: the client's name, or gateway." placeholder:"NAME"`
	Client  string   `help:"Also stand before the servers that interlock install gateway moved from this client's settings." placeholder:"NAME"`
	Name    string   `help:"What the server after -- is called; its tools are NAME.tool. Default: the name of the program, or of what npx, uvx and the like run." placeholder:"NAME"`
	Listen  string   `help:"Serve agents over HTTP at this address, instead of one client on standard input and output. Each shows its own token." placeholder:"ADDR"`
	Ready   string   `help:"Write the gateway's address to this file once requests are answered; with --listen." type:"path" placeholder:"FILE"`
	Canary  bool     `hidden:"" help:"Also stand before doctor's canary."`
	Command []string `arg:"" optional:"" help:"After --: program and arguments of one MCP server."`
}

// Help is what `interlock gateway --help` adds.
func (gatewayCommand) Help() string {
	return "Stands between an MCP client and its servers on standard input and output: every call is decided before it is\n" +
		"forwarded, in exactly the form that was judged, and recorded with how it ended. The servers are those of the settings,\n" +
		"under gateway.servers; `interlock gateway -- CMD ARG…` puts one behind it without any."
}

// Run serves one client until its input ends.
func (c *gatewayCommand) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if c.Agent == "" {
		c.Agent = "gateway"
		if config.ValidClient(c.Client) {
			c.Agent = c.Client
		}
	}
	if err := checkAgentName(c.Agent); err != nil {
		return usage(err)
	}
	if c.Ready != "" && c.Listen == "" {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--ready", "goes with --listen"))
	}
	servers, err := c.servers(p, settings)
	if err != nil {
		return err
	}
	if c.Listen == "" && watchesOnly(settings) {
		tuneWatcher(p.ctx)
	} else {
		tuneServer()
	}
	backend, err := embedded.OpenConfig(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settings = backend.Settings // those that are in force
	p.saySettled(backend)
	go returnIdleMemory(p.ctx)
	gateway, err := newGateway(p, settings, backend, servers)
	if err != nil {
		return err
	}
	defer gateway.Close()
	go newLookout(p, backend, "", gatewayLogger(p)).keep(p.ctx)
	if c.Listen != "" {
		go obey(p.ctx, gateway, settings.Home)
		return serveGateway(p, settings, backend, gateway, c.Listen, c.Ready)
	}
	return c.stdio(p, settings, backend, gateway)
}

// stdio serves the client on standard input and output until its input ends, or everything is stopped.
func (c *gatewayCommand) stdio(p *program, settings config.Config, backend *embedded.Backend, gateway *mcpgateway.Gateway) error {
	if err := withoutToken(p, backend, c.Agent); err != nil {
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
	if err := backend.Stopped(p.ctx); err != nil { // it would begin servers only to end them
		return err
	}
	ctx, stopped := context.WithCancelCause(p.ctx)
	defer stopped(nil)
	go whenStopped(ctx, settings.Home, func(h ledger.HoldBody) {
		stopped(interlock.Errorf(interlock.CodeUnavailable, "", "everything is stopped (%s); the gateway and its servers have ended", h.Why))
		gateway.Cut(true)
	})
	err = gateway.RunStdio(ctx, mcpgateway.Caller{Agent: c.Agent, Principal: account.Name(), Connection: "stdio:" + connection,
		Dir: dir}, waitable(p.stdin), p.stdout)
	if why := context.Cause(ctx); why != nil && p.ctx.Err() == nil {
		return why
	}
	return err
}

// watchesOnly reports whether calls wait for no disk: nothing is enforced, and only what something objects to is recorded.
func watchesOnly(settings config.Config) bool {
	return settings.Gateway.Record == config.RecordObjections && settings.Mode != interlock.Enforcing
}

// withoutToken refuses to act for an agent that has to prove itself.
func withoutToken(p *program, backend *embedded.Backend, agent string) error {
	standing, err := backend.Ground(p.ctx, ref(ledger.Agent, agent))
	if err != nil {
		return err
	}
	if standing.Agents[agent].TokenHash != "" {
		return usage(interlock.Errorf(interlock.CodeUnauthorized, "--agent",
			"this agent has a token, so it can't be acted for without one; use the HTTP server, or another name"))
	}
	return nil
}

// servers are the servers this gateway stands before: the one of the command line, or those of the settings.
func (c *gatewayCommand) servers(p *program, settings config.Config) ([]mcpgateway.Server, error) {
	options := upstream.Options{Getenv: p.getenv, Log: upstreamLog(gatewayLogger(p))}
	if len(c.Command) == 0 {
		configured, err := embedded.Servers(settings, c.Client, options)
		if err != nil {
			return nil, err
		}
		var servers []mcpgateway.Server
		for _, server := range configured {
			servers = append(servers, server)
		}
		if c.Canary {
			servers = append(servers, canaryServer{})
		}
		if len(servers) == 0 {
			return nil, usage(interlock.Errorf(interlock.CodeInvalid, "CMD",
				"is missing; write -- and the command of an MCP server at the end, or name servers in the settings, under gateway.servers"))
		}
		return servers, nil
	}
	if c.Client != "" {
		return nil, usage(interlock.Errorf(interlock.CodeInvalid, "--client",
			"can't stand with a command after --; its servers are in the settings"))
	}
	name := c.Name
	if name == "" {
		name = serverName(c.Command)
	}
	command := c.Command[0]
	if strings.ContainsRune(command, filepath.Separator) { // as it stands here, whatever directory it is started in
		absolute, err := filepath.Abs(command)
		if err != nil {
			return nil, usage(interlock.Errorf(interlock.CodeInvalid, "CMD", "can't be found: %s", err))
		}
		command = absolute
	}
	server, err := upstream.New(upstream.Config{Name: name, Command: command, Args: c.Command[1:]}, options)
	if err != nil {
		return nil, usage(err)
	}
	return []mcpgateway.Server{server}, nil
}

// gatewayLogger writes the gateway's log, one JSON object to a line.
func gatewayLogger(p *program) *slog.Logger { return slog.New(slog.NewJSONHandler(p.stderr, nil)) }

// upstreamLog logs what servers write to their error output.
func upstreamLog(logger *slog.Logger) func(server, line string) {
	return func(server, line string) {
		logger.Info("a server wrote to its error output", "server", server, "line", line)
	}
}

// consolePages is where an operator finds the console of this home, if `interlock up` serves one as the settings say.
func consolePages(settings config.Config) string {
	if settings.ConsoleURL == "" && settings.Listen == "off" {
		return ""
	}
	return consoleURL(settings, settings.Listen)
}

// newGateway is the gateway over an open backend, for whichever transport.
func newGateway(p *program, settings config.Config, backend *embedded.Backend,
	servers []mcpgateway.Server) (*mcpgateway.Gateway, error) {
	asker, err := embedded.NewAsker(backend, settings, consolePages(settings))
	if err != nil {
		return nil, err
	}
	c := mcpgateway.Config{Backend: backend.Admission, Hearer: backend.Admission, Classifier: textsOfResults(settings, backend),
		Asker: asker, CanAsk: true, Servers: servers,
		Now: now, Random: rand.Reader,
		Sparing: settings.Gateway.Record == config.RecordObjections,
		Forms:   func() bool { return backend.Rules().HighestTier() > 0 },
		Pins:    backend.Admission, FirstUse: firstUse(settings, servers), Logger: gatewayLogger(p), Version: version(),
		View: embedded.NewViews(settings, now).Gather, Limits: mcpgateway.Limits{Sessions: settings.Gateway.Sessions}}
	if slices.ContainsFunc(servers, isCanary) { // doctor asks
		c.Pins, c.Limits.Start = canaryPins{c.Pins}, serverPatience
	}
	return mcpgateway.New(c)
}

// firstUse says whose tools are trusted when they are first seen: if the settings don't say, those of programs, which whoever
// starts this one has named.
func firstUse(settings config.Config, servers []mcpgateway.Server) func(server string) bool {
	programs := map[string]bool{}
	for _, server := range servers {
		programs[server.Name()] = server.Local()
	}
	return func(server string) bool {
		if said := settings.Gateway.TrustOnFirstUse; said != nil {
			return *said
		}
		return programs[server]
	}
}
