package mcphttp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/internal/rpc"
)

// sweepSessions is how often idle sessions and those of revoked agents are looked for.
const sweepSessions = 10 * time.Second

// An httpSession is one protocol session, or what an agent's requests without sessions share. It takes the messages that belong
// to no request of the client, for the stream the client may open.
type httpSession struct {
	front *Front
	id    string // empty for a shared one
	who   who
	talk  conversation
	ended context.Context // ends with the session
	stop  context.CancelFunc

	mu       sync.Mutex
	replay   replay
	underway map[string]*httpReply // of the requests with these ids
	opened   bool                  // its own stream, at least once
	unread   chan struct{}         // closed when that was not opened in time

	// Guarded by the front's lock.
	active int
	used   time.Time
	gone   bool
}

// Send takes a message that belongs to no request. If no stream was opened for them, or its client has not come back to it in
// time, it is lost, as the protocol has it. A client opens it a moment after its session has begun, and by then a server may have
// asked it something.
func (s *httpSession) Send(_ context.Context, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := &s.replay.own
	switch {
	case own.live != nil:
	case !s.opened:
		select {
		case <-s.unread:
			return mcpgateway.ErrClientGone
		default:
		}
	case s.front.now().Sub(own.lost) > s.front.limits.KeepFor:
		return mcpgateway.ErrClientGone
	}
	s.sendOnLocked(own, message)
	return nil
}

var _ mcpgateway.LatePeer = (*httpSession)(nil)

// Unread is closed if the client does not open its stream in time: what was sent so far is not answered by anybody.
func (s *httpSession) Unread() <-chan struct{} { return s.unread }

// expectStream gives the client its time to open the session's own stream. A session of requests that stand for themselves has
// none.
func (s *httpSession) expectStream() {
	if s.id == "" {
		close(s.unread)
		return
	}
	time.AfterFunc(s.front.limits.First, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.opened {
			close(s.unread)
		}
	})
}

// take marks an id as under way, or reports that it is: the client could not tell two answers apart. Requests without a session
// are told apart by their connections.
func (s *httpSession) take(id []byte, reply *httpReply) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underway[string(id)] != nil {
		return false
	}
	s.underway[string(id)] = reply
	return true
}

func (s *httpSession) give(id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underway, string(id))
}

func (s *httpSession) release() {
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	s.active--
	s.used = s.front.now()
}

// sessionOf returns the session a message belongs to, in use, or a new one for initialize; nil: the client has its answer.
func (h *Front) sessionOf(w http.ResponseWriter, r *http.Request, e rpc.Envelope, c who) *httpSession {
	ids := r.Header["Mcp-Session-Id"]
	begins := e.IsRequest() && e.Method == "initialize"
	switch {
	case begins && len(ids) == 0:
		s, err := h.begin(c)
		if err != nil {
			h.failOpening(w, e.ID, err)
			return nil
		}
		return s
	case begins:
		fail(w, e.ID, &httpFault{status: http.StatusBadRequest, code: rpc.CodeInvalidRequest,
			message: "a session begins without an Mcp-Session-Id"})
		return nil
	case len(ids) != 1:
		fail(w, e.ID, &httpFault{status: http.StatusBadRequest, code: rpc.CodeInvalidRequest,
			message: "send the Mcp-Session-Id of your session; initialize begins one"})
		return nil
	}
	s := h.find(ids[0], c)
	if s == nil {
		say(w, http.StatusNotFound, "no such session; initialize begins a new one")
	}
	return s
}

// begin opens a session. An agent that has too many loses the one it has not used for longest: clients that forget to end
// theirs must be able to come back.
func (h *Front) begin(c who) (*httpSession, error) {
	if !h.mayBegin(c.agent) {
		return nil, interlock.Errorf(interlock.CodeLimited, "", "this agent begins sessions too fast; keep one, or wait a moment")
	}
	id, err := h.newID()
	if err != nil {
		return nil, err
	}
	if err := h.makeRoom(c); err != nil {
		return nil, err
	}
	s := h.newSession(id, c)
	if s.talk, err = h.open(c.caller("http:"+id[:8], false), s); err != nil {
		s.stop()
		return nil, err
	}
	h.mu.Lock()
	closed := h.closed
	if !closed {
		h.sessions[id] = s
	}
	h.mu.Unlock()
	if closed {
		h.close(s)
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "the gateway is stopping")
	}
	return s, nil
}

// beginAgain is how long an agent that has begun as many sessions as it may waits for another.
const beginAgain = 5 * time.Second

// begun is how many sessions an agent has begun beyond one in that time.
type begun struct {
	count float64
	at    time.Time
}

func (b begun) until(now time.Time) float64 {
	return max(b.count-max(now.Sub(b.at).Seconds(), 0)/beginAgain.Seconds(), 0)
}

