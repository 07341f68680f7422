package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"interlock"
)

// requested takes a request of the server's own. It runs beside what else the server does.
func (w *wire) requested(e envelope) {
	if e.method == "ping" {
		w.reply(resultMessage(nil, e.id, []byte("{}")))
		return
	}
	select {
	case w.upwards <- struct{}{}:
	default:
		w.reply(faultMessage(nil, e.id, faultObject(codeBusy, "too many requests of this server are under way", nil)))
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.mu.Lock()
	_, twice := w.upward[string(e.id)]
	if !twice {
		w.upward[string(e.id)] = cancel
	}
	w.mu.Unlock()
	if twice {
		cancel()
		<-w.upwards
		w.reply(faultMessage(nil, e.id, faultObject(codeInvalidRequest, "a request with this id is under way", nil)))
		return
	}
	p, during := w.only()
	w.mount.session.receivers.Go(func() {
		defer func() {
			w.mu.Lock()
			delete(w.upward, string(e.id))
			w.mu.Unlock()
			cancel()
			<-w.upwards
		}()
		a := w.carryUp(ctx, e, p, during)
		switch {
		case a.fault != nil:
			w.reply(faultMessage(nil, e.id, a.fault))
		case a.result != nil:
			w.reply(resultMessage(nil, e.id, a.result))
		}
	})
}

// withdrawn is told that the server no longer wants an answer.
func (w *wire) withdrawn(id []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel := w.upward[string(id)]; cancel != nil {
		cancel()
	}
}

func (w *wire) reply(message []byte) {
	ctx, cancel := context.WithTimeout(w.ctx, sendTimeout)
	defer cancel()
	_ = w.link.Send(ctx, message)
}

// carryUp decides a server's request as an action of that server, and if it is allowed puts it to the client. during is the
// client's request it belongs to, where that is known, and of what is pending of it.
func (w *wire) carryUp(ctx context.Context, e envelope, of *pending, during *request) answer {
	m := w.mount
	s := m.session
	if fault := s.untaken(e, during); fault != nil {
		return answer{fault: fault}
	}
	action, err := serverAction(m.name(), e.method, e.params)
	if err != nil {
		return faultOf(codeInvalidParams, err.Error(), nil)
	}
	m.awaitExamined(ctx)
	p := s.proposal(action, s.gateway.config.View(s.caller.Dir),
		interlock.Upstream{Server: m.name(), Identity: m.server.Identity()})
	p.Requester = serverRequester(m.name(), p.Requester)
	settled := s.decideUpward(ctx, e.method, false, p)
	decision := settled.Answer
	if !settled.Forward || decision.Event == "" {
		return settled.answer()
	}
	begun := time.Now()
	answered, err := w.carryOn(ctx, of, during, e.method, withoutMeta(action.Arguments))
	status, detail := interlock.OutcomeSuccess, ""
	switch {
	case errors.Is(err, errNotShown):
		status, detail = interlock.OutcomeSkipped, err.Error()
	case err != nil:
		status = interlock.OutcomeUnknown
	case answered.fault != nil:
		status = interlock.OutcomeFailure
	}
	s.report(permit{action: action, requester: p.Requester, answer: decision}, status, detail, time.Since(begun))
	if err != nil {
		return faultOf(codeInternal, "the client did not answer", nil)
	}
	return answer{result: answered.result, fault: answered.fault}
}

// awaitExamined waits a little for what the server offers to be examined: some servers ask for roots as their first word, before
// anybody could say whether they are the ones that were approved.
func (m *mount) awaitExamined(ctx context.Context) {
	if m.session.gateway.config.Pins == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	select {
	case <-m.examined:
	case <-ctx.Done(): // then it is decided as one that nothing is known of
	}
}

// withoutMeta is params without what belongs to the server's own connection.
func withoutMeta(params json.RawMessage) json.RawMessage { return without(params, "_meta") }

// without is an object without a member.
func without(object json.RawMessage, left string) json.RawMessage {
	if member(object, left) == nil {
		return object
	}
	out := []byte{'{'}
	members(object, func(name, value []byte) {
		if string(name) == left {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendString(out, string(name)), ':'), value...)
	})
	return append(out, '}')
}

// carryOn puts what a server asks to the client: as a request, or where its revision has none in the result of its own.
func (w *wire) carryOn(ctx context.Context, of *pending, during *request, method string, params []byte) (envelope, error) {
	s := w.mount.session
	switch {
	case s.isStateless():
		return w.askInResult(ctx, of, method, params)
	case during != nil:
		return s.ask(ctx, during.reply, method, params)
	}
	return s.ask(ctx, s.peer, method, params)
}

// untaken says why the client can't be asked something now; nil: it said that it takes such requests.
func (s *Session) untaken(e envelope, during *request) (fault []byte) {
	s.mu.Lock()
	revision, client := s.revision, s.client
	s.mu.Unlock()
	if revision == revisionStateless {
		if during == nil || !asksByResult(during.method) {
			return faultObject(codeInternal,
				"this client is asked only while it waits for one call, read or prompt of this server and no other", nil)
		}
		client = during.client
	}
	if !client.take(e.method, e.params) {
		return faultObject(codeMethodNotFound, "the client does not take such requests", nil)
	}
	return nil
}

// take reports whether a client with these abilities takes such a request.
func (a abilities) take(method string, params []byte) bool {
	switch method {
	case "roots/list":
		return a.roots
	case "sampling/createMessage":
		return a.sampling
	case "elicitation/create":
		if unquoted(member(params, "mode")) == "url" {
			return a.url
		}
		return a.form
	}
	return false
}

// ask puts a request to the client and waits for its answer.
func (s *Session) ask(ctx context.Context, to Peer, method string, params []byte) (envelope, error) {
	ctx, cancel := context.WithTimeout(ctx, s.gateway.config.Limits.Call)
	defer cancel()
	come := make(chan envelope, 1)
	s.mu.Lock()
	s.lastAsked++
	id := s.lastAsked
	s.asked[id] = come
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asked, id)
		s.mu.Unlock()
	}()
	if err := to.Send(ctx, requestMessage(nil, id, method, params)); err != nil {
		return envelope{}, err
	}
	var unread <-chan struct{}
	if late, ok := to.(interface{ Unread() <-chan struct{} }); ok { // it takes messages before its client can read them
		unread = late.Unread()
	}
	select {
	case e := <-come:
		return e, nil
	case <-unread:
		return envelope{}, errClientGone
	case <-ctx.Done():
		if s.ctx.Err() == nil {
			s.tell(to, "notifications/cancelled", append(strconv.AppendInt([]byte(`{"requestId":`), id, 10), '}'))
		}
		return envelope{}, ctx.Err()
	}
}

// answered takes an answer of the client. One that nobody waits for is dropped.
func (s *Session) answered(e envelope) {
	id, err := strconv.ParseInt(string(e.id), 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	come := s.asked[id]
	delete(s.asked, id)
	s.mu.Unlock()
	if come != nil {
		come <- e
	}
}
