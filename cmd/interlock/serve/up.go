// Package serve holds the commands that other programs start or talk to: the server, the hook, MCP and the gateway.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/people"
	"interlock/cmd/interlock/prove"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/console"
	"interlock/internal/gitwork"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/internal/ruletest"
	"interlock/internal/startup"
)

type UpCommand struct {
	Control      string   `help:"Loopback address of the control door, through which other systems stop everything. Default: none." placeholder:"ADDR"`
	AgentsSocket string   `name:"agents-socket" help:"A socket for the hooks of other users. Default: none." type:"path" placeholder:"FILE"`
	AgentsGroup  string   `name:"agents-group" help:"Group whose users may connect there. Default: this process's." placeholder:"NAME"`
	Listen       string   `help:"Loopback address of the HTTP API, or off. Default: 127.0.0.1:7433." placeholder:"ADDR"`
	CheckpointTo []string `help:"File or HTTPS URL that gets every new signed checkpoint; may be given more than once." placeholder:"TARGET"`
	MCPEndpoints string   `name:"mcp-endpoints" help:"Tools at /mcp: semantic (one for each kind of operation) or single (one)." enum:"semantic,single" default:"semantic" placeholder:"MODE"`
	Ready        string   `help:"Write the addresses to this file once requests are answered." type:"path" placeholder:"FILE"`
}

