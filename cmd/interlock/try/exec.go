package try

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/gitwork"
	"interlock/internal/hook"
	"interlock/internal/ledger"
	"interlock/internal/sandbox"
)

type ExecCommand struct {
	Sandbox   string   `help:"Sandbox profile: default, build, scratch or one of the settings. --profile takes its name as well." placeholder:"NAME"`
	Agent     string   `help:"Agent the command is run for." default:"exec" placeholder:"NAME"`
	RunID     string   `name:"run" help:"The run of the agent that it belongs to." placeholder:"ID"`
	Dir       string   `help:"Working directory. Default: the current one." type:"path" placeholder:"DIR"`
	Overlay   bool     `help:"Write to a copy of the workspace that is thrown away, and show what was written."`
	Keep      bool     `help:"With --overlay: carry what was written over into the workspace if the command succeeds."`
	DryRun    bool     `help:"Run it in a throw-away copy without network, even while it waits for a yes, and show whoever decides what it wrote."`
	Tool      string   `help:"With --agent: the agent's tool that the command was given to." placeholder:"NAME"`
	Line      bool     `help:"CMD is one line for a shell, as agents' tools take it. Bash runs it where there is one, else sh."`
	AllowHost []string `help:"Let the command ask the proxy for this host too, as name or name:port. Each is decided." sep:"none" placeholder:"HOST"`
	Report    bool     `help:"Try whether sandboxes work here, and say what stops what. Runs no command of yours."`
	JSON      bool     `name:"json" help:"With --report: print JSON."`
	Command   []string `arg:"" optional:"" passthrough:"" help:"The command and its arguments, after --."`
}

// Help is what `interlock exec --help` adds.
func (ExecCommand) Help() string {
	return "Decides the command, runs it in a sandbox if it is allowed, records what became of it, and ends with its exit status. " +
		"Exit status without a run: 10 ask, 20 deny, 30 halt, as of check; 1 the sandbox can't be set up, 127 there is no such command. " +
		"124: the time limit ended it; 137: another limit did. Needs Linux and bubblewrap."
}

// afterDashes is a command line as it was given, with or without the -- before it. What begins with a hyphen and has none before
// it is a flag that nobody knows: it must not become the command, and what it was meant to say be lost.
func afterDashes(words []string) ([]string, error) {
	switch {
	case len(words) == 0:
		return nil, nil
	case words[0] == "--":
		return words[1:], nil
	case strings.HasPrefix(words[0], "-"):
		return nil, interlock.Errorf(interlock.CodeInvalid, "CMD",
			"unknown flag %s; a command that begins with a hyphen needs -- before it", words[0])
	}
	return words, nil
}

// Run decides the command and runs it.
func (c *ExecCommand) Run(p *cli.Program) error {
	command, err := afterDashes(c.Command)
	if err != nil {
		return cli.Usage(err)
	}
	c.Command = command
	settings, profile, err := c.settings(p)
	if err != nil {
		return err
	}
	if c.Report {
		return c.printed(p, settings)
	}
	if c.JSON {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--json", "goes with --report"))
	}
	if len(c.Command) == 0 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "CMD", "is missing; name the command after --"))
	}
	if err := c.checkLine(); err != nil {
		return cli.Usage(err)
	}
	backend, err := embedded.OpenBrief(p.Ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	if len(backend.Settled.Refused) > 0 { // a sandbox as it was ordered
		settings = backend.Settings
		if profile, err = c.profile(settings); err != nil {
			return err
		}
	}
	proposal, err := c.proposal(p, settings)
	if err != nil {
		return err
	}
	spec, err := c.spec(p, settings, profile, proposal)
	if err != nil {
		return err
	}
	return c.decided(p, backend, settings, proposal, backend.ProposeBy(p.Ctx,
		admission.Way{Read: embedded.ReadScripts, Work: gitwork.Look, Sandboxed: true, Unseen: true}, proposal), spec)
}

