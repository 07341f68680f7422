package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/rpc"
)

// A mount is one server in one session: its link while there is one, and what it offers.
type mount struct {
	session *Session
	server  Server
	tried   chan struct{} // closed when it was sought for the first time
	dialing chan struct{} // holds a value while somebody connects
	shakes  bool          // to ask what the server speaks has cost the link: shake hands next time; held with dialing

	known    sync.Once
	examined chan struct{} // closed when what the server offers was examined for the first time

	live   atomic.Pointer[wire]
	offers [len(offerKinds)]atomic.Pointer[offers]

	mu       sync.Mutex
	features features
	about    string                      // its instructions
	shown    string                      // they, as the client may see them
	pinned   pinning.Target              // they, as pinned
	taken    map[string]interlock.Digest // resources that are pinned, by URI, and the definition that is
	health   string                      // what is wrong; empty: nothing
	seeking  bool
	stale    [len(offerKinds)]bool
	reading  [len(offerKinds)]bool
}

// features are what a server said it can do.
type features struct {
	tools, toolsChange         bool
	resources, resourcesChange bool
	subscribe                  bool
	prompts, promptsChange     bool
	completions, logging       bool
}

// upstreamVersions are the revisions of the protocol this door speaks to servers, newest first.
var upstreamVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

func newMount(s *Session, server Server) *mount {
	return &mount{session: s, server: server, tried: make(chan struct{}), dialing: make(chan struct{}, 1),
		examined: make(chan struct{})}
}

// ready waits until the server had its time to start.
func (m *mount) ready(ctx context.Context) {
	if closed(m.tried) {
		return
	}
	m.session.mu.Lock()
	started := m.session.started
	m.session.mu.Unlock()
	select {
	case <-m.tried:
	case <-started: // it takes longer than anybody is waited for
	case <-ctx.Done():
	}
}

func (m *mount) name() string { return m.server.Name() }

// connected returns the live wire, or makes one. Only one caller connects at a time; the others wait for what comes of it.
func (m *mount) connected(ctx context.Context) (*wire, error) {
	if w := m.live.Load(); w != nil {
		return w, nil
	}
	select {
	case m.dialing <- struct{}{}:
		defer func() { <-m.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if w := m.live.Load(); w != nil {
		return w, nil
	}
	w, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	return w, m.handshake(ctx, w)
}

// dial makes a wire that has not shaken hands yet.
func (m *mount) dial(ctx context.Context) (*wire, error) {
	if m.session.ctx.Err() != nil {
		return nil, errNotSent
	}
	link, err := m.server.Dial(ctx)
	if err != nil {
		m.unwell(err)
		return nil, absent(m.name())
	}
	w := newWire(m, link)
	m.session.receivers.Go(w.receive)
	return w, nil
}

// handshake introduces the session to the server and reads what it offers. On failure the wire is ended.
func (m *mount) handshake(ctx context.Context, w *wire) error {
	limit := m.session.gateway.config.Limits.Handshake
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := m.introduce(ctx, w)
	if err == nil {
		err = m.readAll(ctx, w)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = interlock.Errorf(interlock.CodeUnavailable, "",
			"the server was started and did not answer the handshake in time, at most %s", limit)
	}
	if err != nil {
		m.unwell(err)
		w.die(err)
		return absent(m.name())
	}
	m.mu.Lock()
	m.health = ""
	m.mu.Unlock()
	m.live.Store(w)
	select {
	case <-w.gone: // perhaps before it was live, so that nobody has noticed
		m.live.CompareAndSwap(w, nil)
		return absent(m.name())
	default:
	}
	return nil
}

// introduce finds out what the server can do: under the revision without a handshake where client and server both speak it,
// else by MCP's initialize.
func (m *mount) introduce(ctx context.Context, w *wire) error {
	if m.session.isStateless() && !m.shakes {
		if knows, err := m.discover(ctx, w); knows || err != nil {
			return err
		}
	}
	m.shakes = false // a server that refuses the handshake is asked again next time
	if err := m.initialize(ctx, w); err != nil {
		return err
	}
	m.shakes = true
	return nil
}

// initialize is the handshake of the revisions until 2025-11-25.
func (m *mount) initialize(ctx context.Context, w *wire) error {
	params := append([]byte(`{"protocolVersion":"`+upstreamVersions[0]+`","capabilities":`), m.session.upstreamCapabilities()...)
	params = rpc.AppendString(append(params, `,"clientInfo":{"name":"interlock","version":`...), m.session.gateway.version())
	e, err := w.ask(ctx, errand{method: "initialize", params: append(params, '}')})
	if err != nil {
		return err
	}
	if e.Fault != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "the server refused the handshake: %.200s",
			m.session.plainly(rpc.Unquoted(rpc.Member(e.Fault, "message"))))
	}
	version := rpc.Unquoted(rpc.Member(e.Result, "protocolVersion"))
	if !slices.Contains(upstreamVersions, version) {
		return interlock.Errorf(interlock.CodeUnavailable, "",
			"the server speaks revision %.40q of the protocol; wanted is one of %v", m.session.plainly(version), upstreamVersions)
	}
	m.mu.Lock()
	m.features = featuresOf(rpc.Member(e.Result, "capabilities"))
	m.about = rpc.Unquoted(rpc.Member(e.Result, "instructions"))
	m.mu.Unlock()
	w.notify("notifications/initialized", nil)
	return nil
}

