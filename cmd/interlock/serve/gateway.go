package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/people"
	"interlock/cmd/interlock/setup"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission/pinning"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/internal/upstream"
)

type GatewayCommand struct {
	Agent   string   `help:"Identity of the agent behind this gateway; blocks and approvals are bound to it. Default: the client's name, or gateway." placeholder:"NAME"`
	Client  string   `help:"Also stand before the servers that interlock install gateway moved from this client's settings." placeholder:"NAME"`
	Name    string   `help:"What the server after -- is called; its tools are NAME.tool. Default: the name of the program, or of what npx, uvx and the like run." placeholder:"NAME"`
	Listen  string   `help:"Serve agents over HTTP at this address, instead of one client on standard input and output. Each shows its own token." placeholder:"ADDR"`
	Ready   string   `help:"Write the gateway's address to this file once requests are answered; with --listen." type:"path" placeholder:"FILE"`
	Canary  bool     `hidden:"" help:"Also stand before doctor's canary."`
	Command []string `arg:"" optional:"" help:"After --: program and arguments of one MCP server."`
}

// Help is what `interlock gateway --help` adds.
func (GatewayCommand) Help() string {
	return "Stands between an MCP client and its servers on standard input and output: every call is decided before it is\n" +
		"forwarded, in exactly the form that was judged, and recorded with how it ended. The servers are those of the settings,\n" +
		"under gateway.servers; `interlock gateway -- CMD ARG…` puts one behind it without any."
}

// Run serves one client until its input ends.
func (c *GatewayCommand) Run(p *cli.Program) error {
	settings, err := p.Settings()
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
		return cli.Usage(err)
	}
	if c.Ready != "" && c.Listen == "" {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--ready", "goes with --listen"))
	}
	servers, err := c.servers(p, settings)
	if err != nil {
		return err
	}
	if c.Listen == "" && watchesOnly(settings) {
		cli.TuneWatcher(p.Ctx)
	} else {
		cli.TuneServer()
	}
	backend, err := embedded.OpenConfig(p.Ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settings = backend.Settings // those that are in force
	people.SaySettled(p, backend)
	go cli.ReturnIdleMemory(p.Ctx)
	gateway, err := newGateway(p, settings, backend, servers)
	if err != nil {
		return err
	}
	defer gateway.Close()
	go NewLookout(p, backend, "", gatewayLogger(p)).keep(p.Ctx)
	if c.Listen != "" {
		go obey(p.Ctx, gateway, settings.Home)
		return serveGateway(p, settings, backend, gateway, c.Listen, c.Ready)
	}
	return c.stdio(p, settings, backend, gateway)
}

// stdio serves the client on standard input and output until its input ends, or everything is stopped.
func (c *GatewayCommand) stdio(p *cli.Program, settings config.Config, backend *embedded.Backend,
	gateway *mcpgateway.Gateway) error {
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
	if err := backend.Stopped(p.Ctx); err != nil { // it would begin servers only to end them
		return err
	}
	ctx, stopped := context.WithCancelCause(p.Ctx)
	defer stopped(nil)
	go cli.WhenStopped(ctx, settings.Home, func(h ledger.HoldBody) {
		stopped(interlock.Errorf(interlock.CodeUnavailable, "", "everything is stopped (%s); the gateway and its servers have ended", h.Why))
		gateway.Cut(true)
	})
	err = gateway.RunStdio(ctx, mcpgateway.Caller{Agent: c.Agent, Principal: account.Name(), Connection: "stdio:" + connection,
		Dir: dir}, waitable(p.Stdin), p.Stdout)
	if why := context.Cause(ctx); why != nil && p.Ctx.Err() == nil {
		return why
	}
	return err
}

// watchesOnly reports whether calls wait for no disk: nothing is enforced, and only what something objects to is recorded.
func watchesOnly(settings config.Config) bool {
	return settings.Gateway.Record == config.RecordObjections && settings.Mode != interlock.Enforcing
}

