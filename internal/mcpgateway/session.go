package mcpgateway

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/rpc"
)

// A Session is one client's session with its own connections to the servers. It is safe for concurrent use.
type Session struct {
	gateway   *Gateway
	caller    Caller
	peer      Peer
	run       string // names this session in the record
	ctx       context.Context
	cancel    context.CancelFunc
	mounts    []*mount
	attempts  atomic.Int64
	working   sync.WaitGroup // requests under way
	keepers   sync.WaitGroup // held calls; they end with the session, whose input may be over before them
	receivers sync.WaitGroup // what reads from servers and looks after them
	slots     chan struct{}  // holds a value for each request under way

	mu        sync.Mutex
	revision  string // of the handshake, or of the first stateless request; empty: none yet
	client    abilities
	started   chan struct{} // closed when the servers had their time to start
	underway  map[flight]context.CancelFunc
	lastAsked int64
	asked     map[int64]chan rpc.Envelope // our requests to the client
	watched   map[string]*mount           // resources the client subscribed to
	level     string                      // of logging, as the client set it
	listeners map[*listener]struct{}
	inputs    inputs
	holds     atomic.Int32             // held calls
	parked    map[string]*held         // those whose client has to come back, by what it comes back with
	shown     [len(offerKinds)]*string // of each list, what the client was last shown; none yet: it has not asked
}

// A flight is one request under way: ids are the client's to choose, and another connection may choose the same.
type flight struct {
	reply Peer
	id    string
}

