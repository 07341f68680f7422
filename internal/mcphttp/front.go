package mcphttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/hostname"
	"interlock/internal/mcpgateway"
)

// Config configures a [Front]. Gateway and Credentials are required.
type Config struct {
	Gateway     *mcpgateway.Gateway
	Credentials Credentials

	Path    string   // of the endpoint; default /mcp
	URL     string   // where clients reach the endpoint; empty: by the name and port they use
	Issuers []string // authorization servers whose tokens are taken, for clients that look for one; none: no metadata is served
	Scopes  []string // that a token needs, for the same clients
	Hosts   []string // names this server answers to beside those of the loopback interface, as host or host:port
	Origins []string // web pages that may call, as scheme://host:port; none: requests from browsers are refused
	Limits  Limits
}

// Limits bound what clients can take. A zero field means its default.
type Limits struct {
	Connections int // at once, of all clients; default 2048
	PerAddress  int // and of one remote address that is not this machine; default 256

	Concurrent int           // requests under way, of all agents; default 1024
	PerAgent   int           // requests under way of one agent; default 128
	Sessions   int           // protocol sessions of one agent; default 16
	Begins     int           // sessions an agent begins at once, and then one in five seconds: each starts servers; default 60
	Queue      int           // messages that wait for a client that reads slowly; default 256
	QueueBytes int           // and their bytes; default 4 MiB
	Header     int           // bytes of a request's line and header; default 32 KiB
	ReadHeader time.Duration // to send a request's header; default 5 s
	Read       time.Duration // to send a request's body; default 30 s
	Write      time.Duration // to take what is sent at once; default 30 s
	Idle       time.Duration // of a session or a kept connection; default 30 min and 2 min
	Stream     time.Duration // that a stream stays open, so that its client shows its credential again; default 1 h
	Quiet      time.Duration // of a stream, after which the client is tried; default 25 s
	First      time.Duration // that what belongs to no request waits for a new session's client to open its stream; default 5 s
	Keep       int           // messages that are kept for a client of a session that lost a stream; default 256
	KeepBytes  int           // and their bytes; default 1 MiB
	KeepFor    time.Duration // and how long; default 5 min
	Slow       time.Duration // a request of a session, before its client is told how to come back for the answer; default 2 s
	Drain      time.Duration // for what is under way when the server stops; default 10 s
}

const idleConnection = 2 * time.Minute

func (l Limits) withDefaults() Limits {
	mcpgateway.Fallback(&l.Connections, 2048)
	mcpgateway.Fallback(&l.PerAddress, 256)
	mcpgateway.Fallback(&l.Concurrent, 1024)
	mcpgateway.Fallback(&l.PerAgent, 128)
	mcpgateway.Fallback(&l.Sessions, 16)
	mcpgateway.Fallback(&l.Begins, 60)
	mcpgateway.Fallback(&l.Queue, 256)
	mcpgateway.Fallback(&l.QueueBytes, 4<<20)
	mcpgateway.Fallback(&l.Header, 32<<10)
	mcpgateway.Fallback(&l.ReadHeader, 5*time.Second)
	mcpgateway.Fallback(&l.Read, 30*time.Second)
	mcpgateway.Fallback(&l.Write, 30*time.Second)
	mcpgateway.Fallback(&l.Idle, 30*time.Minute)
	mcpgateway.Fallback(&l.Stream, time.Hour)
	mcpgateway.Fallback(&l.Quiet, 25*time.Second)
	mcpgateway.Fallback(&l.First, 5*time.Second)
	mcpgateway.Fallback(&l.Keep, 256)
	mcpgateway.Fallback(&l.KeepBytes, 1<<20)
	mcpgateway.Fallback(&l.KeepFor, 5*time.Minute)
	mcpgateway.Fallback(&l.Slow, 2*time.Second)
	mcpgateway.Fallback(&l.Drain, 10*time.Second)
	return l
}

// A conversation is what the front needs of a [mcpgateway.Session].
type conversation interface {
	Handle(ctx context.Context, message []byte, reply mcpgateway.Peer)
	Tool(name string) json.RawMessage // its definition; nil if it is not known yet
	Close() error
}

// A Front serves a gateway over streamable HTTP, in both revisions of the protocol: sessions with an id until 2025-11-25, and
// requests that stand for themselves from 2026-07-28 on. Every request shows its credential; nothing of it, nor of any other
// header, goes on to a server. It is safe for concurrent use.
type Front struct {
	config  Config
	outside string // the endpoint's path as clients know it
	limits  Limits
	body    int64
	names   hostname.Names
	origins map[string]bool
	open    func(mcpgateway.Caller, mcpgateway.Peer) (conversation, error)
	backend mcpgateway.Backend
	now     func() time.Time
	random  io.Reader
	logger  *slog.Logger

	mu       sync.Mutex
	closed   bool
	active   int
	agents   map[string]int // requests under way of each
	begun    map[string]begun
	sessions map[string]*httpSession
	shared   map[who]*httpSession
}