// Run serves until it is interrupted, then answers what is under way and stops.
func (c *UpCommand) Run(p *cli.Program) error {
	if err := c.checkAgents(); err != nil {
		return err
	}
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	if c.Listen != "" {
		settings.Listen = c.Listen
	}
	if c.Control != "" {
		settings.Control = c.Control
	}
	settings.CheckpointTo = append(settings.CheckpointTo, c.CheckpointTo...)
	if _, err := audit.CheckpointTargets(settings.CheckpointTo); err != nil {
		return err
	}
	if !cli.Exists(settings.Home) {
		if err := canListen(settings); err != nil {
			return err
		}
	}
	cli.TuneServer()
	backend, err := p.OpenServer(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settings = backend.Settings // those that are in force
	people.SaySettled(p, backend)
	targets, err := audit.CheckpointTargets(settings.CheckpointTo)
	if err != nil {
		return err
	}
	witnesses, err := audit.WitnessTargets(settings, backend)
	if err != nil {
		return err
	}
	shipments, err := audit.ShipTargets(p, settings)
	if err != nil {
		return err
	}
	go cli.ReturnIdleMemory(p.Ctx)
	logger := slog.New(slog.NewJSONHandler(p.Stderr, nil))
	began := p.Now() // before anybody can ask anything
	listeners, err := listen(settings)
	if err != nil {
		return err
	}
	defer listeners.close()
	if listeners.agents, err = c.listenAgents(); err != nil {
		return err
	}
	tokens := identity.NewTokens(backend.Known, p.Now).While(backend.Stopped)
	door, err := openControl(settings, backend, tokens, logger, p.Now)
	if err != nil {
		return err
	}
	defer door.close()
	lookout := NewLookout(p, backend, socketOf(settings), logger)
	past := httpapi.Past{WhatIf: audit.WhatIf(p, backend), Shadow: audit.Shadowing(backend)}
	var server *httpapi.Server
	latency := func() console.Latency { return latencyOf(server) }
	push := newSender(settings, backend)
	pages, err := newConsole(p, settings, backend, tokens, listeners, logger, past, push, withKill(p, backend, lookout.Warnings), latency,
		p.Ctx.Done())
	if err != nil {
		return err
	}
	loop, err := mcpServer(p, settings, backend, c.MCPEndpoints == "single")
	if err != nil {
		return err
	}
	gateway, err := newUpGateway(p, settings, backend)
	if err != nil {
		return err
	}
	defer gateway.close()
	told, err := newTelemetry(p, backend, settings, logger)
	if err != nil {
		return err
	}
	judged, err := prove.NewJudgeMeter(p.Ctx, backend)
	if err != nil {
		return err
	}
	server, err = httpapi.New(httpapi.Config{Backend: backend, Log: backend.Store, Tokens: tokens, Pages: gateway.beside(pages),
		Hosts: settings.Hosts, MCP: loop.Handler(tokens), PeerView: peerViews(settings, c.AgentsSocket),
		Sign: backend.Answers.Sign,
		View: lookout.watching(embedded.NewViews(settings, p.Now).Gather), Read: embedded.ReadScripts, Work: gitwork.Look,
		Ready: readiness(settings.Home, func(ctx context.Context) error {
			_, err := backend.Ground(ctx)
			return err
		}, p.Now),
		Logger: logger, Now: p.Now, User: account.Name(), Limits: httpapi.Limits{Concurrent: int64(settings.MaxConcurrent),
			PerAgent: int64(settings.MaxConcurrentPerAgent)},
		Past:  past,
		Waits: backend, Runs: backend, Messages: backend, Reports: backend, Texts: backend, Actions: backend,
		Personal: backend, Memory: backend, Looked: backend.RecordLook, Telemetry: backend, UsageAgent: backend.Answers.UsageAgent,
		Build:   httpapi.Build{Version: embedded.Version(), Go: runtime.Version()},
		Metrics: prove.WithOwed(backend, prove.PagesOf(told.page, judged.Page)), LogForPeople: prove.Alone(settings), Rules: objectors(backend, settings.Profile)})
	if err != nil {
		return err
	}
	c.announce(p, settings, backend, listeners, gateway, door)
	for _, idle := range ruletest.Idle(backend.Rules(), backend.Analyser(), settings.Profile) {
		logger.Warn("the rules hold what changes nothing", "problem", idle.String())
	}
	serving, stop := context.WithCancel(p.Ctx)
	defer stop()
	var background sync.WaitGroup
	background.Go(func() {
		audit.ForwardCheckpoints(serving, backend.Store, append(targets, witnesses...), time.Second, logger)
	})
	background.Go(func() { audit.ShipLog(serving, backend, settings.Home, shipments, logger) })
	background.Go(func() { loop.SweepEvery(serving, time.Minute) })
	background.Go(func() { gateway.serve(serving, logger) })
	background.Go(func() { door.serve(serving, logger) })
	background.Go(func() { gateway.obey(serving, settings.Home) })
	background.Go(func() { lookout.keep(serving) })
	background.Go(func() { told.run(serving) })
	background.Go(func() {
		if err := tellRequests(serving, backend, settings, push, began, logger); err != nil {
			logger.Warn("telling of requests", "error", err.Error())
		}
	})
	background.Go(func() { audit.ArchiveBySettings(serving, p, backend, audit.ArchiveEvery, logger) })
	background.Go(func() {
		backend.CheckStandingUntil(serving, func(err error) { logger.Warn("checking what stands", "error", err.Error()) })
	})
	background.Go(func() {
		backend.CheckIntegrityUntil(serving, p.Now, func(err error) { logger.Warn("checking the log", "error", err.Error()) })
	})
	background.Go(func() { audit.TellDigests(serving, backend, logger) })
	background.Go(func() {
		prove.RedteamBySettings(serving, backend, func(what string, err error) { logger.Warn(what, "error", err.Error()) })
	})
	background.Go(func() { audit.WatchActivity(serving, backend, logger) })
	background.Go(func() { expireRequests(serving, backend.Expire, expireEvery, logger) })
	background.Go(func() { expireRequests(serving, backend.Oversee, overseeEvery, logger) })
	err = server.Serve(serving, listeners.tcp, listeners.socket, listeners.agents...)
	stop() // Serve may also have ended by itself
	background.Wait()
	if head, headErr := backend.Store.Head(context.WithoutCancel(p.Ctx)); headErr == nil && len(head.Checkpoint) > 0 {
		fmt.Fprintf(p.Stdout, "stopped after %d entries; the last checkpoint:\n%s", head.Size, head.Checkpoint)
	}
	return err
}

// expireEvery is how long after its time a request may go without the event that says so.
const expireEvery = 5 * time.Second

// overseeEvery is how often it is looked for orchestrations that take longer than they may, where the rules say how long that is.
const overseeEvery = 200 * time.Millisecond

// expireRequests records requests that nobody answered in time, for as long as the server runs. What fails is tried again.
func expireRequests(ctx context.Context, expire func(context.Context) (int, error), every time.Duration, logger *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if _, err := expire(ctx); err != nil && ctx.Err() == nil {
				logger.Warn("recording expired requests", "error", err.Error())
			}
		}
	}
}