// decided does with the command what the answer says.
func (c *ExecCommand) decided(p *cli.Program, backend *embedded.Backend, settings config.Config, proposal interlock.Proposal,
	answer interlock.Answer, spec boxed) error {
	allowed := answer.Answer.Allowed() && answer.Event != ""
	tried := c.DryRun && (allowed || answer.Verdict == interlock.Ask && answer.Request != "")
	if !allowed && !tried {
		if answer.Verdict == interlock.Ask && answer.Request != "" && answer.Owes(interlock.ObligationDryRun) {
			c.tryOnce(p, backend, settings, proposal, answer, spec)
		}
		return refusedRun(p, answer)
	}
	spec, err := c.wanted(p, settings, proposal, answer, spec)
	switch {
	case err != nil && allowed:
		_ = reportRun(p, backend, proposal.Requester, interlock.Outcome{Action: answer.Action, Event: answer.Event,
			Status: interlock.OutcomeSkipped, Detail: "sandbox: " + err.Error()}) // it says itself if it can't
		return err
	case err != nil:
		return err
	case tried:
		return c.dryRun(p, backend, proposal, answer, spec)
	}
	if len(spec.hosts) > 0 {
		d := &hostDecider{backend: backend, settings: settings, proposal: proposal, named: spec.hosts}
		spec.Network = &sandbox.Network{Decide: d.decide}
	}
	if limit := &spec.Limits.Time; answer.Within > 0 && (*limit <= 0 || answer.Within < *limit) { // a module's own
		*limit = answer.Within
	}
	return c.execute(p, backend, proposal, answer, spec.Spec)
}

// settings reads the settings. --profile names a sandbox profile where it is the name of one, else the base verdicts.
func (c *ExecCommand) settings(p *cli.Program) (config.Config, config.SandboxProfile, error) {
	name := p.Globals.Profile
	p.Globals.Profile = ""
	settings, err := p.Settings()
	if err != nil {
		return settings, config.SandboxProfile{}, err
	}
	if name != "" {
		if _, err := settings.Sandbox.Named(name); err == nil && c.Sandbox == "" {
			c.Sandbox = name
		} else {
			settings.Profile = name
		}
	}
	profile, err := c.profile(settings)
	return settings, profile, err
}

// profile is the sandbox profile that is to be used.
func (c *ExecCommand) profile(settings config.Config) (config.SandboxProfile, error) {
	profile, err := settings.Sandbox.Named(c.Sandbox)
	if err != nil {
		return profile, cli.Usage(err)
	}
	profile.Overlay = profile.Overlay || c.Overlay
	if c.Keep && (!profile.Overlay || c.DryRun) {
		return profile, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--keep",
			"needs --overlay, and a dry run keeps nothing"))
	}
	return profile, nil
}

// proposal is the command as an action of the agent.
func (c *ExecCommand) proposal(p *cli.Program, settings config.Config) (interlock.Proposal, error) {
	dir := c.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return interlock.Proposal{},
				interlock.Errorf(interlock.CodeInvalid, "--dir", "is needed: the current directory is gone")
		}
	}
	given := dir
	dir, err := filepath.EvalSymlinks(given)
	if err != nil {
		return interlock.Proposal{}, interlock.Errorf(interlock.CodeInvalid, "--dir",
			"%q is not there, or can't be opened", given)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return interlock.Proposal{}, interlock.Errorf(interlock.CodeInvalid, "--dir", "%q is not a directory", dir)
	}
	call, err := callID()
	if err != nil {
		return interlock.Proposal{}, err
	}
	proposal := interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindShell, Tool: c.Tool, Input: c.input(), Dir: dir},
		Requester: interlock.Requester{Principal: account.Name(), Agent: c.Agent, Run: c.RunID, Call: call},
		Door:      "exec", CanAsk: true,
	}
	proposal.View = embedded.GatherView(settings, dir)
	return proposal, nil
}

// callID names one attempt, so that its outcome finds its decision.
func callID() (string, error) {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return "exec-" + hex.EncodeToString(random[:]), nil
}

// A boxed is a sandbox with the hosts the proxy may be asked for.
type boxed struct {
	sandbox.Spec
	hosts []string
}

