// Package cli is what the commands share: the program with its streams and settings, orders and how they are signed, lists and
// how they are printed, and what tells people where they are.
package cli

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/groundrules"
	"interlock/internal/kill"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// AuditStore opens the store for reading.
func (p *Program) AuditStore() (*store.Store, string, error) {
	c, err := p.Settings()
	if err != nil {
		return nil, "", err
	}
	opened, err := store.Open(c.Home, store.Options{ReadOnly: true})
	if err != nil {
		return nil, "", err
	}
	return opened, c.Home, nil
}

// ConsoleURL is where browsers reach the console: as the settings say, else on this machine under the name passkeys can be
// made for, at the port that is listened on.
func ConsoleURL(settings config.Config, listening string) string {
	if settings.ConsoleURL != "" {
		return settings.ConsoleURL
	}
	_, port, err := net.SplitHostPort(listening)
	if err != nil {
		return "http://localhost"
	}
	return "http://localhost:" + port
}

// KillEvery is how often a process looks whether everything is stopped, besides before each permit.
const KillEvery = 100 * time.Millisecond

// WhenStopped calls stop once everything is stopped, and returns then, or when ctx ends. Where it is stopped in steps, that is when
// what is under way has had its time to end.
func WhenStopped(ctx context.Context, home string, stop func(ledger.HoldBody)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kill.In(home).Watch(ctx, KillEvery, Now, func(step ledger.KillStep, h ledger.HoldBody) {
		if step == ledger.KillStopped {
			stop(h)
			cancel()
		}
	})
}

// Globals are the flags every command understands.
type Globals struct {
	Home       string `help:"Directory of store, keys and settings." env:"INTERLOCK_HOME" type:"path" placeholder:"DIR"`
	Config     string `help:"Settings file instead of interlock.yaml in the home directory." type:"path" placeholder:"FILE"`
	RulesDir   string `name:"rules" help:"Directory of rules to add to the defaults." type:"path" placeholder:"DIR"`
	Profile    string `help:"Base verdicts: guard, supervised, managed, autonomous, mace-stage1 or asa." placeholder:"NAME"`
	Mode       string `help:"enforcing, monitoring, logging or disabled." placeholder:"MODE"`
	Unattended bool   `help:"Nobody is there to answer: every ask is refused with a request id."`
}

// A Program is what every command shares: the streams, the environment and the global flags.
type Program struct {
	Ctx     context.Context
	Getenv  func(string) string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Globals Globals
	Args    []string // as they were typed

	// clock is what `interlock conformance maso` moves in its throw-away homes; nil, as in every process that was started, is the
	// machine's. Nothing from outside sets it.
	Clock func() time.Time
	// Keys holds the keys of throw-away homes by file once they are opened, which takes a tenth of a second each; nil, as in every process that
	// was started: each is opened for its order.
	Keys *sync.Map

	// run runs a command line as this program; `interlock conformance maso` runs many.
	Run func(p *Program, args []string) int

	// judge makes the judge in tests; nil, as in every process that was started, is that of the settings.
	Judge func(config.Config, *groundrules.Rules) (interlock.Judge, error)
}

// Settings returns the configuration: defaults, file, environment, flags, in this order.
func (p *Program) Settings() (config.Config, error) {
	home := p.Globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(p.Getenv); err != nil {
			return config.Config{}, err
		}
	}
	if err := NoFile(home); err != nil {
		return config.Config{}, err
	}
	c, err := config.Load(home, p.Globals.Config)
	if err != nil {
		return c, err
	}
	if p.Globals.RulesDir != "" {
		c.Rules = p.Globals.RulesDir
	}
	if p.Globals.Profile != "" {
		c.Profile = p.Globals.Profile
	}
	if p.Globals.Unattended {
		c.Unattended = true
	}
	if p.Globals.Mode != "" {
		if err := c.Mode.UnmarshalText([]byte(p.Globals.Mode)); err != nil {
			return c, Usage(interlock.Errorf(interlock.CodeInvalid, "--mode", "%v", err))
		}
	}
	return c, nil
}

// Open opens the embedded store and everything that decides. The caller closes it.
func (p *Program) Open() (*embedded.Backend, error) {
	c, err := p.Settings()
	if err != nil {
		return nil, err
	}
	backend, err := p.OpenUnder(c)
	if err == nil && p.Clock == nil {
		p.noteElsewhere(backend)
	}
	return backend, err
}

// OpenToStop is open for what stops everything or lets it go on, also where the rules can't be used. The caller closes it.
func (p *Program) OpenToStop() (*embedded.Backend, error) {
	c, err := p.Settings()
	if err != nil {
		return nil, err
	}
	return embedded.OpenToStop(p.Ctx, c, p.Clock)
}

// OpenUnder is open under settings that were read.
func (p *Program) OpenUnder(c config.Config) (*embedded.Backend, error) {
	if p.Clock != nil {
		return embedded.OpenClocked(p.Ctx, c, true, p.Clock)
	}
	return embedded.OpenBrief(p.Ctx, c)
}

// InForce is what is in force in place of settings that were read, in a home that has a store.
func (p *Program) InForce(settings config.Config) (config.Config, error) {
	if !store.Exists(settings.Home) {
		return settings, nil
	}
	backend, err := p.OpenUnder(settings)
	if err != nil {
		return settings, err
	}
	defer backend.Close()
	return backend.Settings, nil
}

// OpenStanding is open with what refs name of what is in force now, and the operators. The caller closes the backend.
func (p *Program) OpenStanding(refs ...ledger.Ref) (*embedded.Backend, ledger.Standing, error) {
	backend, err := p.Open()
	if err != nil {
		return nil, ledger.Standing{}, err
	}
	standing, err := p.Standing(backend, refs...)
	if err != nil {
		backend.Close()
		return nil, ledger.Standing{}, err
	}
	return backend, standing, nil
}

// Standing is what refs name of what is in force now, and the operators: only a look at all of them tells whose a key is.
func (p *Program) Standing(backend *embedded.Backend, refs ...ledger.Ref) (ledger.Standing, error) {
	standing, err := backend.Ground(p.Ctx, refs...)
	if err == nil {
		standing.Operators, err = core.Operators(p.Ctx, backend)
	}
	return standing, err
}

// Ref names one row of a kind.
func Ref(kind, key string) ledger.Ref { return ledger.Ref{Kind: kind, Key: key} }

// Evaluator makes what decides without a store, and returns the settings it was made of.
func (p *Program) Evaluator() (*admission.Evaluator, config.Config, error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, settings, err
	}
	evaluator, err := embedded.NewEvaluator(settings)
	return evaluator, settings, err
}

// Now is the one clock of the process; everything below cmd takes time as a value or a function.
func Now() time.Time { return time.Now() }

// Now is the time as this program's commands see it.
func (p *Program) Now() time.Time {
	if p.Clock != nil {
		return p.Clock()
	}
	return Now()
}

// OpenServer opens what a server decides by.
func (p *Program) OpenServer(settings config.Config) (*embedded.Backend, error) {
	if p.Clock != nil {
		return embedded.OpenClocked(p.Ctx, settings, false, p.Clock)
	}
	return embedded.OpenConfig(p.Ctx, settings)
}