// New returns a front that listens nowhere yet.
func New(c Config) (*Front, error) {
	if c.Gateway == nil || c.Credentials == nil {
		return nil, errors.New("mcphttp: Config.Gateway and Credentials are needed")
	}
	g := c.Gateway.Config()
	h := &Front{config: c, limits: c.Limits.withDefaults(), body: int64(g.Limits.Message), origins: map[string]bool{},
		backend: g.Backend, now: g.Now, random: g.Random, logger: g.Logger,
		agents: map[string]int{}, begun: map[string]begun{}, sessions: map[string]*httpSession{}, shared: map[who]*httpSession{}}
	h.open = func(caller mcpgateway.Caller, peer mcpgateway.Peer) (conversation, error) {
		s, err := c.Gateway.Open(caller, peer)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	names := slices.Clone(c.Hosts)
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
			return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.url",
				"%.80q is not an address such as https://tools.example.com/mcp", c.URL)
		}
		names = append(names, u.Host)
		h.outside = strings.TrimSuffix(u.Path, "/")
		if c.Path == "" {
			h.config.Path = h.outside
		}
	}
	if h.config.Path == "" {
		h.config.Path = "/mcp"
	}
	if c.URL == "" {
		h.outside = h.config.Path
	}
	h.names = hostname.New(names...)
	for _, origin := range c.Origins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Path != "" {
			return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.origins",
				"%.80q is not an origin such as https://app.example.com", origin)
		}
		h.origins[strings.ToLower(origin)] = true
	}
	return h, nil
}

// Path is the path of the endpoint.
func (h *Front) Path() string { return h.config.Path }

// Serves reports whether a path is one of this front's, for a server that has others.
func (h *Front) Serves(path string) bool { return path == h.config.Path || h.isMetadata(path) }

// ServeHTTP serves one request. It is the one place where a panic of the front ends.
func (h *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			// The value may quote a message, so that only its type is logged.
			h.logger.Error("panic in the gateway's HTTP front", "type", fmt.Sprintf("%T", v))
			say(w, http.StatusInternalServerError, "the request could not be completed")
		}
	}()
	// Also for a body that nobody reads: the server would wait for its end before it reads the next request.
	// a connection without deadlines has the server's own
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.limits.Read))
	if err := h.checkOrigin(r); err != nil {
		say(w, http.StatusForbidden, err.Error())
		return
	}
	if h.allowOrigin(w, r) {
		return
	}
	switch {
	case h.isMetadata(r.URL.Path):
		h.metadata(w, r)
	case r.URL.Path != h.config.Path:
		say(w, http.StatusNotFound, "no such path; the gateway is at "+h.config.Path)
	default:
		h.endpoint(w, r)
	}
}

// checkOrigin refuses what reached this port under a foreign name, and what a web page sends that is not configured: a page
// that resolves its own name to this address must not speak to the gateway (MCP, transports: security warning).
func (h *Front) checkOrigin(r *http.Request) error {
	if !h.names.Has(r.Host) {
		return interlock.Errorf(interlock.CodeUnauthorized, "Host", "this server does not answer under that name")
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 && r.Header["Sec-Fetch-Site"] == nil {
		return nil
	}
	if len(origins) == 1 && (h.origins[strings.ToLower(origins[0])] || origins[0] == own(r)) {
		return nil
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "Origin", "requests from this web page are not accepted")
}

// own is the origin of pages of this server itself, under the name it was asked by.
func own(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// allowOrigin lets the browser of a configured page read the answer, and reports whether that was all it asked for.
func (h *Front) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// endpoint serves the protocol's own path to anyone who has a credential.
func (h *Front) endpoint(w http.ResponseWriter, r *http.Request) {
	record, err := h.authenticate(r)
	if err != nil {
		h.unauthenticated(w, r, record, err)
		return
	}
	if v := visitOf(r); v != nil {
		if !v.begin() {
			panic(http.ErrAbortHandler) // it is being closed, and nothing was begun
		}
		defer v.end()
	}
	caller := who{record.ID, record.Principal}
	if refusal := h.enter(caller); refusal != "" {
		w.Header().Set("Retry-After", "1")
		say(w, http.StatusTooManyRequests, refusal)
		return
	}
	defer h.leave(caller)
	w.Header()["Cache-Control"] = []string{"no-store"}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, caller)
	case http.MethodGet:
		h.get(w, r, caller)
	case http.MethodDelete:
		h.delete(w, r, caller)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		say(w, http.StatusMethodNotAllowed, "this path takes POST, GET and DELETE")
	}
}

// enter counts a request in, or says why there is no room for it.
func (h *Front) enter(c who) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return "the gateway is stopping"
	case h.agents[c.agent] >= h.limits.PerAgent:
		return "this agent has too many requests under way; try again in a second"
	case h.active >= h.limits.Concurrent:
		return "too many requests are under way; try again in a second"
	}
	h.active++
	h.agents[c.agent]++
	return ""
}

func (h *Front) leave(c who) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	if h.agents[c.agent]--; h.agents[c.agent] == 0 {
		delete(h.agents, c.agent)
	}
}

// newID draws the name of a session: nobody can guess it, and it is worth nothing without its agent's credential.
func (h *Front) newID() (string, error) {
	var b [32]byte
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := io.ReadFull(h.random, b[:]); err != nil {
		return "", fmt.Errorf("drawing a session id: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// say answers with a sentence, where there is no message to answer or none that could be read.
func say(w http.ResponseWriter, status int, text string) {
	header := w.Header()
	header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	header["X-Content-Type-Options"] = []string{"nosniff"}
	header["Cache-Control"] = []string{"no-store"}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a caller that went away has no answer to miss
}
