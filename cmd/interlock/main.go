// Command interlock is the safety interlock between an AI agent's intent and the world: a hook for coding agents, an HTTP
// API, and the tools of the people in charge. `interlock --help` lists the commands; docs/cli.md is their reference.
//
// This package and those below it are the only ones that wire the others together. commands.go holds the command table; package
// cli is what every command shares, and commands of one subject share a package.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/serve"
	"interlock/embedded"
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

// run is the program as a function: everything it touches comes in as a value, and it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runLine(&cli.Program{Ctx: ctx, Getenv: getenv, Stdin: stdin, Stdout: stdout, Stderr: stderr, Args: args,
		Run: runLine}, args)
}

// runLine is what [run] does, of a program that is made.
func runLine(p *cli.Program, args []string) int {
	stderr := p.Stderr
	// A hook call is on the critical path of every tool call, so it is read without building the command table.
	if len(args) > 0 && args[0] == "hook" {
		if code, done := serve.FastHook(p, args[1:]); done {
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
func report(p *cli.Program, err error) int {
	var exit *cli.ExitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.Err != nil {
			fmt.Fprintln(p.Stderr, "interlock:", p.Printed(exit.Err.Error()))
		}
		return exit.Code
	default:
		fmt.Fprintln(p.Stderr, "interlock:", p.Printed(err.Error()))
		return 1
	}
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object: version, commit, analyser and what it was built with."`
}

// Run prints the version.
func (c versionCommand) Run(p *cli.Program) error {
	if c.JSON {
		commit, changed := embedded.Commit()
		return cli.WriteLine(p.Stdout, struct {
			Name     string `json:"name"`
			Version  string `json:"version"`
			Commit   string `json:"commit"` // empty: built from files without a history
			Changed  bool   `json:"changed"`
			Analyser string `json:"analyser"` // as decisions record it
			Go       string `json:"go"`
			OS       string `json:"os"`
			Arch     string `json:"arch"`
		}{"interlock", embedded.Version(), commit, changed, embedded.Revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
	}
	_, err := io.WriteString(p.Stdout, "interlock "+embedded.Version()+"\n")
	return err
}
