package mcpgateway

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"interlock"
	"interlock/internal/rpc"
)

// A held is one forwarded call, read or prompt of a stateless client, from the moment on that its server asks the
// client something by a request of its own. Such a client takes no requests. So its call is answered with what the
// server asks, stays under way here, and goes on when the client comes back with answers; to the server it is one
// call all the time. Each is attended by one request of the client, or parked until one comes, or given up, because
// none came in time.
type held struct {
	session *Session
	wire    *wire
	pending *pending
	tracked bool          // the server was asked for progress
	news    chan struct{} // holds a value if there may be something to show
	over    chan struct{} // closed when the call is over
	once    sync.Once     // of giving its place back

	// Set when the call is handed over, before it is first parked.
	permit permit
	begun  time.Time
	method string
	shaped bool
	key    interlock.Digest // what the client comes back with is for
	cancel context.CancelCauseFunc
	late   *time.Timer // gives the call up; guarded by the session's lock

	mu      sync.Mutex
	asks    []*heldAsk // that are not answered, as they came
	named   int        // how many there have been
	parked  bool
	givenUp bool

	// Set before over is closed.
	kind   string
	answer rpc.Envelope
	err    error
}

// A heldAsk is one question of a server in a held call.
type heldAsk struct {
	name  string            // by which the client answers it
	text  []byte            // as the client is shown it
	until time.Time         // by when it has to be answered; zero: it was not shown yet
	come  chan rpc.Envelope // its answer; closed: there will be none
}

// maxHeld bounds how many calls of one session are held at once.
const maxHeld = 32

var (
	// errAsked is not the end of a request: its server asks something first, and the request goes on as its held.
	errAsked = errors.New("the server asks something first")
	// errNotShown is the cause of a question that no client was shown.
	errNotShown = errors.New("the call it belongs to is over, or too many wait for their client; nobody was asked")
	// errNoAnswer is the cause of a question that was shown and not answered.
	errNoAnswer = errors.New("the client did not answer")
	// errClientLeft and errSessionOver are causes of a held call that is cancelled.
	errClientLeft  = errors.New("the client cancelled the request")
	errSessionOver = errors.New("the session ended before the server answered")
)

// mayBeHeld reports whether a request is one whose server's questions can be put to its client in a result.
func (r *request) mayBeHeld() bool {
	return r != nil && r.revision == RevisionStateless &&
		(r.client.form || r.client.url || r.client.sampling || r.client.roots) && asksByResult(r.method)
}

// askHolding is ask for such a request: what it is sent under does not end with the client's request if it is held.
func (w *wire) askHolding(ctx context.Context, q errand, p *pending) (rpc.Envelope, error) {
	p.answer = make(chan rpc.Envelope, 2) // the answer, and the word that there is a question
	own, stop := context.WithCancel(w.ctx)
	p.stop = stop
	unhook := context.AfterFunc(ctx, stop)
	e, err := w.put(ctx, own, q, p)
	goesOn := unhook()
	h := p.held.Load()
	if errors.Is(err, errAsked) {
		if goesOn {
			q.of.held = h
			return e, err
		}
		w.abandon(p.id, "the client cancelled the request")
		e, err = rpc.Envelope{}, ctx.Err()
	}
	stop()
	if h != nil { // its question came too late
		h.release()
		close(h.over)
	}
	return e, err
}

// askInResult puts what a server asks to the client that waits for a call, and waits for the answer it comes back with.
func (w *wire) askInResult(ctx context.Context, p *pending, method string, params []byte) (rpc.Envelope, error) {
	h := w.holding(p)
	if h == nil {
		return rpc.Envelope{}, errNotShown
	}
	a := h.add(method, params)
	if a == nil {
		return rpc.Envelope{}, errNotShown
	}
	defer h.drop(a)
	select {
	case e, answered := <-a.come:
		if !answered {
			return rpc.Envelope{}, h.unanswered(a)
		}
		return e, nil
	case <-h.over:
		return rpc.Envelope{}, h.unanswered(a)
	case <-ctx.Done():
		return rpc.Envelope{}, ctx.Err()
	}
}

// holding is the held call of what is pending. The first time, the one that waits for its answer is told so. None if it is over,
// or if there are too many.
func (w *wire) holding(p *pending) *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := p.held.Load(); h != nil {
		return h
	}
	s := w.mount.session
	if p.stop == nil || w.pending[p.id] != p {
		return nil
	}
	if s.holds.Add(1) > maxHeld {
		s.holds.Add(-1)
		return nil
	}
	h := &held{session: s, wire: w, pending: p, tracked: p.token != nil, news: make(chan struct{}, 1), over: make(chan struct{})}
	p.held.Store(h)
	p.answer <- rpc.Envelope{Method: "asks"} // there is room: it is said once, and the answer comes once
	return h
}

