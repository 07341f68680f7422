package mcpgateway

import (
	"context"
	"time"

	"interlock/internal/rpc"
)

// A call on standard streams, of a tool or for a resource or a prompt, is decided and sent on by the goroutine that read it, and
// answered by the one that reads its server's answer: nobody is woken in between. What has to wait (a handshake, a human, the
// disk) lets another goroutine read on first; see standAside.

// carries reports whether a request may be carried out by the goroutine that reads: one that is sent on to one server and waits for
// nothing else.
func (r *request) carries() bool { return r.method == "tools/call" || r.readsOnly() }

// readsOnly reports whether a request gets what a server has to read. With its answer it is over.
func (r *request) readsOnly() bool {
	return r.method == "resources/read" || r.method == "prompts/get" || r.method == "completion/complete"
}

// goesOn reports whether a request can be left to the reader of its answer: its front does not wait for it, and its server
// asks its client nothing that would have to be held.
func (r *request) goesOn(w *wire) bool {
	if !r.mayGoOn || w == nil || !w.modern && r.mayBeHeld() {
		return false
	}
	if w.unanswered.Load() { // perhaps it does not read either, and then writing to it waits
		r.standAside()
	}
	return true
}

// An onward is a call that was left to the reader of its server's answer.
type onward struct {
	session *Session
	request *request
	mount   *mount
	permit  permit
	begun   time.Time
}

// forwardOn is forward for a call whose answer needs nothing more done with it here. Where it can be left to the reader of its
// server's answer, it returns no answer, and the request's is given later.
func (s *Session) forwardOn(ctx context.Context, r *request, m *mount, p permit, q errand) answer {
	w := m.live.Load()
	if !p.holds() || !r.goesOn(w) {
		return s.forward(ctx, r, m, p, q)
	}
	r.onward, q.within = true, p.answer.Within
	w.begin(ctx, q, &onward{session: s, request: r, mount: m, permit: p, begun: time.Now()})
	return answer{}
}

// standAside lets somebody else read the client's messages, because what comes next may wait: for the client itself, perhaps.
func (r *request) standAside() {
	if r.aside != nil {
		r.aside()
		r.aside = nil
	}
}

// begin sends a request; then goes on once, with what came of it, in the goroutine that finds it out. The errors are those of
// ask.
func (w *wire) begin(ctx context.Context, q errand, then *onward) {
	p := &pending{of: q.of, token: q.meta.token, within: q.within, then: then}
	id, err := w.register(p)
	if err != nil {
		then.arrived(rpc.Envelope{}, errNotSent)
		return
	}
	w.watch(ctx, p)
	if err := w.post(ctx, id, q); err != nil && w.forget(id) != nil {
		p.finish(rpc.Envelope{}, err)
	}
}

// watch ends a request that its client cancels or its server does not answer in time. One timer does the latter for all of a
// wire: to set one and to stop it again wakes a thread that sleeps, each time.
func (w *wire) watch(ctx context.Context, p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending[p.id] != p {
		return // it has ended already
	}
	p.unwatch = context.AfterFunc(ctx, func() {
		if w.abandon(p.id, "the client cancelled the request") {
			p.finish(rpc.Envelope{}, ctx.Err())
		}
	})
	if w.late == nil || w.shorter(p) {
		w.lookIn(w.longest(p))
	}
}

// lookIn has the requests that are watched looked at after a time, and not before.
func (w *wire) lookIn(wait time.Duration) {
	if w.late != nil {
		w.late.Stop()
	}
	w.late, w.due = time.AfterFunc(wait, w.overdue), time.Now().Add(wait)
}

// shorter reports whether a request has less time than is left until the others are looked at: that of a module has.
func (w *wire) shorter(p *pending) bool {
	return p.within > 0 && time.Now().Add(w.longest(p)).Before(w.due)
}

// longest is how long a server may take for a request, from its last sign of progress.
func (w *wire) longest(p *pending) time.Duration {
	longest := w.mount.session.gateway.config.Limits.Call
	if p.within > 0 {
		return min(longest, p.within)
	}
	return longest
}

// overdue ends the requests that were watched for too long, and comes back when the next may be.
func (w *wire) overdue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = nil
	var next time.Duration
	for _, p := range w.pending {
		if p.then == nil {
			continue
		}
		longest := w.longest(p)
		left := longest - time.Since(p.then.begun)
		if left = max(left, p.left(longest)); left <= 0 {
			go func() { // telling the server may have to wait for it
				if w.abandon(p.id, "it took too long") {
					p.finish(rpc.Envelope{}, errTimeout)
				}
			}()
			continue
		}
		if next == 0 || left < next {
			next = left
		}
	}
	if next > 0 {
		w.lookIn(next)
	}
}

// left is how much longer a server may take that has shown signs of progress.
func (p *pending) left(longest time.Duration) time.Duration {
	touched := p.touched.Load()
	if touched == 0 {
		return 0
	}
	return longest - time.Since(time.Unix(0, touched))
}

// come hands an answer to the one that waits for it. The request is no longer pending.
func (p *pending) come(e rpc.Envelope) {
	if p.then != nil {
		p.finish(e, unread(e))
		return
	}
	p.answer <- e
}

// finish goes on with a request that is no longer pending.
func (p *pending) finish(e rpc.Envelope, err error) {
	if p.unwatch != nil {
		p.unwatch()
	}
	p.then.arrived(e, err)
}

// promptResult is how long a result may be that is looked at by the goroutine that reads from the server, in bytes. Others must
// not hold up what comes behind them.
const promptResult = 64 << 10

// arrived answers a forwarded call with what came of it.
func (o *onward) arrived(e rpc.Envelope, err error) {
	if o.request.revision == RevisionStateless || o.session.gateway.config.Classifier != nil || len(e.Result) > promptResult ||
		err != nil {
		go o.end(e, err) // it may ask somebody, or take its time
		return
	}
	o.end(e, err)
}

func (o *onward) end(e rpc.Envelope, err error) {
	s, r := o.session, o.request
	defer s.caught(r)
	kind, err := s.concluded(r.revision, o.permit, e, err, time.Since(o.begun))
	s.finish(r, s.rendered(r.ctx, r, o.mount, o.permit, kind, e, err))
}

// unread is errUnreadable where an answer holds neither result nor error.
func unread(e rpc.Envelope) error {
	if e.Result == nil && e.Fault == nil {
		return errUnreadable
	}
	return nil
}
