package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/meter"
	"interlock/internal/rpc"
)

// A wire is one live link to a server, with what is under way on it. When the link ends, so does the wire; the mount makes
// another one.
type wire struct {
	mount   *mount
	link    Link
	gone    chan struct{}      // closed when the link has ended
	upwards chan struct{}      // holds a value for each request of the server under way
	ctx     context.Context    // ends with the wire
	modern  bool               // it is spoken to under revisionStateless; settled before the wire is live
	end     context.CancelFunc // of ctx

	unanswered atomic.Bool // it has left a request without an answer in its time

	garbage meter.Allowance // of lines in our log about what is no message; of the one goroutine that receives
	chatter meter.Allowance // of log messages to the client; likewise
	heard   heard           // the last of those; likewise

	mu       sync.Mutex
	next     int64
	pending  map[int64]*pending
	upward   map[string]context.CancelFunc // the server's requests under way, by id as it wrote it
	followed map[string]*following         // the resources listened for, by URI, where the wire is modern
	late     *time.Timer                   // runs while requests are watched; see watch
	due      time.Time                     // when it ends
	cause    error                         // why the link ended
}

// A pending is one request of ours that waits for the server's answer.
type pending struct {
	id int64
	// of the client; nil: our own; with token guarded by the wire's lock, because a held call changes hands
	of      *request
	token   json.RawMessage      // by which that client is told of progress
	within  time.Duration        // how long it may take, where that is less than others may; 0: as long as they
	answer  chan rpc.Envelope    // nil where then is set
	then    *onward              // what goes on with the answer, in the goroutine that finds it; see begin
	unwatch func() bool          // ends the watching of a request with then; guarded by the wire's lock
	stop    context.CancelFunc   // ends what it was sent under, where that may outlive the client's request; nil: it may not
	held    atomic.Pointer[held] // the call, once the server has asked the client something
	agreed  chan []byte          // what the server said it will tell; nil but for subscriptions/listen
	touched atomic.Int64         // when the server last showed progress, in nanoseconds
	heard   heard                // what it told of it; of the one goroutine that receives
}

// maxUpward is how many requests of one server are under way at once.
const maxUpward = 32

// errNotSent is the cause of a request that never reached its server, so that nothing can have come of it.
var errNotSent = errors.New("the server is not there")

// errGone is the cause of a request whose server went away before it answered.
var errGone = errors.New("the server went away before it answered")

// errUnreadable is the cause of a request whose answer nobody could read.
var errUnreadable = errors.New("the server's answer could not be read")

// errTimeout is the cause of a request that the server did not answer in time.
var errTimeout = errors.New("the server did not answer in time")

func newWire(m *mount, link Link) *wire {
	ctx, end := context.WithCancel(m.session.ctx)
	return &wire{garbage: meter.Allowance{Most: mostGarbage, Per: time.Minute}, chatter: meter.Allowance{Most: mostChatter,
		Per: time.Second},
		mount: m, link: link, gone: make(chan struct{}), upwards: make(chan struct{}, maxUpward), ctx: ctx, end: end,
		pending: map[int64]*pending{}, upward: map[string]context.CancelFunc{}, followed: map[string]*following{}}
}

// messages lends out room for messages that are sent at once.
var messages = sync.Pool{New: func() any { b := make([]byte, 0, 2<<10); return &b }}

// keptMessage is how large a message may be whose room is kept for the next one, in bytes.
const keptMessage = 64 << 10

func borrow() *[]byte { return messages.Get().(*[]byte) }

func giveBack(b *[]byte, used []byte) {
	if cap(used) <= keptMessage {
		*b = used[:0]
		messages.Put(b)
	}
}

// An errand is one request to a server: its method, and its params but for _meta, without the closing brace ("{" where there
// are none), so that the protocol's own members can be written behind.
type errand struct {
	method string
	params []byte
	of     *request // of the client; nil: our own
	meta   meta     // of the client's request
	within time.Duration
}

// ask sends a request and waits for its answer. An error of errNotSent means that the server has not seen it; with any other
// nobody can say what came of it.
func (w *wire) ask(ctx context.Context, q errand) (rpc.Envelope, error) {
	if w.modern && (q.method == "resources/subscribe" || q.method == "resources/unsubscribe") {
		return w.follow(ctx, q)
	}
	p := &pending{of: q.of, token: q.meta.token, within: q.within, answer: make(chan rpc.Envelope, 1)}
	if !w.modern && q.of.mayBeHeld() {
		return w.askHolding(ctx, q, p)
	}
	return w.put(ctx, ctx, q, p)
}