func featuresOf(capabilities []byte) features {
	var f features
	rpc.Members(capabilities, func(name, value []byte) {
		changes := rpc.IsTrue(rpc.Member(value, "listChanged"))
		switch string(name) {
		case "tools":
			f.tools, f.toolsChange = true, changes
		case "resources":
			f.resources, f.resourcesChange, f.subscribe = true, changes, rpc.IsTrue(rpc.Member(value, "subscribe"))
		case "prompts":
			f.prompts, f.promptsChange = true, changes
		case "completions":
			f.completions = true
		case "logging":
			f.logging = true
		}
	})
	return f
}

func (m *mount) can() features {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.features
}

// unwell remembers what is wrong with a server, for the operator, and says it once. What fails because the session
// ends says nothing about the server.
func (m *mount) unwell(err error) {
	if m.session.ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return
	}
	what, cause := m.session.plainly(err.Error()), m.session.plainly(m.server.Trouble())
	health := what
	if cause != "" {
		health = cause // whatever each attempt ends with: it was not sent, it is left alone
	}
	m.mu.Lock()
	known := m.health == health
	m.health = health
	m.mu.Unlock()
	if known {
		return
	}
	attributes := []any{"server", m.name(), "agent", m.session.caller.Agent, "error", what}
	if cause != "" {
		attributes = append(attributes, "cause", cause)
	}
	m.session.gateway.config.Logger.Warn("a server is not there", attributes...)
}

// slow says of a server that it takes longer than anybody is waited for, unless more is known.
func (m *mount) slow(longest time.Duration) {
	m.mu.Lock()
	known := m.health != ""
	m.mu.Unlock()
	if !known {
		m.unwell(interlock.Errorf(interlock.CodeUnavailable, "",
			"it has not answered the handshake within %s; it is waited for", longest))
	}
}

// lost is told that a wire has ended. A server that was there is sought again until it is, or the session ends.
func (m *mount) lost(w *wire, cause error) {
	if !m.live.CompareAndSwap(w, nil) || m.session.ctx.Err() != nil {
		return
	}
	m.unwell(cause)
	m.search()
}

// search has somebody seek the server, unless somebody does.
func (m *mount) search() {
	m.mu.Lock()
	busy := m.seeking
	m.seeking = true
	m.mu.Unlock()
	if !busy {
		m.session.receivers.Go(m.seek)
	}
}

// The waits between attempts to find a server again.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
)

// seek connects again and tells the client that what the server offers may have changed.
func (m *mount) seek() {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		select {
		case <-m.session.ctx.Done():
			return
		case <-time.After(wait):
		}
		if _, err := m.connected(m.session.ctx); err == nil {
			m.mu.Lock()
			m.seeking = false
			m.mu.Unlock()
			if m.live.Load() == nil { // lost again before that
				m.search()
				return
			}
			m.session.resume(m)
			return
		}
	}
}

// ask sends a request to the server, connecting first if need be.
func (m *mount) ask(ctx context.Context, q errand) (rpc.Envelope, error) {
	w := m.live.Load()
	if w == nil {
		// the client waits no longer, no matter who connects
		brief, cancel := context.WithTimeout(ctx, m.session.gateway.config.Limits.Start)
		defer cancel()
		var err error
		if w, err = m.connected(brief); err != nil {
			return rpc.Envelope{}, errNotSent
		}
	}
	return w.ask(ctx, q)
}

// noticed deals with a notification of the server.
func (m *mount) noticed(w *wire, e rpc.Envelope) {
	s := m.session
	switch e.Method {
	case "notifications/progress":
		w.progress(e.Params)
	case "notifications/cancelled":
		w.withdrawn(rpc.Member(e.Params, "requestId"))
	case "notifications/message":
		s.logged(w, e.Params)
	case "notifications/tools/list_changed":
		m.refresh(kindTools)
	case "notifications/prompts/list_changed":
		m.refresh(kindPrompts)
	case "notifications/resources/list_changed":
		m.refresh(kindResources, kindTemplates)
	case "notifications/resources/updated":
		s.updated(m, rpc.Unquoted(rpc.Member(e.Params, "uri")), e.Params)
	case "notifications/subscriptions/acknowledged":
		w.agreed(e.Params)
	case "notifications/elicitation/complete":
		if !s.isStateless() { // that revision has none, because its elicitations have no ids
			if shown := s.notice(e.Params, "", nil); shown != nil || e.Params == nil {
				s.tell(s.peer, e.Method, shown)
			}
		}
	}
}

// mediated is what can be put to a stateless client. What it really takes it says with each request, after the handshake with the
// server: a server that asks for anything else is answered with an error.
const mediated = `{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}`

// upstreamCapabilities are what this session's client can do for its servers, as far as that is known when they are told.
func (s *Session) upstreamCapabilities() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.revision == RevisionStateless:
		return json.RawMessage(mediated)
	case s.client.raw == nil:
		return json.RawMessage("{}")
	}
	return takeable(s.client.raw)
}

// takeable is what of a client's capabilities a server's requests can make use of.
func takeable(capabilities json.RawMessage) json.RawMessage {
	text := []byte{'{'}
	rpc.Members(capabilities, func(name, value []byte) {
		switch string(name) {
		case "sampling", "roots", "elicitation":
			if len(text) > 1 {
				text = append(text, ',')
			}
			text = append(append(append(append(text, '"'), name...), '"', ':'), value...)
		}
	})
	return append(text, '}')
}
