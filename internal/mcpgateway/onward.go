package mcpgateway

import (
	"context"
	"time"

	"interlock/internal/rpc"
)

// A call on standard streams is decided and sent on by the goroutine that read it, and answered by the one that reads its
// server's answer: nobody is woken in between. What has to wait (a handshake, a human, the disk) lets another goroutine read
// on first; see standAside.

// goesOn reports whether a request can be left to whoever reads its answer: its front does not wait for it, and its server
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

// forwardOn is forward for a call whose answer needs nothing more done with it here. Where it can be left to whoever reads its
// server's answer, it returns no answer, and the request's is given later.
func (s *Session) forwardOn(ctx context.Context, r *request, m *mount, p permit, q errand) answer {
	w := m.live.Load()
	if !p.holds() || !r.goesOn(w) {
		return s.forward(ctx, r, m, p, q)
	}
	r.onward = true
	begun := time.Now()
	w.begin(ctx, q, func(e rpc.Envelope, err error) { s.arrived(r, m, p, begun, e, err) })
	return answer{}
}

// standAside lets somebody else read the client's messages, because what comes next may wait: for the client itself, perhaps.
func (r *request) standAside() {
	if r.aside != nil {
		r.aside()
		r.aside = nil
	}
}

// begin sends a request; then is called once, with what came of it, by whoever finds that out. Its errors are those of ask.
func (w *wire) begin(ctx context.Context, q errand, then func(rpc.Envelope, error)) {
	p := &pending{of: q.of, token: q.meta.token, then: then}
	id, err := w.register(p)
	if err != nil {
		then(rpc.Envelope{}, errNotSent)
		return
	}
	w.watch(ctx, p)
	if err := w.post(ctx, id, q); err != nil && w.forget(id) != nil {
		p.finish(rpc.Envelope{}, err)
	}
}

// watch ends a request that its client cancels or its server does not answer in time.
func (w *wire) watch(ctx context.Context, p *pending) {
	longest := w.mount.session.gateway.config.Limits.Call
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending[p.id] != p {
		return // it has ended already
	}
	cancelled := context.AfterFunc(ctx, func() {
		if w.abandon(p.id, "the client cancelled the request") {
			p.finish(rpc.Envelope{}, ctx.Err())
		}
	})
	var late *time.Timer
	late = time.AfterFunc(longest, func() {
		if left := p.left(longest); left > 0 {
			w.mu.Lock()
			if w.pending[p.id] == p {
				late.Reset(left)
			}
			w.mu.Unlock()
			return
		}
		if w.abandon(p.id, "it took too long") {
			p.finish(rpc.Envelope{}, errTimeout)
		}
	})
	p.unwatch = func() {
		cancelled()
		late.Stop()
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

// come hands an answer to whoever waits for it. The request is no longer pending.
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
	p.then(e, err)
}

// promptResult is how long a result may be that is looked at by the goroutine that reads from the server, in bytes. Others must
// not hold up what comes behind them.
const promptResult = 64 << 10

// arrived answers a forwarded call with what came of it.
func (s *Session) arrived(r *request, m *mount, p permit, begun time.Time, e rpc.Envelope, err error) {
	end := func() {
		defer s.caught(r)
		kind, err := s.concluded(r.revision, p, e, err, time.Since(begun))
		s.finish(r, s.rendered(r.ctx, r, m, p, kind, e, err))
	}
	if r.revision == RevisionStateless || s.gateway.config.Classifier != nil || len(e.Result) > promptResult || err != nil {
		go end() // it may ask somebody, or take its time
		return
	}
	end()
}

// unread is errUnreadable where an answer holds neither result nor error.
func unread(e rpc.Envelope) error {
	if e.Result == nil && e.Fault == nil {
		return errUnreadable
	}
	return nil
}