// put sends a request under one context and waits for its answer under another.
func (w *wire) put(ctx, under context.Context, q errand, p *pending) (rpc.Envelope, error) {
	id, err := w.register(p)
	if err != nil {
		return rpc.Envelope{}, errNotSent
	}
	if err := w.post(under, id, q); err != nil {
		w.forget(id)
		return rpc.Envelope{}, err
	}
	return w.await(ctx, id, p)
}

// post writes a registered request to the server.
func (w *wire) post(ctx context.Context, id int64, q errand) error {
	buffer := borrow()
	text := w.compose((*buffer)[:0], id, q)
	err := w.link.Send(ctx, text)
	giveBack(buffer, text)
	if err == nil {
		return nil
	}
	if refused := (*interlock.Error)(nil); errors.As(err, &refused) { // the link's word that nothing was delivered
		return fmt.Errorf("%w: %s", errNotSent, refused.Message)
	}
	return errGone
}

// compose writes a request as the server gets it.
func (w *wire) compose(to []byte, id int64, q errand) []byte {
	to = strconv.AppendInt(append(to, `{"jsonrpc":"2.0","id":`...), id, 10)
	to = rpc.AppendString(append(to, `,"method":`...), q.method)
	to = append(append(to, `,"params":`...), q.params...)
	if q.meta.token != nil || q.meta.trace != nil || w.modern {
		if to[len(to)-1] != '{' {
			to = append(to, ',')
		}
		to = append(to, `"_meta":{`...)
		if w.modern {
			to = w.introduction(to, q)
			if q.meta.token != nil || q.meta.trace != nil {
				to = append(to, ',')
			}
		}
		if q.meta.token != nil {
			to = strconv.AppendInt(append(to, `"progressToken":`...), id, 10)
			if q.meta.trace != nil {
				to = append(to, ',')
			}
		}
		to = append(append(to, q.meta.trace...), '}')
	}
	return append(to, '}', '}')
}

// await waits for an answer as long as the server shows signs of progress.
func (w *wire) await(ctx context.Context, id int64, p *pending) (rpc.Envelope, error) {
	longest := w.longest(p)
	late := time.NewTimer(longest)
	defer late.Stop()
	for {
		select {
		case e := <-p.answer:
			if e.Method != "" {
				return rpc.Envelope{}, errAsked
			}
			return e, unread(e)
		case <-w.gone:
			if e, came := p.lastBreath(); came {
				return e, unread(e)
			}
			return rpc.Envelope{}, errGone
		case <-ctx.Done():
			w.abandon(id, "the client cancelled the request")
			return rpc.Envelope{}, ctx.Err()
		case <-late.C:
			if p.held.Load().waits() {
				late.Reset(longest)
				continue
			}
			if left := p.left(longest); left > 0 {
				late.Reset(left)
				continue
			}
			w.abandon(id, "it took too long")
			return rpc.Envelope{}, errTimeout
		}
	}
}

func (w *wire) register(p *pending) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending == nil {
		return 0, w.cause
	}
	w.next++
	p.id = w.next
	w.pending[w.next] = p
	return w.next, nil
}

// lastBreath is an answer that came when the server was about to go.
func (p *pending) lastBreath() (e rpc.Envelope, came bool) {
	for {
		select {
		case e := <-p.answer:
			if e.Method == "" {
				return e, true
			}
		default:
			return rpc.Envelope{}, false
		}
	}
}

func (w *wire) forget(id int64) *pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pending[id]
	delete(w.pending, id)
	return p
}

// abandon gives a request up and tells the server so. It reports whether the request was still under way.
func (w *wire) abandon(id int64, why string) bool {
	if w.forget(id) == nil {
		return false
	}
	w.unanswered.Store(true)
	params := strconv.AppendInt([]byte(`{"requestId":`), id, 10)
	params = append(rpc.AppendString(append(params, `,"reason":`...), why), '}')
	w.notify("notifications/cancelled", params)
	return true
}

// notify sends a notification; a server that is gone misses nothing.
func (w *wire) notify(method string, params []byte) {
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
	defer cancel()
	_ = w.link.Send(ctx, rpc.AppendNotification(nil, method, params))
}