// withoutToken refuses to act for an agent that has to prove itself.
func withoutToken(p *cli.Program, backend *embedded.Backend, agent string) error {
	standing, err := backend.Ground(p.Ctx, cli.Ref(ledger.Agent, agent))
	if err != nil {
		return err
	}
	if standing.Agents[agent].TokenHash != "" {
		return cli.Usage(interlock.Errorf(interlock.CodeUnauthorized, "--agent",
			"this agent has a token, so it can't be acted for without one; use the HTTP server, or another name"))
	}
	return nil
}

// servers are the servers this gateway is in front of: the one of the command line, or those of the settings.
func (c *GatewayCommand) servers(p *cli.Program, settings config.Config) ([]mcpgateway.Server, error) {
	options := upstream.Options{Getenv: p.Getenv, Log: upstreamLog(settings, gatewayLogger(p))}
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
			return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "CMD",
				"is missing; write -- and the command of an MCP server at the end, or name servers in the settings, under gateway.servers"))
		}
		return servers, nil
	}
	if c.Client != "" {
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--client",
			"can't stand with a command after --; its servers are in the settings"))
	}
	name := c.Name
	if name == "" {
		name = serverName(c.Command)
	}
	command := c.Command[0]
	if strings.ContainsRune(command, filepath.Separator) { // as it is found from here, whatever directory it is started in
		absolute, err := filepath.Abs(command)
		if err != nil {
			return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "CMD", "can't be found: %s", err))
		}
		command = absolute
	}
	server, err := upstream.New(upstream.Config{Name: name, Command: command, Args: c.Command[1:]}, options)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return []mcpgateway.Server{server}, nil
}

// gatewayLogger writes the gateway's log, one JSON object to a line.
func gatewayLogger(p *cli.Program) *slog.Logger { return slog.New(slog.NewJSONHandler(p.Stderr, nil)) }

// upstreamLog logs what servers write to their error output, of which people see what clients may see of a server's texts.
func upstreamLog(settings config.Config, logger *slog.Logger) func(server, line string) {
	return func(server, line string) {
		if ruleset := settings.ResultTexts(); !ruleset.Off() {
			line = embedded.Plain(string(ruleset), line)
		}
		logger.Info("a server wrote to its error output", "server", server, "line", line)
	}
}

// consolePages is where an operator finds the console of this home, if `interlock up` serves one as the settings say.
func consolePages(settings config.Config) string {
	if settings.ConsoleURL == "" && settings.Listen == "off" {
		return ""
	}
	return cli.ConsoleURL(settings, settings.Listen)
}

// newGateway is the gateway over an open backend, for whichever transport.
func newGateway(p *cli.Program, settings config.Config, backend *embedded.Backend,
	servers []mcpgateway.Server) (*mcpgateway.Gateway, error) {
	asker, err := embedded.NewAsker(backend, settings, consolePages(settings))
	if err != nil {
		return nil, err
	}
	c := mcpgateway.Config{Backend: backend.Admission, Hearer: backend.Admission, Classifier: textsOfServers(settings, backend),
		Asker: asker, CanAsk: true, Servers: servers,
		Now: cli.Now, Random: rand.Reader,
		Sparing: settings.Gateway.Record == config.RecordObjections,
		Forms:   func() bool { return backend.Rules().HighestTier() > 0 },
		Pins:    backend.Admission, FirstUse: firstUse(settings, servers), Logger: gatewayLogger(p), Version: embedded.Version(),
		View: embedded.NewViews(settings, cli.Now).Gather, Limits: mcpgateway.Limits{Sessions: settings.Gateway.Sessions}}
	if slices.ContainsFunc(servers, isCanary) { // doctor asks
		c.Pins, c.Limits.Start = canaryPins{c.Pins}, setup.ServerPatience
	}
	return mcpgateway.New(c)
}

// firstUse says whose tools are trusted when they are first seen: if the settings don't say, those of programs, which the person
// who starts this one has named.
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

