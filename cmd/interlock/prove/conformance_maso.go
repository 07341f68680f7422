package prove

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/people"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/config"
	"interlock/internal/conform"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

type conformanceMASO struct {
	Strict bool `help:"Every clause has to pass, and not the MUSTs alone."`
	Here   bool `help:"Say instead which clauses this home's settings, rules and people satisfy. Nothing is changed."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock conformance maso --help` adds.
func (conformanceMASO) Help() string {
	return "Makes homes in a temporary directory, each with a server, agents with tokens and operators with keys of their own, and drives them\n" +
		"through their doors. Your own home, settings and log are not touched. Where a check has to wait, the clock of its home is moved.\n" +
		"Each line is pass, fail or pending, a clause, and what was seen. Exits 1 unless every MUST passes, with --strict every\n" +
		"clause. What was sent and answered stands in a new file in the temporary directory, whose path is printed."
}

// Run makes every check, or looks at this home.
func (c conformanceMASO) Run(p *cli.Program) error {
	clauses, err := conform.Clauses()
	if err != nil {
		return err
	}
	if c.Here {
		return homeRun{name: "maso", clauses: clauses, set: "its tier", strict: c.Strict, json: c.JSON}.look(p)
	}
	return conformanceRun{name: "maso", clauses: clauses, checks: conform.Checks(), strict: c.Strict, json: c.JSON,
		without: "what is pending"}.drive(p)
}

// writeEvidence writes what was sent and answered to a new file, for its owner alone, and returns where. Nobody names the file: agents may
// call this command, and must not write with it where they may not write.
func writeEvidence(name string, results []conform.Result, tally conform.Tally) (string, error) {
	text, err := json.MarshalIndent(struct {
		Program string           `json:"program"`
		Made    time.Time        `json:"made"`
		Counts  conform.Tally    `json:"counts"`
		Clauses []conform.Result `json:"clauses"`
	}{"interlock " + embedded.Version(), cli.Now().UTC(), tally, results}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("writing the evidence: %w", err)
	}
	f, err := os.CreateTemp("", "interlock-"+name+"-*.json")
	if err != nil {
		return "", fmt.Errorf("writing the evidence: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("writing the evidence: %w", err)
	}
	return f.Name(), nil
}

// driven makes a driver over a directory that is gone afterwards.
func driven(p *cli.Program, drive func(*conform.Driver) error) error {
	root, err := os.MkdirTemp("", "ilk-")
	if err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	defer os.RemoveAll(root)
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	d, err := conform.NewDriver(conform.Env{Root: root, NewKey: identity.NewKey, Now: cli.Now, Found: found, Process: asProcess(own), Clocked: inProcess(p)})
	if err != nil {
		return err
	}
	defer d.Close()
	return drive(d)
}

// asProcess runs commands as processes of a program.
func asProcess(own string) conform.Program {
	return func(ctx context.Context, c conform.Command) int {
		command := exec.CommandContext(ctx, cmp.Or(c.Tool, own), c.Args...)
		if err := runAs(command, c.User, c.Group); err != nil {
			fmt.Fprintln(c.Stderr, "interlock:", err)
			return 1
		}
		command.Env, command.Dir, command.Stdin, command.Stdout, command.Stderr = c.Env, c.Dir, c.Stdin, c.Stdout, c.Stderr
		command.Cancel = func() error { return errors.Join(nil, interrupt(command.Process)) }
		command.WaitDelay = 10 * time.Second
		err := command.Run()
		var ended *exec.ExitError
		switch {
		case errors.As(err, &ended):
			return ended.ExitCode()
		case err != nil:
			fmt.Fprintln(c.Stderr, "interlock:", err)
			return 1
		}
		return 0
	}
}

// interrupt asks a process to end, and ends it where it can't be asked.
func interrupt(process *os.Process) error {
	if process.Signal(os.Interrupt) == nil {
		return nil
	}
	return process.Kill()
}

// inProcess runs commands in this process, by another clock.
func inProcess(p *cli.Program) func(clock func() time.Time) conform.Program {
	keys := &sync.Map{}
	return func(clock func() time.Time) conform.Program {
		return func(ctx context.Context, c conform.Command) int {
			getenv := func(name string) string {
				for _, set := range c.Env {
					if value, found := strings.CutPrefix(set, name+"="); found {
						return value
					}
				}
				return ""
			}
			args := append([]string{"--home", getenv("INTERLOCK_HOME")}, c.Args...)
			return p.Run(&cli.Program{Ctx: ctx, Getenv: getenv, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Args: args,
				Clock: clock, Keys: keys, Run: p.Run}, args)
		}
	}
}

// found makes the first operator of a throw-away home. Of others a person does, at a terminal.
func found(ctx context.Context, f conform.Founding) error {
	settings, err := config.Load(f.Home, "")
	if err != nil {
		return err
	}
	backend, err := embedded.OpenClocked(ctx, settings, true, f.Now)
	if err != nil {
		return err
	}
	defer backend.Close()
	said, list, err := people.SaySettings(settings)
	if err != nil {
		return err
	}
	if list == "" {
		said = governance.SaidSettings{}
	}
	_, err = backend.FirstOperator(ctx, interlock.OperatorRecord{Name: f.Name, Role: quorum.RoleSuperadmin, SSHKey: f.Public,
		Created: f.Now().UTC()}, said)
	return err
}