// mayBegin counts a session that begins, unless its agent has begun too many: one that begins one after the other has programs
// started and ended without doing anything.
func (h *Front) mayBegin(agent string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	count := h.begun[agent].until(now) + 1
	if count > float64(h.limits.Begins) {
		return false
	}
	h.begun[agent] = begun{count, now}
	return true
}

func (h *Front) newSession(id string, c who) *httpSession {
	s := &httpSession{front: h, id: id, who: c, active: 1, used: h.now(), underway: map[string]*httpReply{},
		unread: make(chan struct{})}
	s.ended, s.stop = context.WithCancel(context.Background())
	s.expectStream()
	return s
}

// makeRoom ends the session of an agent that has had nothing to do for longest, if it has as many as it may.
func (h *Front) makeRoom(c who) error {
	h.mu.Lock()
	count := 0
	var oldest *httpSession
	for _, s := range h.sessions {
		if s.who.agent != c.agent {
			continue
		}
		count++
		if s.active == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	h.mu.Unlock()
	switch {
	case count < h.limits.Sessions:
		return nil
	case oldest == nil:
		return interlock.Errorf(interlock.CodeLimited, "", "this agent has too many sessions; end one with DELETE")
	}
	h.end(oldest)
	return nil
}

// find returns a caller's session, in use. Another's is as unknown as one that never was.
func (h *Front) find(id string, c who) *httpSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil || s.who != c || s.gone {
		return nil
	}
	s.active++
	return s
}

// sharedOf returns what a caller's requests without sessions share, in use; nil: the client has its answer.
func (h *Front) sharedOf(w http.ResponseWriter, e rpc.Envelope, c who) *httpSession {
	h.mu.Lock()
	s := h.shared[c]
	var err error
	switch {
	case h.closed:
		err = interlock.Errorf(interlock.CodeUnavailable, "", "the gateway is stopping")
	case s != nil:
		s.active++
	default:
		s = h.newSession("", c)
		if s.talk, err = h.open(c.caller("http:"+c.agent, true), s); err == nil {
			h.shared[c] = s
		}
	}
	h.mu.Unlock()
	if err != nil {
		h.failOpening(w, e.ID, err)
		return nil
	}
	return s
}

// get opens the stream for what belongs to no request of a session's client, or goes on with one that the client lost.
func (h *Front) get(w http.ResponseWriter, r *http.Request, c who) {
	if version := r.Header.Get("Mcp-Protocol-Version"); version == mcpgateway.RevisionStateless {
		w.Header().Set("Allow", "POST")
		say(w, http.StatusMethodNotAllowed, "in this revision there is no stream of its own; send subscriptions/listen")
		return
	}
	if len(r.Header["Accept"]) == 0 || !accepts(r.Header["Accept"], "text/event-stream") {
		say(w, http.StatusNotAcceptable, "Accept: name text/event-stream")
		return
	}
	number, after, ok := resumption(r.Header)
	if !ok {
		say(w, http.StatusBadRequest, "Last-Event-ID: send that of an event of this session, once")
		return
	}
	s := h.openSession(w, r, c)
	if s == nil {
		return
	}
	defer s.release()
	ctx, cancel := context.WithTimeout(r.Context(), h.limits.Stream)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	of, stream := s.attach(number, after)
	if stream == nil {
		say(w, http.StatusBadRequest, "Last-Event-ID: what followed that event is not kept any more")
		return
	}
	defer s.detach(of, stream)
	if number == 0 && primes(r.Header) {
		s.prime(of)
	}
	beginEvents(w)
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = stream.write(ctx, w, control, h) // a client that is gone comes back or not
}

// openSession returns the session a GET or DELETE names, in use; nil: the client has its answer.
func (h *Front) openSession(w http.ResponseWriter, r *http.Request, c who) *httpSession {
	ids := r.Header["Mcp-Session-Id"]
	if len(ids) != 1 {
		say(w, http.StatusBadRequest, "Mcp-Session-Id: send that of your session")
		return nil
	}
	s := h.find(ids[0], c)
	if s == nil {
		say(w, http.StatusNotFound, "no such session; initialize begins a new one")
	}
	return s
}

// delete ends a session.
func (h *Front) delete(w http.ResponseWriter, r *http.Request, c who) {
	s := h.openSession(w, r, c)
	if s == nil {
		return
	}
	defer s.release()
	h.end(s)
	w.WriteHeader(http.StatusNoContent)
}

// end takes a session out and closes it, once.
func (h *Front) end(s *httpSession) {
	h.mu.Lock()
	gone := s.gone
	s.gone = true
	if s.id != "" {
		delete(h.sessions, s.id)
	} else if h.shared[s.who] == s {
		delete(h.shared, s.who)
	}
	h.mu.Unlock()
	if !gone {
		h.close(s)
	}
}

func (h *Front) close(s *httpSession) {
	s.stop()
	if err := s.talk.Close(); err != nil {
		h.logger.Warn("closing a session", "agent", s.who.agent, "error", err.Error())
	}
}