// announce tells the person who started it what listens where and how far the log is.
func (c *UpCommand) announce(p *cli.Program, settings config.Config, backend *embedded.Backend, l *listeners, gateway *upGateway,
	door *controlDoor) {
	var b strings.Builder
	fmt.Fprintf(&b, "interlock %s is up: profile %s, mode %s\n", embedded.Version(), settings.Profile, settings.Mode)
	if l.tcp != nil {
		fmt.Fprintf(&b, "  http    http://%s\n  mcp     http://%s/mcp\n  console %s\n", l.tcp.Addr(), l.tcp.Addr(),
			cli.ConsoleURL(settings, l.tcp.Addr().String()))
	}
	api := ""
	if l.tcp != nil {
		api = l.tcp.Addr().String()
	}
	if address := gateway.address(api); address != "" {
		fmt.Fprintf(&b, "  gateway %s\n", address)
	}
	if door != nil {
		fmt.Fprintf(&b, "  control http://%s, with the token in %s\n", door.listener.Addr(), filepath.Join(settings.Home, controlTokenFile))
	}
	for _, door := range l.agents {
		fmt.Fprintf(&b, "  agents  %s\n", door.Addr())
	}
	fmt.Fprintf(&b, "  socket  %s\n  home    %s\n", config.Socket(settings.Home), settings.Home)
	if head, err := backend.Store.Head(p.Ctx); err == nil && len(head.Checkpoint) > 0 {
		fmt.Fprintf(&b, "  log     %d entries; keep this checkpoint to prove that none goes missing:\n%s", head.Size,
			cli.Indent(string(head.Checkpoint)))
	}
	fmt.Fprint(p.Stdout, b.String())
	if c.Ready != "" {
		addresses := config.Socket(settings.Home) + "\n"
		if l.tcp != nil {
			addresses = "http://" + l.tcp.Addr().String() + "\n" + addresses
		}
		if door != nil {
			addresses += "control http://" + door.listener.Addr().String() + "\n"
		}
		if err := cli.ReplaceFile(c.Ready, []byte(addresses)); err != nil {
			fmt.Fprintln(p.Stderr, "interlock: --ready:", err)
		}
	}
}

// listeners are the open doors: a TCP one, unless switched off, the socket, and where it runs as a user of its own one for the agents
// of other users.
type listeners struct {
	tcp, socket net.Listener
	agents      []net.Listener
}

func (l *listeners) close() {
	for _, door := range append([]net.Listener{l.tcp, l.socket}, l.agents...) {
		if door != nil {
			door.Close()
		}
	}
}

// listen opens the doors. The socket's directory belongs to its user alone, and a socket left behind by a process that is
// gone is replaced; one that answers is somebody else's server.
func listen(settings config.Config) (*listeners, error) {
	l := &listeners{}
	path := config.Socket(settings.Home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--home", "the socket's directory can't be created")
	}
	if probe, err := net.DialTimeout("unix", path, time.Second); err == nil {
		probe.Close()
		return nil, interlock.Errorf(interlock.CodeConflict, "--home", "another `interlock up` serves this home already")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--home", "the old socket can't be removed")
	}
	var err error
	if l.socket, err = net.Listen("unix", path); err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--home", "the socket can't be opened: %v", errors.Unwrap(err))
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.close()
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--home", "the socket can't be kept to its user")
	}
	if l.tcp, err = listenTCP(settings); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// listenTCP opens the TCP door, unless it is switched off.
