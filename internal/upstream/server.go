package upstream

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
)

// A Link is one connection to a server, see the package's documentation. It is an alias, so that who asks for the
// same methods asks for the same type.
type Link = interface {
	Send(ctx context.Context, message []byte) error
	Receive() ([]byte, error)
	Close() error
}

// A State says how a server is doing.
type State string

// The states.
const (
	StateIdle    State = "idle"    // nobody has dialed it
	StateUp      State = "up"      // the newest connection or exchange went well
	StateBacking State = "backing" // it failed, and is left alone until Retry
	StateDown    State = "down"    // it failed; the next dial tries again
)

// Health is what is known of a server. It holds no secret. It is for operators: LastError may quote the server.
type Health struct {
	State     State
	Links     int    // connections that are open
	Restarts  int    // times it was dialed again after it had failed
	Failures  int    // failures in a row
	LastError string // of the newest failure; empty when there was none
	Retry     time.Time
}

// A Server is one configured server. It is safe for concurrent use; every Dial makes a connection of its own.
type Server struct {
	config   Config
	options  Options
	identity interlock.Digest
	client   *http.Client // of a server with a url

	well atomic.Bool // nothing to mend: spares the lock on every exchange

	mu       sync.Mutex
	links    int
	dialed   bool
	failures int
	restarts int
	last     string
	retry    time.Time
}

// New checks the settings and returns the server. Nothing is started and no secret is read.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Connect == 0 {
		c.Connect = DefaultConnect
	}
	if c.Stop == 0 {
		c.Stop = DefaultStop
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	s := &Server{config: c, options: o.withDefaults(), identity: c.Identity()}
	if c.URL != "" {
		client, err := newClient(c, s.options)
		if err != nil {
			return nil, err
		}
		s.client = client
	}
	return s, nil
}

// Name is what the server is called in the settings.
func (s *Server) Name() string { return s.config.Name }

// Local reports whether the server is a program on this machine.
func (s *Server) Local() bool { return s.config.Command != "" }

// Identity is a digest of what would be started or reached: program, arguments, directory, address, and names and plain values
// of variables and headers. Where a value is a reference it counts as a secret, whatever it is and wherever it comes from.
func (s *Server) Identity() interlock.Digest { return s.identity }

// Dial starts the program, or prepares to reach the address: the first exchange shows whether that answers. It is an
// *interlock.Error if the server can't be started, a secret can't be found, or the server is backing off.
func (s *Server) Dial(ctx context.Context) (Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.unavailable("was not waited for")
	}
	if err := s.leftAlone(); err != nil {
		return nil, err
	}
	env, hidden, err := s.options.resolveAll("env.", s.config.Env)
	if err != nil {
		return nil, s.failed(err.Error(), false, s.unavailable("can't be started: a secret of its settings is missing"))
	}
	headers, more, err := s.options.resolveAll("headers.", s.config.Headers)
	if err != nil {
		return nil, s.failed(err.Error(), false, s.unavailable("can't be started: a secret of its settings is missing"))
	}
	args, rest, err := s.options.resolveArgs(s.config.Args)
	if err != nil {
		return nil, s.failed(err.Error(), false, s.unavailable("can't be started: a secret of its settings is missing"))
	}
	conceal := newConcealer(slices.Concat(hidden, more, rest))
	if s.client != nil {
		s.opened()
		return newHTTPLink(s, headers, conceal), nil
	}
	link, err := startProgram(s, args, env, conceal)
	if err != nil {
		return nil, s.failed(err.Error(), false, s.unavailable("can't be started"))
	}
	s.opened()
	return link, nil
}

// Health tells how the server is doing.
func (s *Server) Health() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := Health{State: StateUp, Links: s.links, Restarts: s.restarts, Failures: s.failures, LastError: s.last}
	switch {
	case s.failures > 0 && s.options.Now().Before(s.retry):
		h.State, h.Retry = StateBacking, s.retry
	case s.failures > 0:
		h.State = StateDown
	case !s.dialed || s.links == 0:
		h.State = StateIdle
	}
	return h
}

// Trouble is what is wrong with the server, for operators, and empty where nothing is.
func (s *Server) Trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == 0 {
		return ""
	}
	return s.last
}

// Close lets go of connections that are kept for reuse. Links are closed by the caller that dialed them.
func (s *Server) Close() error {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return nil
}

// unavailable is what callers are told; what exactly happened is in the health and the trouble, for operators.
func (s *Server) unavailable(what string) *interlock.Error {
	return interlock.Errorf(interlock.CodeUnavailable, "", "the server %s %s", s.config.Name, what)
}

// leftAlone is an error while the server is backing off.
func (s *Server) leftAlone() error {
	if s.well.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := s.retry.Sub(s.options.Now())
	if s.failures == 0 || wait <= 0 {
		return nil
	}
	return s.unavailable("failed and is left alone; it is tried again in " + wait.Round(time.Second).String())
}

// opened counts a connection.
func (s *Server) opened() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links++
	s.dialed = true
	if s.failures > 0 {
		s.restarts++
	}
}

// closed counts a connection that has ended.
func (s *Server) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links--
}

// answered notes that the server is well.
func (s *Server) answered() {
	if s.well.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.retry = 0, time.Time{}
	s.well.Store(true)
}

// The waits after failures. A server that never got so far as to answer fails all callers alike and waits long. One that had
// answered fails one caller, perhaps through what that caller asked, and others are not to wait long for it.
const (
	firstWait     = 250 * time.Millisecond
	longestWait   = 30 * time.Second
	longestCrash  = 2 * time.Second
	stableAfter   = 10 * time.Second // a connection that lived so long and then ended is the first failure of a row
	farthestShift = 16
)

// backoff is how long to wait after that many failures in a row: doubled each time up to a bound, between half and all of it.
func backoff(failures int, had bool, random float64) time.Duration {
	bound := longestWait
	if had {
		bound = longestCrash
	}
	wait := min(firstWait*time.Duration(math.Exp2(float64(min(failures-1, farthestShift)))), bound)
	return wait/2 + time.Duration(float64(wait/2)*random)
}

// failed notes a failure and returns err. had says that the server had answered on that connection.
func (s *Server) failed(what string, had bool, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialed = true
	s.last = what
	if s.well.Store(false); s.failures > 0 && s.options.Now().Before(s.retry) {
		return err // one outage seen by several callers
	}
	s.failures++
	s.retry = s.options.Now().Add(backoff(s.failures, had, s.options.Random()))
	return err
}

// lived forgets earlier failures, because a connection has been well for long.
func (s *Server) lived(since time.Time) {
	if s.options.Now().Sub(since) >= stableAfter {
		s.mu.Lock()
		s.failures = 0
		s.mu.Unlock()
	}
}

// A lost error says that a message was, or may have been, delivered and that its outcome is unknown.
type lost string

func (l lost) Error() string { return string(l) }

// Is makes it an io.ErrUnexpectedEOF to errors.Is.
func (l lost) Is(target error) bool { return target == errLost }

// noted keeps what an operator should see of an answer that was no failure of the connection.
func (s *Server) noted(what string) {
	s.mu.Lock()
	s.last = what
	s.mu.Unlock()
}
