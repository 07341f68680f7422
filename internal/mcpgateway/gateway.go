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

	Version    string                          // optional: of this program, for clients and servers
	View       func(dir string) interlock.View // optional: what is known of the world for an action in a directory
	Screen     Screen                          // optional: what callers may see; none: everything
	Classifier Classifier                      // optional: looks at results before the client sees them
	CanAsk     bool                            // whether somebody who can answer an Ask looks at the pending requests
	Limits     Limits                          // optional
	Asker      *Asker                          // optional: holds what a human has to answer; none: it is refused at once
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
	Call      time.Duration // that a server may take over one request, from its last sign of progress; default 10 min
	Idle      time.Duration // after which a shared session that nobody used is closed; default 1 h
	Outcomes  int           // outcomes that wait to be recorded before answers wait too; default 1024
	Recorders int           // outcomes that are recorded at once; default 16
}

func (l Limits) withDefaults() Limits {
	fallback(&l.Message, 4<<20)
	fallback(&l.Result, 16<<20)
	fallback(&l.Calls, 256)
	fallback(&l.Sessions, 1000)
	fallback(&l.Offers, 10_000)
	fallback(&l.Page, 1000)
	fallback(&l.Start, 20*time.Second)
	fallback(&l.Call, 10*time.Minute)
	fallback(&l.Idle, time.Hour)
	fallback(&l.Outcomes, 1024)
	fallback(&l.Recorders, 16)
	return l
}

func fallback[T ~int | ~int64](value *T, standard T) {
	if *value <= 0 {
		*value = standard
	}
}

// A Gateway is the gateway of one process, whatever clients it serves. It is safe for concurrent use.
type Gateway struct {
	config Config

	mu       sync.Mutex
	sessions map[*Session]struct{}
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
	return &Gateway{config: c, sessions: map[*Session]struct{}{}}, nil
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
			return interlock.Errorf(interlock.CodeInvalid, "servers", "two servers are called %q, so nobody could tell their tools apart; rename one", s.Name())
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
			return interlock.Errorf(interlock.CodeInvalid, "servers", "the server name %.64q holds something else than letters, digits, - and _", name)
		}
	}
	return nil
}