// Open begins a session. What belongs to no request of the client, such as list-changed notices, goes to peer. The session's
// servers are started when they are first needed. It is refused with an *interlock.Error of CodeLimited if there are too many.
func (g *Gateway) Open(c Caller, peer Peer) (*Session, error) {
	var random [12]byte
	if _, err := io.ReadFull(g.config.Random, random[:]); err != nil {
		return nil, fmt.Errorf("mcpgateway: naming a session: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{gateway: g, caller: c, peer: peer, run: "gw_" + hex.EncodeToString(random[:]), ctx: ctx, cancel: cancel,
		slots: make(chan struct{}, g.config.Limits.Calls), underway: map[flight]context.CancelFunc{},
		asked:   map[int64]chan rpc.Envelope{},
		watched: map[string]*mount{}, listeners: map[*listener]struct{}{}, parked: map[string]*held{}}
	for _, server := range g.config.Servers {
		s.mounts = append(s.mounts, newMount(s, server))
	}
	if err := g.admit(s); err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

// requester is who this session's proposals come from; each attempt at an action has an id of its own.
func (s *Session) requester() interlock.Requester {
	return interlock.Requester{Principal: s.caller.Principal, Agent: s.caller.Agent, Run: s.run}
}

func (s *Session) attempt() interlock.Requester {
	r := s.requester()
	r.Call = s.run + "-" + strconv.FormatInt(s.attempts.Add(1), 10)
	return r
}

// Handle takes one message of the client and returns when it is dealt with. Whatever belongs to it (its answer, its
// progress, a server's requests while it runs) goes to reply; a request gets exactly one answer unless ctx ends, which
// cancels it. It is safe for concurrent use; messages that must be seen in order are handed over one after another.
func (s *Session) Handle(ctx context.Context, message []byte, reply Peer) {
	if r := s.accept(ctx, message, reply); r != nil {
		s.serve(r)
	}
}

// accept reads a message and deals with what needs no waiting; of a request that does it makes one that is registered, so
// that a message that comes after it, such as its cancellation, finds it.
func (s *Session) accept(ctx context.Context, message []byte, reply Peer) *request {
	if len(message) > s.gateway.config.Limits.Message {
		s.send(reply, rpc.AppendFault(nil, nil,
			rpc.FaultObject(rpc.CodeInvalidRequest, "the message is longer than this server reads", nil)))
		return nil
	}
	e, bad := rpc.Decode(message)
	switch {
	case bad != nil:
		s.send(reply, rpc.AppendFault(nil, bad.ID, rpc.FaultObject(bad.Code, bad.Message, nil)))
	case e.IsResponse():
		s.answered(e)
	case e.IsRequest():
		return s.request(ctx, e, reply)
	default:
		s.notified(e)
	}
	return nil
}

// request registers a request, or refuses it.
func (s *Session) request(ctx context.Context, e rpc.Envelope, reply Peer) *request {
	r := &request{id: e.ID, method: e.Method, params: e.Params, meta: metaOf(e.Params), reply: reply,
		begun: s.gateway.config.Now(), finished: new(sync.Once)}
	refuse := func(code int, message string) *request {
		s.send(reply, rpc.AppendFault(nil, e.ID, rpc.FaultObject(code, message, nil)))
		return nil
	}
	if fault := s.introduced(r); fault != nil {
		s.send(reply, rpc.AppendFault(nil, e.ID, fault))
		return nil
	}
	if !s.slot(ctx) {
		return refuse(rpc.CodeBusy, "too many requests of this session are under way; wait for answers")
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	at := flight{reply: reply, id: string(e.ID)}
	_, twice := s.underway[at]
	over := s.ctx.Err() != nil
	if !twice && !over {
		s.underway[at] = r.cancel
		r.alone = len(s.underway) == 1
		s.working.Add(1)
	}
	s.mu.Unlock()
	if twice || over {
		r.cancel()
		<-s.slots
		if over {
			return refuse(rpc.CodeInternal, "the session is over")
		}
		return refuse(rpc.CodeInvalidRequest, "a request with this id is under way; ids are used once")
	}
	return r
}

// slotTime is how long a request waits for room: many that come at once are over in a moment. It is short, because whatever
// comes behind it on the same stream waits too.
const slotTime = 100 * time.Millisecond

// slot takes room for one request, and reports whether there was any.
func (s *Session) slot(ctx context.Context) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	late := time.NewTimer(slotTime)
	defer late.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// serve carries a registered request out and answers it.
func (s *Session) serve(r *request) {
	defer s.caught(r)
	if a := s.dispatch(r.ctx, r); !r.onward {
		s.finish(r, a)
	}
}

// caught answers a request that failed on a defect of ours.
func (s *Session) caught(r *request) {
	if cause := recover(); cause != nil {
		s.gateway.config.Logger.Error("a request failed on a defect", "method", r.method, "panic", fmt.Sprint(cause), "stack",
			string(debug.Stack()))
		s.finish(r, faultOf(rpc.CodeInternal, "the request could not be completed", nil))
	}
}

// finish answers a request, once, and makes room for others.
func (s *Session) finish(r *request, a answer) {
	r.finished.Do(func() {
		defer s.working.Done()
		defer func() {
			r.cancel()
			<-s.slots // not before it is answered: a client that does not read gets no more room
		}()
		s.mu.Lock()
		delete(s.underway, flight{reply: r.reply, id: string(r.id)}) // before it is answered: then the id may come again
		s.mu.Unlock()
		if r.ctx.Err() == nil || a.result != nil || a.fault != nil { // else nobody waits for it
			s.answer(r, a)
		}
	})
}

// An answer is what a request is answered with: a result or an error object. Neither: the request was cancelled.
type answer struct {
	result []byte
	fault  []byte
}

// answer sends an answer in the form of the request's revision.
func (s *Session) answer(r *request, a answer) {
	buffer := borrow()
	text := (*buffer)[:0]
	switch {
	case a.fault != nil:
		text = rpc.AppendFault(text, r.id, a.fault)
	case a.result == nil:
		text = rpc.AppendFault(text, r.id, rpc.FaultObject(rpc.CodeInternal, "the request could not be completed", nil))
	default:
		text = rpc.AppendResult(text, r.id, r.typed(a.result))
	}
	s.send(r.reply, text)
	giveBack(buffer, text)
}

// typed is a result with its type, which stateless clients expect.
func (r *request) typed(result []byte) []byte {
	if r.revision != RevisionStateless || len(result) < 2 || result[0] != '{' || rpc.Member(result, "resultType") != nil {
		return result
	}
	typed := append(make([]byte, 0, len(result)+32), `{"resultType":"complete"`...)
	if !rpc.Empty(result) {
		typed = append(typed, ',')
	}
	return append(typed, result[1:]...)
}

// sendTimeout bounds how long a server that does not read may hold up an answer to it. Clients are bounded by their transport.
const sendTimeout = time.Minute

// closeTime is how long the end of a session waits for what is under way. Who is stuck longer, because its client does not read,
// ends with the process.
const closeTime = 5 * time.Second

// send sends a message; a client that is gone has nothing to miss.
func (s *Session) send(to Peer, message []byte) {
	_ = to.Send(s.ctx, message)
}

// tell sends a notification.
func (s *Session) tell(to Peer, method string, params []byte) {
	s.send(to, rpc.AppendNotification(nil, method, params))
}

// notified deals with a notification of the client.
func (s *Session) notified(e rpc.Envelope) {
	switch e.Method {
	case "notifications/cancelled":
		id := rpc.Member(e.Params, "requestId")
		s.mu.Lock()
		for at, cancel := range s.underway {
			if at.id == string(id) && !s.caller.Shared {
				cancel()
			}
		}
		s.mu.Unlock()
	case "notifications/roots/list_changed":
		for _, m := range s.mounts {
			if w := m.live.Load(); w != nil {
				w.notify(e.Method, nil)
			}
		}
	}
}

// Close cancels what is under way, ends the servers' connections and records what is left to record.
func (s *Session) Close() error {
	s.mu.Lock()
	s.cancel()
	for _, cancel := range s.underway {
		cancel()
	}
	s.mu.Unlock()
	waitFor(&s.working, closeTime)
	waitFor(&s.keepers, closeTime)
	for _, m := range s.mounts {
		if w := m.live.Load(); w != nil {
			w.die(errGone)
		}
	}
	waitFor(&s.receivers, closeTime)
	s.gateway.dismiss(s)
	return nil
}

// waitFor waits until a group is done, or for that long.
func waitFor(group *sync.WaitGroup, longest time.Duration) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	late := time.NewTimer(longest)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

func faultOf(code int, message string, data json.RawMessage) answer {
	return answer{fault: rpc.FaultObject(code, message, data)}
}