func listenTCP(settings config.Config) (net.Listener, error) {
	if settings.Listen == "off" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(settings.Listen)
	if err != nil || !cli.IsLoopback(host) && !settings.AllowRemote {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--listen",
			"%.60q is not a loopback address such as 127.0.0.1:7433; allow_remote in the settings permits others", settings.Listen)
	}
	door, err := net.Listen("tcp", settings.Listen)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--listen",
			"%s can't be listened on; is it in use? Name another with --listen", settings.Listen)
	}
	return door, nil
}

// canListen fails where a server could not listen. It is asked before a home is made: what can't start leaves nothing behind.
func canListen(settings config.Config) error {
	door, err := listenTCP(settings)
	if err != nil || door == nil {
		return err
	}
	return door.Close()
}

// objectors names the rules and the profile's rows that may object now, for counting.
func objectors(backend *embedded.Backend, profile string) func() httpapi.InForce {
	return func() httpapi.InForce {
		set := backend.Rules()
		now := httpapi.InForce{Ruleset: set.Digest()}
		for _, r := range set.Rules() {
			now.Rules = append(now.Rules, r.ID)
		}
		if p, ok := set.Profile(profile); ok {
			for _, row := range p.Rows {
				now.Rules = append(now.Rules, "profile."+p.Name+"."+row.ID)
			}
		}
		return now
	}
}

// checkAgents refuses flags that can't work, before anything is made.
func (c *UpCommand) checkAgents() error {
	if c.AgentsSocket == "" && c.AgentsGroup != "" {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--agents-group", "goes with --agents-socket FILE"))
	}
	if c.AgentsSocket != "" && runtime.GOOS != "linux" {
		return interlock.Errorf(interlock.CodeInvalid, "--agents-socket", "is Linux's only: elsewhere the kernel does not say who asks")
	}
	return nil
}

// listenAgents opens the socket that hooks of other users reach: none but the group may connect, and nobody but this user may put
// another in its place.
func (c *UpCommand) listenAgents() ([]net.Listener, error) {
	if c.AgentsSocket == "" {
		return nil, nil
	}
	group := -1
	if c.AgentsGroup != "" {
		found, err := user.LookupGroup(c.AgentsGroup)
		if err == nil {
			group, err = strconv.Atoi(found.Gid)
		}
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "--agents-group", "%.60q is no group of this system", c.AgentsGroup)
		}
	}
	if dir, err := os.Stat(filepath.Dir(c.AgentsSocket)); err != nil || dir.Mode().Perm()&0o022 != 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--agents-socket", "must lie in a directory that nobody else can write")
	}
	if probe, err := net.DialTimeout("unix", c.AgentsSocket, time.Second); err == nil {
		probe.Close()
		return nil, interlock.Errorf(interlock.CodeConflict, "--agents-socket", "another server listens there already")
	}
	if err := os.Remove(c.AgentsSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-socket", "the old socket can't be removed")
	}
	door, err := net.Listen("unix", c.AgentsSocket)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-socket", "the socket can't be opened: %v", errors.Unwrap(err))
	}
	if group >= 0 {
		err = os.Chown(c.AgentsSocket, -1, group)
	}
	if err == nil {
		err = os.Chmod(c.AgentsSocket, 0o660)
	}
	if err != nil {
		door.Close()
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-group",
			"the socket can't be given to the group; this user has to be in it")
	}
	return []net.Listener{door}, nil
}

// peerViews says what may be known of the world where another user's agent asks.
func peerViews(settings config.Config, socket string) func(uid int, dir string) interlock.View {
	return func(uid int, dir string) interlock.View {
		who := account.Of(uid)
		view := embedded.GatherPeerView(settings, who.Name, who.Home, dir)
		if socket != "" {
			view.Self = append(view.Self, socket)
		}
		view.Self = append(view.Self, startup.SystemPaths()...)
		return view
	}
}
