// Command interlock is the safety interlock between an AI agent's intent and the world: a hook for coding agents, an HTTP
// API, and the tools of the people in charge. `interlock --help` lists the commands; docs/cli.md is their reference.
//
// This package is the only one that wires the others together. commands.go holds the command table, program.go what every
// command shares, and commands of one subject share a file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"interlock/internal/sandbox"
)

func main() {
	if sandbox.Stage(os.Args) { // this process is a sandbox's helper
		return
	}
	os.Exit(run(untilSignal{sync.OnceValue(func() context.Context {
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		return ctx
	})}, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// untilSignal is a context that an interrupt ends. Signals are caught from when something first waits for it: a command that waits for
// nothing starts no thread for them, and an interrupt ends it as the system does.
type untilSignal struct{ caught func() context.Context }

func (c untilSignal) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c untilSignal) Done() <-chan struct{}       { return c.caught().Done() }
func (c untilSignal) Err() error                  { return c.caught().Err() }
func (c untilSignal) Value(key any) any           { return c.caught().Value(key) }

// Globals are the flags every command understands.
type Globals struct {
	Home       string `help:"Directory of store, keys and settings." env:"INTERLOCK_HOME" type:"path" placeholder:"DIR"`
	Config     string `help:"Settings file instead of interlock.yaml in the home directory." type:"path" placeholder:"FILE"`
	RulesDir   string `name:"rules" help:"Directory of rules to add to the defaults." type:"path" placeholder:"DIR"`
	Profile    string `help:"Base verdicts: guard, supervised, managed, autonomous, mace-stage1 or asa." placeholder:"NAME"`
	Mode       string `help:"enforcing, monitoring, logging or disabled." placeholder:"MODE"`
	Unattended bool   `help:"Nobody is there to answer: every ask is refused with a request id."`
}

// exitCode carries a process exit status through Run methods. A nil err prints nothing.
type exitCode struct {
	code int
	err  error
}

func (e *exitCode) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

// usage wraps an error as misuse of the command line: exit status 2.
func usage(err error) error { return &exitCode{code: 2, err: err} }

// run is the program as a function: everything it touches comes in as a value, and it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runLine(&program{ctx: ctx, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, args: args, run: runLine}, args)
}

// runLine is what [run] does, of a program that is made.
func runLine(p *program, args []string) int {
	stderr := p.stderr
	// A hook call is on the critical path of every tool call, so it is read without building the command table.
	if len(args) > 0 && args[0] == "hook" {
		if code, done := p.fastHook(args[1:]); done {
			return code
		}
	}
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	args = asHelp(args)
	status := -1
	parser, err := newParser(p, commandsFor(args), kong.Exit(func(code int) { status = code }))
	if err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
		return 1
	}
	parsed, err := parser.Parse(args)
	if status >= 0 { // help was printed
		return status
	}
	if err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
		return 2
	}
	return report(p, flagged(p, asTyped(parsed.Run(p), parsed.Selected())))
}

// report prints what a command ended with and turns it into the exit status.
func report(p *program, err error) int {
	var exit *exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(p.stderr, "interlock:", p.printed(exit.err.Error()))
		}
		return exit.code
	default:
		fmt.Fprintln(p.stderr, "interlock:", p.printed(err.Error()))
		return 1
	}
}