// spec is the sandbox the command would run in.
func (c *ExecCommand) spec(p *cli.Program, settings config.Config, profile config.SandboxProfile,
	proposal interlock.Proposal) (boxed, error) {
	if proposal.View.Workspace == "" {
		return boxed{}, interlock.Errorf(interlock.CodeInvalid, "--dir",
			"is no workspace; go into a project's directory, or name one")
	}
	self, err := os.Executable()
	if err != nil {
		return boxed{}, fmt.Errorf("finding this program: %w", err)
	}
	spec := sandbox.Spec{
		Argv: c.argv(), Workspace: proposal.View.Workspace, Dir: proposal.Action.Dir, Overlay: profile.Overlay, Keep: c.Keep,
		Limits: sandbox.Limits{Time: time.Duration(profile.Time), Memory: int64(profile.Memory), Disk: int64(profile.Disk),
			Processes: profile.Processes, Files: profile.Files, Output: int64(profile.Output)},
		Read: profile.Read, Path: profile.Path, Startup: profile.Startup, Sockets: profile.Sockets,
		Hide:  []string{settings.Home, settings.Rules, config.Socket(settings.Home)},
		State: filepath.Join(settings.Home, "sandbox"), Self: self,
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
	}
	if profile.Startup == nil {
		spec.Startup = sandbox.Startup()
	}
	for _, name := range profile.Env {
		if value := p.Getenv(name); value != "" {
			spec.Env = append(spec.Env, name+"="+value)
		}
	}
	hosts := append([]string{}, profile.Hosts...)
	for _, given := range c.AllowHost {
		for _, host := range strings.Split(given, ",") {
			if !config.ValidHost(host) {
				return boxed{}, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--allow-host",
					"%.80q is not a host such as example.com or example.com:8443", host))
			}
			hosts = append(hosts, host)
		}
	}
	return boxed{spec, hosts}, nil
}

// execute runs the allowed command, reports what became of it and returns its exit status.
func (c *ExecCommand) execute(p *cli.Program, backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer,
	spec sandbox.Spec) error {
	silent := withoutNetwork(p, &spec)
	result, ended, runErr := runUnlessStopped(p, backend.Settings.Home, spec)
	silent()
	outcome := interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: interlock.OutcomeSuccess,
		Duration: result.Duration, Detail: accountOf(result), Sandboxed: true,
		Effects: result.Effects, Partial: result.Partial, Overlay: spec.Overlay, Kept: result.Kept}
	switch {
	case runErr != nil && result.Setup == 0:
		outcome.Status, outcome.Detail = interlock.OutcomeSkipped, "sandbox: "+runErr.Error()
	case runErr != nil: // it ran, and something behind it went wrong
		outcome.Status, outcome.Detail = interlock.OutcomeFailure, "sandbox: "+runErr.Error()+"; "+accountOf(result)
	case result.Exit != 0 || result.Stopped != "":
		outcome.Status = interlock.OutcomeFailure
	}
	if ended != "" {
		outcome.Detail = ended + "; " + outcome.Detail
		fmt.Fprintln(p.Stderr, "interlock:", ended)
	}
	if err := reportRun(p, backend, proposal.Requester, outcome); err != nil && runErr == nil && result.Exit == 0 {
		runErr = err
	}
	return toldRun(p, spec, result, runErr)
}

// runUnlessStopped runs a sandbox, and ends it once everything is stopped; then it says so.
func runUnlessStopped(p *cli.Program, home string, spec sandbox.Spec) (result sandbox.Result, ended string, err error) {
	ctx, stop := context.WithCancel(p.Ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		cli.WhenStopped(ctx, home, func(h ledger.HoldBody) {
			ended = "everything is stopped: " + cli.Printable(h.Why)
			stop()
		})
	})
	result, err = sandbox.Run(ctx, spec)
	stop()
	watching.Wait()
	return result, ended, err
}

// reportRun records an outcome, even while this process is being interrupted.
func reportRun(p *cli.Program, backend *embedded.Backend, r interlock.Requester, outcome interlock.Outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Ctx), 10*time.Second)
	defer cancel()
	err := backend.Carried(ctx, r, outcome, interlock.Measured{})
	if err != nil {
		fmt.Fprintln(p.Stderr, "interlock: the outcome could not be recorded:", cli.Shown(err))
	}
	return err
}

// checkLine refuses what can't be meant: a line of several words, and a tool whose commands are not for a POSIX shell, which
// would be read as another language than the one it is run in.
func (c *ExecCommand) checkLine() error {
	switch {
	case c.Line && len(c.Command) != 1:
		return interlock.Errorf(interlock.CodeInvalid, "--line", "takes one argument; quote the line")
	case c.Tool != "" && !hook.POSIX(c.Tool):
		return interlock.Errorf(interlock.CodeInvalid, "--tool", "%.40q is no tool that runs commands in a POSIX shell", c.Tool)
	}
	return nil
}