// serverName makes a server's name of the command that starts it: the program's, or that of what a program runs which only runs
// others. Two servers of one name would take each other for changed.
func serverName(command []string) string {
	program := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	switch program {
	case "npx", "bunx", "pnpx", "uvx", "pipx", "uv", "npm", "pnpm", "bun", "deno", "node", "python", "python3",
		"docker", "podman":
		for _, word := range command[1:] {
			if name := runName(word); name != "" {
				program = name
				break
			}
		}
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, program)
	return name[:min(len(name), 64)]
}

// runName is the last part of a package, an image or a script without its version, or nothing for flags and words that say
// how to run it.
func runName(word string) string {
	switch word {
	case "run", "exec", "x", "dlx", "tool":
		return ""
	}
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return ""
	}
	name := path.Base(filepath.ToSlash(word))
	if at := strings.IndexAny(name, "@:"); at > 0 {
		name = name[:at]
	}
	for _, ending := range []string{".js", ".mjs", ".cjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.Trim(name, ".@:/")
}

// serverTexts classifies what servers say before a client sees it, by the ruleset that the settings name.
type serverTexts struct {
	backend *embedded.Backend
	ruleset string
}

// textsOfServers is the gateway's classifier, or none where the settings want none.
func textsOfServers(settings config.Config, backend *embedded.Backend) mcpgateway.Classifier {
	ruleset := settings.ResultTexts()
	if ruleset.Off() {
		return nil
	}
	return serverTexts{backend: backend, ruleset: string(ruleset)}
}

// Classify says what may go on of a message, and has recorded what was taken out of it.
func (t serverTexts) Classify(ctx context.Context, c mcpgateway.Classified) (mcpgateway.Shown, error) {
	way := embedded.Passing{Requester: c.Requester, Where: c.Where, About: c.Event, Runs: c.Runs, Before: c.Before}
	found, err := t.backend.Screen(ctx, t.ruleset, way, c.Texts...)
	if err != nil {
		return mcpgateway.Shown{}, interlock.Errorf(interlock.CodeUnavailable, "result",
			"what became of the server's answer could not be recorded")
	}
	return mcpgateway.Shown{Texts: found.Texts, Message: found.Message, Blocked: found.Classification == classify.Refuse,
		Unreviewed: found.Unreviewed}, nil
}

// Plain is what people are told of a server's words.
func (t serverTexts) Plain(text string) string { return embedded.Plain(t.ruleset, text) }

// A canaryServer is a server behind the gateway that nothing must ever reach: doctor has a call of it refused. It runs
// nothing, whatever it is told.
type canaryServer struct{}

func (canaryServer) Name() string    { return setup.CanaryName }
func (canaryServer) Local() bool     { return false }
func (canaryServer) Trouble() string { return "" }

func (canaryServer) Identity() interlock.Digest {
	sum := sha256.Sum256([]byte(setup.CanaryName))
	return interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

func (canaryServer) Dial(context.Context) (mcpgateway.Link, error) {
	return &canaryLink{answers: make(chan []byte, 16), closed: make(chan struct{})}, nil
}

func isCanary(server mcpgateway.Server) bool {
	_, is := server.(canaryServer)
	return is
}

// canaryPins keep the canary out of the pins: nobody has to look at it and nobody may approve it. What was never examined may be
// neither seen nor called, so the canary is in quarantine no matter who asks, and operators are not told of it each time.
type canaryPins struct{ mcpgateway.Pins }

func (p canaryPins) Examine(ctx context.Context, l pinning.Listing) ([]pinning.PinVerdict, error) {
	if l.Server == setup.CanaryName {
		return make([]pinning.PinVerdict, len(l.Definitions)), nil
	}
	return p.Pins.Examine(ctx, l)
}

// A canaryLink answers what it is sent.
type canaryLink struct {
	answers chan []byte
	closed  chan struct{}
	once    sync.Once
}

func (l *canaryLink) Send(ctx context.Context, message []byte) error {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		return err
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"` + setup.CanaryName + `","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"` + setup.CanaryTool + `","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"the canary was reached"}]}`
	}
	select {
	case l.answers <- []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`):
		return nil
	case <-l.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *canaryLink) Receive() ([]byte, error) {
	select {
	case answer := <-l.answers:
		return answer, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *canaryLink) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}
