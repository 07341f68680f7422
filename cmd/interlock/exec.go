package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/sandbox"
)

type execCommand struct {
	Sandbox   string   `help:"Sandbox profile: default, build, scratch or one of the settings. --profile takes its name as well." placeholder:"NAME"`
	Agent     string   `help:"Agent the command is run for." default:"exec" placeholder:"NAME"`
	RunID     string   `name:"run" help:"The run of the agent that it belongs to." placeholder:"ID"`
	Dir       string   `help:"Working directory. Default: the current one." type:"path" placeholder:"DIR"`
	Overlay   bool     `help:"Write to a copy of the workspace that is thrown away, and show what was written."`
	Keep      bool     `help:"With --overlay: carry what was written over into the workspace if the command succeeds."`
	AllowHost []string `help:"Let the command ask the proxy for this host too, as name or name:port. Each connection is decided." placeholder:"HOST"`
	Command   []string `arg:"" optional:"" passthrough:"" help:"The command and its arguments, after --."`
}

// Help is what `interlock exec --help` adds.
func (execCommand) Help() string {
	return "Decides the command, runs it in a sandbox if it is allowed, records what became of it, and ends with its exit status. " +
		"Exit status without a run: 10 ask, 20 deny, 30 halt, as of check; 1 the sandbox can't be set up, 127 there is no such command. " +
		"124: the time limit ended it; 137: another limit did. Needs Linux and bubblewrap."
}

// The exit statuses of a run that a limit ended.
const (
	exitTime     = 124
	exitLimit    = 137
	exitNotFound = 127
)

// Run decides the command and runs it.
func (c *execCommand) Run(p *program) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return usage(interlock.Errorf(interlock.CodeInvalid, "CMD", "is missing; name the command after --"))
	}
	if c.Keep && !c.Overlay {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--keep", "needs --overlay; without, everything is written to the workspace itself"))
	}
	settings, profile, err := c.settings(p)
	if err != nil {
		return err
	}
	proposal, err := c.proposal(p, settings)
	if err != nil {
		return err
	}
	spec, err := c.spec(p, settings, profile, proposal)
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	answer := backend.Propose(p.ctx, proposal)
	if !answer.Answer.Allowed() || answer.Event == "" {
		return p.refusedRun(answer)
	}
	return c.execute(p, backend, proposal, answer, spec)
}

// settings reads the settings. --profile names a sandbox profile where it is the name of one, else the base verdicts.
func (c *execCommand) settings(p *program) (config.Config, config.SandboxProfile, error) {
	name := p.globals.Profile
	p.globals.Profile = ""
	settings, err := p.settings()
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
	profile, err := settings.Sandbox.Named(c.Sandbox)
	if err != nil {
		return settings, profile, usage(err)
	}
	return settings, profile, nil
}

// proposal is the command as an action of the agent.
func (c *execCommand) proposal(p *program, settings config.Config) (interlock.Proposal, error) {
	dir := c.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return interlock.Proposal{}, interlock.Errorf(interlock.CodeInvalid, "--dir", "is needed: the current directory is gone")
		}
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return interlock.Proposal{}, interlock.Errorf(interlock.CodeInvalid, "--dir", "can't be opened")
	}
	var call [16]byte
	if _, err := rand.Read(call[:]); err != nil {
		return interlock.Proposal{}, err
	}
	proposal := interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindShell, Input: shellLine(c.Command), Dir: dir},
		Requester: interlock.Requester{Principal: p.principal(), Agent: c.Agent, Run: c.RunID, Call: "exec-" + hex.EncodeToString(call[:])},
		Door:      "exec", CanAsk: true,
	}
	proposal.View = embedded.GatherView(settings, dir)
	proposal.View.Scripts = embedded.Scripts(proposal.Action, proposal.View)
	return proposal, nil
}

// spec is the sandbox the command would run in.
func (c *execCommand) spec(p *program, settings config.Config, profile config.SandboxProfile, proposal interlock.Proposal) (sandbox.Spec, error) {
	workspace := proposal.View.Workspace
	if workspace == "" {
		return sandbox.Spec{}, interlock.Errorf(interlock.CodeInvalid, "--dir", "is no workspace; go into a project's directory, or name one")
	}
	self, err := os.Executable()
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("finding this program: %w", err)
	}
	spec := sandbox.Spec{
		Argv: c.Command, Workspace: workspace, Dir: proposal.Action.Dir, Overlay: profile.Overlay || c.Overlay, Keep: c.Keep,
		Limits: sandbox.Limits{Time: time.Duration(profile.Time), Memory: int64(profile.Memory), Disk: int64(profile.Disk),
			Processes: profile.Processes, Files: profile.Files, Output: int64(profile.Output)},
		Read: profile.Read, Path: profile.Path, Startup: profile.Startup, Sockets: profile.Sockets,
		Hide: []string{settings.Home, settings.Rules, config.Socket(settings.Home)}, State: filepath.Join(settings.Home, "sandbox"), Self: []string{self},
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
	}
	if profile.Startup == nil {
		spec.Startup = sandbox.Startup()
	}
	for _, name := range profile.Env {
		if value := p.getenv(name); value != "" {
			spec.Env = append(spec.Env, name+"="+value)
		}
	}
	return spec, nil
}

