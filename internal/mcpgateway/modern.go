package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"interlock/internal/rpc"
)

// introduction writes what a request of the stateless revision says of its client: that of the request it belongs to, as far as
// the server's requests can make use of it. Our own requests are made by a client that can do nothing. The name is ours in both
// cases, because nothing may be decided by it.
func (w *wire) introduction(to []byte, q errand) []byte {
	to = append(to, `"`+MetaVersion+`":"`+RevisionStateless+`","`+metaClientInfo+`":{"name":"interlock","version":`...)
	to = append(rpc.AppendString(to, w.mount.session.gateway.version()), `},"`+metaCapabilities+`":`...)
	if q.of == nil || q.of.client.raw == nil {
		return append(to, '{', '}')
	}
	to = append(to, takeable(q.of.client.raw)...)
	if logLevels[q.meta.logLevel] {
		to = rpc.AppendString(append(to, `,"`+metaLogLevel+`":`...), q.meta.logLevel)
	}
	return to
}

// discover asks a server whether it speaks the stateless revision, and if so what it can do there. Without an error it is left to
// shake hands on the same wire; with one the wire is of no use.
func (m *mount) discover(ctx context.Context, w *wire) (knows bool, err error) {
	// Some servers answer nothing before the handshake, and that has to have its time too.
	ctx, cancel := context.WithTimeout(ctx, m.session.gateway.config.Limits.Start/2)
	defer cancel()
	w.modern = true
	e, err := w.ask(ctx, errand{method: "server/discover", params: []byte{'{'}})
	if err == nil && e.Fault == nil {
		rpc.Elements(rpc.Member(e.Result, "supportedVersions"),
			func(value []byte) { knows = knows || rpc.Unquoted(value) == RevisionStateless })
	}
	if !knows {
		w.modern = false
		select {
		case <-w.gone: // perhaps of the question
			m.shakes = true
			return false, errGone
		default:
		}
		if errors.Is(err, errNotSent) {
			return false, err
		}
		return false, nil
	}
	f := featuresOf(rpc.Member(e.Result, "capabilities"))
	var wants []string
	for k, changes := range map[string]bool{"toolsListChanged": f.toolsChange, "promptsListChanged": f.promptsChange,
		"resourcesListChanged": f.resourcesChange} {
		if changes {
			wants = append(wants, `"`+k+`":true`)
		}
	}
	slices.Sort(wants)
	// That a stream of notices is open says little of whether they come, so lists are read whenever they are asked for: what a
	// tool says of itself has to be looked at even if its server never says that it has changed.
	f.toolsChange, f.promptsChange, f.resourcesChange = false, false, false
	m.mu.Lock()
	m.features, m.about = f, rpc.Unquoted(rpc.Member(e.Result, "instructions"))
	m.mu.Unlock()
	if len(wants) > 0 {
		m.session.receivers.Go(func() { w.hearChanges(wants) })
	}
	return true, nil
}

// hearChanges listens for notices that a server's lists have changed, for as long as the wire lasts.
func (w *wire) hearChanges(wants []string) {
	w.keepListening(w.ctx, join(wants), true, func(again bool, _ []byte) {
		if again { // what has changed in between nobody has said
			w.mount.refresh(kindTools)
			w.mount.refresh(kindPrompts)
			w.mount.refresh(kindResources, kindTemplates)
		}
	})
}

