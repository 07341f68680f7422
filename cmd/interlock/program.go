package main

import (
	"context"
	"io"
	"runtime"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/groundrules"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// A program is what every command shares: the streams, the environment and the global flags.
type program struct {
	ctx     context.Context
	getenv  func(string) string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	globals Globals
	args    []string // as they were typed

	// clock is what `interlock conformance maso` moves in its throw-away homes; nil, as in every process that was started, is the
	// machine's. Nothing from outside sets it.
	clock func() time.Time

	// run runs a command line as this program; `interlock conformance maso` runs many.
	run func(p *program, args []string) int

	// judge makes the judge in tests; nil, as in every process that was started, is that of the settings.
	judge func(config.Config, *groundrules.Rules) (interlock.Judge, error)
}

// settings returns the configuration: defaults, file, environment, flags, in this order.
func (p *program) settings() (config.Config, error) {
	home := p.globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(p.getenv); err != nil {
			return config.Config{}, err
		}
	}
	if err := noFile(home); err != nil {
		return config.Config{}, err
	}
	c, err := config.Load(home, p.globals.Config)
	if err != nil {
		return c, err
	}
	if p.globals.RulesDir != "" {
		c.Rules = p.globals.RulesDir
	}
	if p.globals.Profile != "" {
		c.Profile = p.globals.Profile
	}
	if p.globals.Unattended {
		c.Unattended = true
	}
	if p.globals.Mode != "" {
		if err := c.Mode.UnmarshalText([]byte(p.globals.Mode)); err != nil {
			return c, usage(interlock.Errorf(interlock.CodeInvalid, "--mode", "%v", err))
		}
	}
	return c, nil
}

// open opens the embedded store and everything that decides. The caller closes it.
func (p *program) open() (*embedded.Backend, error) {
	c, err := p.settings()
	if err != nil {
		return nil, err
	}
	backend, err := p.openUnder(c)
	if err == nil && p.clock == nil {
		p.noteElsewhere(backend)
	}
	return backend, err
}

// openUnder is open under settings that were read.
func (p *program) openUnder(c config.Config) (*embedded.Backend, error) {
	if p.clock != nil {
		return embedded.OpenClocked(p.ctx, c, true, p.clock)
	}
	return embedded.OpenBrief(p.ctx, c)
}

// inForce is what is in force in place of settings that were read, in a home that has a store.
func (p *program) inForce(settings config.Config) (config.Config, error) {
	if !store.Exists(settings.Home) {
		return settings, nil
	}
	backend, err := p.openUnder(settings)
	if err != nil {
		return settings, err
	}
	defer backend.Close()
	return backend.Settings, nil
}

// openStanding is open with what refs name of what stands now, and the operators. The caller closes the backend.
func (p *program) openStanding(refs ...ledger.Ref) (*embedded.Backend, ledger.Standing, error) {
	backend, err := p.open()
	if err != nil {
		return nil, ledger.Standing{}, err
	}
	standing, err := p.standing(backend, refs...)
	if err != nil {
		backend.Close()
		return nil, ledger.Standing{}, err
	}
	return backend, standing, nil
}

// standing is what refs name of what stands now, and the operators: whose a key is can only be told by looking at all of them.
func (p *program) standing(backend *embedded.Backend, refs ...ledger.Ref) (ledger.Standing, error) {
	standing, err := backend.Ground(p.ctx, refs...)
	if err == nil {
		standing.Operators, err = core.Operators(p.ctx, backend)
	}
	return standing, err
}

// ref names one row of a kind.
func ref(kind, key string) ledger.Ref { return ledger.Ref{Kind: kind, Key: key} }

// evaluator makes what decides without a store, and returns the settings it was made of.
func (p *program) evaluator() (*admission.Evaluator, config.Config, error) {
	settings, err := p.settings()
	if err != nil {
		return nil, settings, err
	}
	evaluator, err := embedded.NewEvaluator(settings)
	return evaluator, settings, err
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object: version, commit, analyser and what it was built with."`
}

// Run prints the version.
func (c versionCommand) Run(p *program) error {
	if c.JSON {
		commit, changed := embedded.Commit()
		return writeLine(p.stdout, struct {
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
	_, err := io.WriteString(p.stdout, "interlock "+embedded.Version()+"\n")
	return err
}

// now is the one clock of the process; everything below cmd takes time as a value or a function.
func now() time.Time { return time.Now() }

// now is the time as this program's commands see it.
func (p *program) now() time.Time {
	if p.clock != nil {
		return p.clock()
	}
	return now()
}
