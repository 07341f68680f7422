package mcpgateway

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"interlock"
)

// Config configures a [Gateway]. Fields are required unless they say otherwise.
type Config struct {
	Backend Backend
	Servers []Server // in the order in which they are started; names differ
	Now     func() time.Time
	Random  io.Reader
	Logger  *slog.Logger

	Version string                          // optional: of this program, for clients and servers
	View    func(dir string) interlock.View // optional: what is known of the world for an action in a directory
	// optional: which definitions were approved, and what callers may see; none: everything
	Pins       Pins
	FirstUse   func(server string) bool // optional: whether what a server offers at first sight is trusted; none: yes
	Forms      func() bool              // optional: whether arguments have to meet what the tool says of them; none: no
	Classifier Classifier               // optional: looks at results before the client sees them
	Hearer     Hearer                   // optional: remembers what results name, before the client sees them
	Sparing    bool                     // in modes that enforce nothing, what nothing objects to is not recorded
	CanAsk     bool                     // whether somebody who can answer an Ask looks at the pending requests
	Limits     Limits                   // optional
	Asker      *Asker                   // optional: holds what a human has to answer; none: it is refused at once
}

// Limits bound what one session costs. A zero field means its default.
type Limits struct {
	Message   int           // bytes of a message from a client; default 4 MiB
	Result    int           // bytes of a server's answer; default 16 MiB
	Calls     int           // requests of one session under way at once; default 256
	Sessions  int           // sessions at once; default 1000
	Offers    int           // definitions of one kind that are read from one server; default 10,000
	Page      int           // entries of one page of a list; default 1000
	Start     time.Duration // that a client waits for the servers' handshakes; default 20 s
	Hello     time.Duration // that a client's own handshake waits for them; default 8 s
	Handshake time.Duration // that a server has for it, which may have to be downloaded first; default 3 min
	Call      time.Duration // that a server may take over one request, from its last sign of progress; default 10 min
	Idle      time.Duration // after which a shared session that nobody used is closed; default 1 h
	Outcomes  int           // outcomes that wait to be recorded before answers wait too; default 1024
}

func (l Limits) withDefaults() Limits {
	Fallback(&l.Message, 4<<20)
	Fallback(&l.Result, 16<<20)
	Fallback(&l.Calls, 256)
	Fallback(&l.Sessions, 1000)
	Fallback(&l.Offers, 10_000)
	Fallback(&l.Page, 1000)
	Fallback(&l.Start, 20*time.Second)
	Fallback(&l.Hello, 8*time.Second)
	Fallback(&l.Handshake, 3*time.Minute)
	l.Handshake = max(l.Handshake, l.Start)
	Fallback(&l.Call, 10*time.Minute)
	Fallback(&l.Idle, time.Hour)
	Fallback(&l.Outcomes, 1024)
	return l
}

// Fallback gives a bound that is not positive its standard value.
func Fallback[T ~int | ~int64](value *T, standard T) {
	if *value <= 0 {
		*value = standard
	}
}

// A Gateway is the gateway of one process, whatever clients it serves. It is safe for concurrent use.
type Gateway struct {
	config Config
	sealer *Sealer // of what counts in this process only

	mu       sync.Mutex
	sessions map[*Session]struct{}
	closed   bool
	cut      bool          // everything is stopped
	outcomes chan outcome  // that wait to be recorded
	done     chan struct{} // closed when the gateway is
	wait     sync.WaitGroup
}

// New returns a gateway that serves nobody yet, or an error that names the field at fault.
func New(c Config) (*Gateway, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.View == nil {
		c.View = func(dir string) interlock.View { return interlock.View{Workspace: dir} }
	}
	c.Limits = c.Limits.withDefaults()
	key := make([]byte, KeyBytes)
	if _, err := io.ReadFull(c.Random, key); err != nil {
		return nil, fmt.Errorf("mcpgateway: making a key: %w", err)
	}
	sealer, err := NewSealer(key)
	if err != nil {
		return nil, err
	}
	g := &Gateway{config: c, sealer: sealer, sessions: map[*Session]struct{}{}, outcomes: make(chan outcome, c.Limits.Outcomes),
		done: make(chan struct{})}
	g.wait.Go(g.record)
	if c.Pins != nil {
		g.wait.Go(g.watch)
	}
	return g, nil
}

// Config is what the gateway runs with, defaults filled in.
func (g *Gateway) Config() Config { return g.config }

// Close ends every session and records what is left to record.
func (g *Gateway) Close() error {
	g.mu.Lock()
	closed := g.closed
	g.closed = true
	var open []*Session
	for s := range g.sessions {
		open = append(open, s)
	}
	g.mu.Unlock()
	for _, s := range open {
		s.Close()
	}
	if !closed {
		close(g.done)
	}
	g.wait.Wait()
	return nil
}

// Cut ends every session, and with it the servers behind it, and lets none begin until it is called again with false: everything is
// stopped (EC-K-1).
func (g *Gateway) Cut(off bool) {
	g.mu.Lock()
	g.cut = off
	var open []*Session
	for s := range g.sessions {
		if off {
			open = append(open, s)
		}
	}
	g.mu.Unlock()
	for _, s := range open { // in any order: all are ended
		s.Close()
	}
}

func (g *Gateway) admit(s *Session) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return interlock.Errorf(interlock.CodeUnavailable, "", "the gateway is closing")
	}
	if g.cut {
		return interlock.Errorf(interlock.CodeUnavailable, "", "everything is stopped")
	}
	if most := g.config.Limits.Sessions; len(g.sessions) >= most {
		return interlock.Errorf(interlock.CodeLimited, "",
			"%d sessions are open, which is as many as there may be; close one", most)
	}
	g.sessions[s] = struct{}{}
	return nil
}

func (g *Gateway) dismiss(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, s)
}

func (g *Gateway) version() string {
	if g.config.Version == "" {
		return "dev"
	}
	return g.config.Version
}

func (g *Gateway) firstUse(server string) bool {
	return g.config.FirstUse == nil || g.config.FirstUse(server)
}

func (c Config) check() error {
	missing := ""
	switch {
	case c.Backend == nil:
		missing = "Backend"
	case c.Now == nil:
		missing = "Now"
	case c.Random == nil:
		missing = "Random"
	case c.Logger == nil:
		missing = "Logger"
	case len(c.Servers) == 0:
		missing = "Servers"
	}
	if missing != "" {
		return fmt.Errorf("mcpgateway: Config.%s is missing", missing)
	}
	seen := map[string]bool{}
	for _, s := range c.Servers {
		if err := CheckServerName(s.Name()); err != nil {
			return err
		}
		if seen[s.Name()] {
			return interlock.Errorf(interlock.CodeInvalid, "servers",
				"two servers are called %q, so nobody could tell their tools apart; rename one", s.Name())
		}
		seen[s.Name()] = true
	}
	return nil
}

// CheckServerName refuses names under which tools could be confused: a dot would let two servers have one full name.
func CheckServerName(name string) error {
	if name == "" || len(name) > 64 {
		return interlock.Errorf(interlock.CodeInvalid, "servers", "a server's name has 1 to 64 characters")
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return interlock.Errorf(interlock.CodeInvalid, "servers",
				"the server name %.64q holds something else than letters, digits, - and _", name)
		}
	}
	return nil
}