// receive reads the server's messages until there are no more.
func (w *wire) receive() {
	for {
		message, err := w.link.Receive()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errGone
			}
			w.die(err)
			return
		}
		w.take(message)
	}
}

// die ends a wire: who waits on it learns that its server is gone.
func (w *wire) die(cause error) {
	w.mu.Lock()
	if w.pending == nil {
		w.mu.Unlock()
		return
	}
	lost := w.pending
	w.pending, w.cause = nil, cause
	if w.late != nil {
		w.late.Stop()
	}
	w.mu.Unlock()
	close(w.gone)
	w.end()
	_ = w.link.Close()
	w.mount.lost(w, cause)
	for _, p := range lost {
		if p.then != nil {
			p.finish(rpc.Envelope{}, errGone)
		}
	}
}

// take deals with one message of the server. What can't be read is dropped: it must not cost others their answers.
func (w *wire) take(message []byte) {
	e, bad := rpc.Decode(message)
	if bad != nil {
		w.unreadable(message, bad)
		return
	}
	switch {
	case e.IsResponse():
		w.answered(e)
	case e.IsRequest():
		w.requested(e)
	default:
		w.mount.noticed(w, e)
	}
}

func (w *wire) answered(e rpc.Envelope) {
	id, err := strconv.ParseInt(string(e.ID), 10, 64)
	if err != nil { // perhaps ours, as a text: it was not, and nobody can say what else is not as it seems
		if id, err = strconv.ParseInt(rpc.Unquoted(e.ID), 10, 64); err != nil {
			return
		}
		e = rpc.Envelope{}
	}
	if e.Result != nil && e.Result[0] != '{' { // no result of the protocol
		e = rpc.Envelope{}
	}
	if p := w.forget(id); p != nil {
		p.come(e)
	}
}

// unreadable drops a message, and answers for it if it was meant as an answer: what it says can't be trusted, but that its
// request is over can.
func (w *wire) unreadable(message []byte, bad *rpc.Malformed) {
	if may, _ := w.garbage.Take(time.Now()); may {
		w.mount.session.gateway.config.Logger.Warn("a server sent what is no message", "server", w.mount.name(), "bytes",
			len(message), "error", bad.Message, "further_left_out", w.garbage.Last())
	}
	answered, meant := rpc.AnswerTo(message)
	if !meant {
		return
	}
	if id, err := strconv.ParseInt(string(answered), 10, 64); err == nil {
		if p := w.forget(id); p != nil {
			p.come(rpc.Envelope{})
		}
	}
}

// progress passes a server's progress on to the client whose request it is about.
func (w *wire) progress(params []byte) {
	id, err := strconv.ParseInt(string(rpc.Member(params, "progressToken")), 10, 64)
	if err != nil {
		return
	}
	var of *request
	var token json.RawMessage
	w.mu.Lock()
	p := w.pending[id]
	if p != nil {
		of, token = p.of, p.token
	}
	w.mu.Unlock()
	if p == nil {
		return
	}
	p.touched.Store(time.Now().UnixNano())
	if of == nil || token == nil {
		return
	}
	var told []byte
	rpc.Members(params, func(name, value []byte) {
		switch string(name) {
		case "progress", "total", "message":
			told = append(append(append(append(told, ',', '"'), name...), '"', ':'), value...)
		}
	})
	if len(told) == 0 {
		told = []byte{','}
	}
	s := w.mount.session
	shown := s.notice(append(append([]byte{'{'}, told[1:]...), '}'), "message", &p.heard)
	if step := rpc.Member(shown, "progress"); shown == nil || len(step) > 0 && step[0] == '"' {
		return // without its number it tells nothing
	}
	text := append(append([]byte(`{"progressToken":`), token...), ',')
	if rpc.Empty(shown) {
		text = text[:len(text)-1]
	}
	s.tell(of.reply, "notifications/progress", append(text, shown[1:]...))
}

// only is the client's request that is under way on this wire, if there is just one: what the server sends now belongs to it.
func (w *wire) only() (one *pending, of *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pending {
		if p.of == nil {
			continue
		}
		if one != nil {
			return nil, nil
		}
		one, of = p, p.of
	}
	return one, of
}

// absent is what a client is told of a server that can't be reached now.
func absent(server string) error {
	return interlock.Errorf(interlock.CodeUnavailable, "", "the server %q is not there now; try again later", server)
}