// keepListening listens until ctx ends or the server refuses, beginning again where it breaks off; the first time too, if it is
// patient. agreed is called each time with what the server says it will tell.
func (w *wire) keepListening(ctx context.Context, wants []byte, patient bool, agreed func(again bool, notifications []byte)) {
	again := false
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		begun := time.Now()
		refused := w.listen(ctx, wants, func(notifications []byte) {
			agreed(again, notifications)
			patient = true
		})
		if refused || !patient {
			return
		}
		if again = true; time.Since(begun) > lastWait {
			wait = firstWait
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func join(parts []string) []byte {
	text := []byte{'{'}
	for i, part := range parts {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, part...)
	}
	return append(text, '}')
}

// listen is one subscriptions/listen, until it ends. agreed is called with what the server says it will tell. A server that
// answers with an error has refused it.
func (w *wire) listen(ctx context.Context, wants []byte, agreed func(notifications []byte)) (refused bool) {
	p := &pending{answer: make(chan rpc.Envelope, 1), agreed: make(chan []byte, 1)}
	id, err := w.register(p)
	if err != nil {
		return false
	}
	if err := w.link.Send(ctx, w.compose(nil, id,
		errand{method: "subscriptions/listen", params: append([]byte(`{"notifications":`), wants...)})); err != nil {
		w.forget(id)
		return false
	}
	for {
		select {
		case notifications := <-p.agreed:
			agreed(notifications)
		case e := <-p.answer:
			return e.Fault != nil
		case <-w.gone:
			return false
		case <-ctx.Done():
			w.abandon(id, "nobody listens any more")
			return false
		}
	}
}

// agreed takes a server's word on what it will tell, which names the request it belongs to.
func (w *wire) agreed(params []byte) {
	id, err := strconv.ParseInt(string(rpc.Member(rpc.Member(params, "_meta"), metaSubscription)), 10, 64)
	if err != nil {
		return
	}
	w.mu.Lock()
	p := w.pending[id]
	w.mu.Unlock()
	if p == nil || p.agreed == nil {
		return
	}
	select {
	case p.agreed <- rpc.Member(params, "notifications"):
	default: // it said so before
	}
}

// follow is resources/subscribe and its opposite for a server that has neither: each resource is listened for by itself.
func (w *wire) follow(ctx context.Context, q errand) (rpc.Envelope, error) {
	done := rpc.Envelope{Result: json.RawMessage(`{}`)}
	uri := rpc.Unquoted(rpc.Member(append(slices.Clone(q.params), '}'), "uri"))
	w.mu.Lock()
	h := w.followed[uri]
	if q.method == "resources/unsubscribe" || h != nil {
		if q.method == "resources/unsubscribe" && h != nil {
			delete(w.followed, uri)
			h.stop()
		}
		w.mu.Unlock()
		return done, nil
	}
	h = &following{ended: make(chan struct{})}
	var own context.Context
	own, h.stop = context.WithCancel(w.ctx)
	w.followed[uri] = h
	w.mu.Unlock()
	heard := make(chan bool, 1)
	w.mount.session.receivers.Go(func() { w.hearOf(own, uri, h, heard) })
	select {
	case agreed := <-heard:
		if agreed {
			return done, nil
		}
	case <-h.ended:
	case <-ctx.Done():
		h.stop()
		return rpc.Envelope{}, ctx.Err()
	}
	h.stop()
	if w.ctx.Err() != nil {
		return rpc.Envelope{}, errGone
	}
	return rpc.Envelope{Fault: rpc.FaultObject(rpc.CodeInternal, "the server does not tell of changes of this resource", nil)}, nil
}

// A following is one resource that is listened for.
type following struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// hearOf listens for changes of one resource. heard is told once whether the server agreed to tell of them.
func (w *wire) hearOf(ctx context.Context, uri string, h *following, heard chan<- bool) {
	defer close(h.ended)
	defer h.stop()
	w.keepListening(ctx, append(rpc.AppendString([]byte(`{"resourceSubscriptions":[`), uri), ']', '}'), false,
		func(again bool, notifications []byte) {
			agreed := false
			rpc.Elements(rpc.Member(notifications, "resourceSubscriptions"),
				func(value []byte) { agreed = agreed || rpc.Unquoted(value) == uri })
			select {
			case heard <- agreed:
			default:
			}
			if again && agreed { // perhaps it has changed in between
				w.mount.session.updated(w.mount, uri, nil)
			}
		})
	w.mu.Lock()
	if w.followed[uri] == h {
		delete(w.followed, uri)
	}
	w.mu.Unlock()
}

// typeInput is the type of a result by which a server asks for input instead of answering.
const typeInput = "input_required"

// resultType reads what a result of the stateless revision is. None is complete; a task was never asked for, so that nobody
// could ask after it.
func resultType(result []byte) (string, error) {
	value := rpc.Member(result, "resultType")
	if value == nil {
		return "", nil
	}
	switch kind := rpc.Unquoted(value); kind {
	case "complete", typeInput:
		return kind, nil
	}
	return "", errUnreadable
}