// input is the command as it is decided about.
func (c *ExecCommand) input() string {
	if c.Line {
		return c.Command[0]
	}
	return hook.ShellLine(c.Command)
}

// argv is the command as it is run.
func (c *ExecCommand) argv() []string {
	if !c.Line {
		return c.Command
	}
	for _, path := range []string{"/usr/bin/bash", "/bin/bash"} {
		if cli.Exists(path) {
			return []string{"bash", "-c", c.Command[0]}
		}
	}
	return []string{"sh", "-c", c.Command[0]}
}

// wanted is the sandbox in the profile that the rules name for this command, where they name one. A sandbox of another is not
// what the decision allowed.
func (c *ExecCommand) wanted(p *cli.Program, settings config.Config, proposal interlock.Proposal, answer interlock.Answer,
	given boxed) (boxed, error) {
	name := ""
	for _, o := range answer.Obligations {
		if o.Type != interlock.ObligationSandbox || o.Note == "" {
			continue
		}
		if name != "" && name != o.Note {
			return given, interlock.Errorf(interlock.CodeConflict, "",
				"rules want this command in the sandbox profiles %s and %s, and it can't run in both", name, o.Note)
		}
		name = o.Note
	}
	switch {
	case name == "":
		return given, nil
	case c.Sandbox != "" && c.Sandbox != name:
		return given, interlock.Errorf(interlock.CodeConflict, "--sandbox",
			"a rule wants this command in the sandbox profile %s", name)
	}
	profile, err := settings.Sandbox.Named(name)
	if err != nil {
		return given, interlock.Errorf(interlock.CodeInvalid, "",
			"a rule wants this command in the sandbox profile %.40q, which the settings don't have", name)
	}
	profile.Overlay = profile.Overlay || c.Overlay
	return c.spec(p, settings, profile, proposal)
}

// A waiter says on a terminal, while a command is silent, that it runs and why it may wait: what has no network tries for long
// before it gives up. What the command prints takes the line away first.
type waiter struct {
	screen io.Writer
	began  time.Time
	done   chan struct{}
	over   sync.WaitGroup

	mu     sync.Mutex
	last   time.Time // when something was printed
	inLine bool      // the command has begun a line that has no end yet
	shown  bool
}

// withoutNetwork watches a run that has no network. Where standard error is no terminal nothing is said.
func withoutNetwork(p *cli.Program, spec *sandbox.Spec) (end func()) {
	if spec.Network != nil || !cli.AtTerminal(p.Stderr) || p.Getenv("TERM") == "dumb" {
		return func() {}
	}
	w := &waiter{screen: p.Stderr, began: cli.Now(), last: cli.Now(), done: make(chan struct{})}
	spec.Stdout, spec.Stderr = &heardOf{w, spec.Stdout}, &heardOf{w, spec.Stderr}
	w.over.Add(1)
	go w.run()
	return func() {
		close(w.done)
		w.over.Wait()
	}
}

func (w *waiter) run() {
	defer w.over.Done()
	tick := time.NewTicker(cli.Beat)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-w.done:
			w.mu.Lock()
			w.clear()
			w.mu.Unlock()
			return
		case at := <-tick.C:
			w.mu.Lock()
			if !w.inLine && at.Sub(w.last) >= cli.Quiet {
				w.shown = true
				fmt.Fprintf(w.screen, "\r%c running for %s, without network: --allow-host HOST lets it ask for one\x1b[K", `|/-\`[n%4],
					cli.Span(at.Sub(w.began)))
			}
			w.mu.Unlock()
		}
	}
}

// clear takes the line away. The lock is held.
func (w *waiter) clear() {
	if w.shown {
		fmt.Fprint(w.screen, "\r\x1b[K")
		w.shown = false
	}
}

// A heardOf passes on what a command prints.
type heardOf struct {
	waiter *waiter
	out    io.Writer
}

func (h *heardOf) Write(text []byte) (int, error) {
	h.waiter.mu.Lock()
	defer h.waiter.mu.Unlock()
	h.waiter.clear()
	if len(text) > 0 {
		h.waiter.last, h.waiter.inLine = cli.Now(), text[len(text)-1] != '\n'
	}
	return h.out.Write(text)
}