// hold hands a call that its server asks something in over to a goroutine of its own, and attends it.
func (s *Session) hold(ctx context.Context, r *request, p permit, begun time.Time) answer {
	h := r.held
	h.permit, h.begun, h.method, h.shaped, h.key = p, begun, r.method, r.shaped, r.heldKey()
	var own context.Context
	own, h.cancel = context.WithCancelCause(s.ctx)
	s.keepers.Go(func() { h.keep(own) })
	h.resume(r)
	return s.attend(ctx, r, h)
}

// keep waits for a held call's end and reports it, once.
func (h *held) keep(ctx context.Context) {
	s := h.session
	e, err := h.wire.await(ctx, h.pending.id, h.pending)
	h.pending.stop()
	if ctx.Err() != nil && err != nil {
		if err = context.Cause(ctx); s.ctx.Err() != nil {
			err = errSessionOver
		}
	}
	h.kind, h.err = s.concluded(RevisionStateless, h.permit, e, err, time.Since(h.begun))
	h.answer = e
	h.cancel(nil)
	h.mu.Lock()
	close(h.over)
	alone := h.givenUp
	h.mu.Unlock()
	if alone {
		h.release()
	}
}

// release gives a held call's place to others.
func (h *held) release() { h.once.Do(func() { h.session.holds.Add(-1) }) }

// waits reports whether it is the client that a call waits for, and not its server.
func (h *held) waits() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.parked
}

// add adds a question; nil: nobody will come to be asked.
func (h *held) add(method string, params []byte) *heldAsk {
	if method == "elicitation/create" {
		params = without(params, "elicitationId") // which 2025-11-25 has and this revision has not
	}
	text := append(append(append(rpc.AppendString([]byte(`{"method":`), method), `,"params":`...), params...), '}')
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.givenUp {
		return nil
	}
	h.named++
	a := &heldAsk{name: "question-" + strconv.Itoa(h.named), text: text, come: make(chan rpc.Envelope, 1)}
	h.asks = append(h.asks, a)
	select {
	case h.news <- struct{}{}:
	default: // there is word already
	}
	return a
}

// drop takes a question out that nobody waits for any more.
func (h *held) drop(a *heldAsk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, one := range h.asks {
		if one == a {
			h.asks = append(h.asks[:i], h.asks[i+1:]...)
			return
		}
	}
}

// unanswered says what became of a question that has no answer.
func (h *held) unanswered(a *heldAsk) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.until.IsZero() {
		return errNotShown
	}
	return errNoAnswer
}

// deliver hands a client's answers to the questions it was shown. Whatever else it brings stays here.
func (h *held) deliver(responses []byte) {
	if len(responses) == 0 || responses[0] != '{' {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	rpc.Members(responses, func(name, value []byte) {
		for i, a := range h.asks {
			if a.name == string(name) && !a.until.IsZero() && value[0] == '{' {
				h.asks = append(h.asks[:i:i], h.asks[i+1:]...)
				a.come <- rpc.Envelope{Result: bytes.Clone(value)}
				return
			}
		}
	})
}

// giveUp ends the waiting for a client that did not come back. The server is told so, and has its time to end the call.
func (h *held) giveUp() {
	h.pending.touched.Store(time.Now().UnixNano())
	h.mu.Lock()
	h.parked, h.givenUp = false, true
	for _, a := range h.asks {
		close(a.come)
	}
	h.asks = nil
	h.mu.Unlock()
	select {
	case <-h.over:
		h.release()
	default: // then keep does
	}
}

// resume takes a call on for a request of the client: what its server tells of it goes to that one from here on.
func (h *held) resume(r *request) {
	h.handTo(r)
	h.pending.touched.Store(time.Now().UnixNano()) // the time its client took is not the server's
	h.mu.Lock()
	h.parked = false
	h.mu.Unlock()
}

// handTo makes a request of the client the one that a call belongs to: what the server tells of the call goes to it.
func (h *held) handTo(r *request) {
	h.wire.mu.Lock()
	defer h.wire.mu.Unlock()
	h.pending.of, h.pending.token = r, nil
	if h.tracked {
		h.pending.token = r.meta.token
	}
}