// execute runs the allowed command, reports what became of it and returns its exit status.
func (c *execCommand) execute(p *program, backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer, spec sandbox.Spec) error {
	result, runErr := sandbox.Run(p.ctx, spec)
	outcome := interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: interlock.OutcomeSuccess, Duration: result.Duration, Detail: accountOf(result)}
	switch {
	case runErr != nil:
		outcome.Status, outcome.Detail = interlock.OutcomeSkipped, "sandbox: "+runErr.Error()
		if result.Setup > 0 { // it ran, and something behind it went wrong
			outcome.Status, outcome.Detail = interlock.OutcomeFailure, outcome.Detail+"; "+accountOf(result)
		}
	case result.Exit != 0 || result.Stopped != "":
		outcome.Status = interlock.OutcomeFailure
	}
	// The outcome is recorded even if this process is being interrupted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 10*time.Second)
	defer cancel()
	if err := backend.Report(ctx, proposal.Requester, outcome); err != nil {
		fmt.Fprintln(p.stderr, "interlock: the outcome could not be recorded:", shown(err))
		if runErr == nil && result.Exit == 0 {
			return &exitCode{code: 1}
		}
	}
	return c.status(p, spec, result, runErr)
}

// status tells what the command itself did not, and gives the exit status.
func (c *execCommand) status(p *program, spec sandbox.Spec, result sandbox.Result, err error) error {
	for _, effect := range result.Effects {
		if effect.Change == sandbox.SetAside {
			fmt.Fprintf(p.stderr, "interlock: set aside %s: the command made it, and something would run or obey it later; it is now called %s%s\n",
				printable(effect.Path), printable(effect.Path), sandbox.AsideSuffix)
		}
	}
	var known *interlock.Error
	switch {
	case errors.As(err, &known) && known.Code == interlock.CodeNotFound:
		return &exitCode{code: exitNotFound, err: err}
	case err != nil:
		return err
	case result.Stopped == "time":
		return &exitCode{code: exitTime, err: fmt.Errorf("stopped: it took longer than %v", spec.Limits.Time)}
	case result.Stopped != "":
		return &exitCode{code: exitLimit, err: fmt.Errorf("stopped: %s", stopReason(result.Stopped, spec.Limits))}
	case result.Exit != 0:
		return &exitCode{code: result.Exit}
	}
	return nil
}

func stopReason(stopped string, l sandbox.Limits) string {
	switch stopped {
	case "output":
		return fmt.Sprintf("it printed more than %d bytes", l.Output)
	case "disk":
		return fmt.Sprintf("it wrote more than %d bytes to disk", l.Disk)
	case "memory":
		return fmt.Sprintf("it used more than %d bytes of memory", l.Memory)
	default:
		return stopped
	}
}

// accountOf is what the log says of a run.
func accountOf(r sandbox.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sandbox %s: exit %d", r.ID, r.Exit)
	if r.Stopped != "" {
		fmt.Fprintf(&b, ", stopped by the limit on %s", r.Stopped)
	}
	for _, limit := range r.Reached {
		fmt.Fprintf(&b, ", reached the limit on %s", limit)
	}
	fmt.Fprintf(&b, "; memory held by %s, processes by %s", r.Walls.Memory, r.Walls.Processes)
	for _, host := range r.Refused {
		fmt.Fprintf(&b, "; refused host %s", host)
	}
	for _, effect := range r.Effects {
		fmt.Fprintf(&b, "; %s %s", effect.Change, effect.Path)
	}
	return b.String()
}

// refusedRun tells why nothing was run.
func (p *program) refusedRun(answer interlock.Answer) error {
	fmt.Fprintf(p.stderr, "%s: nothing was run\n", strings.ToUpper(answer.Answer.String()))
	for _, f := range answer.Findings {
		if f.Verdict == interlock.Allow {
			continue
		}
		fmt.Fprintf(p.stderr, "  %-5s %s (layer %d): %s\n", f.Verdict, f.Rule, f.Layer, f.Reason)
		if f.Suggestion != "" {
			fmt.Fprintf(p.stderr, "        instead: %s\n", f.Suggestion)
		}
	}
	if answer.Request != "" {
		fmt.Fprintf(p.stderr, "request %s waits; `interlock approve %s` lets this command through once\n", answer.Request, answer.Request)
	}
	code := exitStatus(answer.Answer)
	if code == 0 { // allowed and not recorded can't be; if it were, nothing ran all the same
		code = exitStatus(interlock.Deny)
	}
	return &exitCode{code: code}
}

// shellLine writes an argument list as the line a POSIX shell would read as it.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		plain := word != "" && strings.IndexFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,+@%", r))
		}) < 0
		if words[i] = word; !plain {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
