package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/rpc"
)

// requested takes a request of the server's own. It runs beside what else the server does.
func (w *wire) requested(e rpc.Envelope) {
	if e.Method == "ping" {
		w.reply(rpc.AppendResult(nil, e.ID, []byte("{}")))
		return
	}
	select {
	case w.upwards <- struct{}{}:
	default:
		w.reply(rpc.AppendFault(nil, e.ID, rpc.FaultObject(rpc.CodeBusy, "too many requests of this server are under way", nil)))
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.mu.Lock()
	_, twice := w.upward[string(e.ID)]
	if !twice {
		w.upward[string(e.ID)] = cancel
	}
	w.mu.Unlock()
	if twice {
		cancel()
		<-w.upwards
		w.reply(rpc.AppendFault(nil, e.ID, rpc.FaultObject(rpc.CodeInvalidRequest, "a request with this id is under way", nil)))
		return
	}
	p, during := w.only()
	w.mount.session.receivers.Go(func() {
		defer func() {
			w.mu.Lock()
			delete(w.upward, string(e.ID))
			w.mu.Unlock()
			cancel()
			<-w.upwards
		}()
		a := w.carryUp(ctx, e, p, during)
		switch {
		case a.fault != nil:
			w.reply(rpc.AppendFault(nil, e.ID, a.fault))
		case a.result != nil:
			w.reply(rpc.AppendResult(nil, e.ID, a.result))
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
func (w *wire) carryUp(ctx context.Context, e rpc.Envelope, of *pending, during *request) answer {
	m := w.mount
	s := m.session
	if fault := s.untaken(e, during); fault != nil {
		return answer{fault: fault}
	}
	action, err := serverAction(m.name(), e.Method, e.Params)
	if err != nil {
		return faultOf(rpc.CodeInvalidParams, err.Error(), nil)
	}
	m.awaitExamined(ctx)
	p, way := s.proposal(action, s.gateway.config.View(s.caller.Dir),
		interlock.Upstream{Server: m.name(), Identity: m.server.Identity()})
	p.Requester = serverRequester(m.name(), p.Requester)
	settled := s.decideUpward(ctx, e.Method, false, way, p)
	decision := settled.Answer
	if !settled.Forward || decision.Event == "" {
		return settled.answer()
	}
	leave := permit{action: action, requester: p.Requester, answer: decision}
	params, err := s.mayAsk(ctx, leave, withoutMeta(action.Arguments))
	if err != nil {
		s.report(leave, interlock.OutcomeSkipped, "the client was not asked: "+errSpelled.Message, 0)
		return faultOf(rpc.CodeInternal, "the client was not asked", nil)
	}
	begun := time.Now()
	answered, err := w.carryOn(ctx, of, during, e.Method, params)
	status, detail := interlock.OutcomeSuccess, ""
	switch {
	case errors.Is(err, errNotShown):
		status, detail = interlock.OutcomeSkipped, err.Error()
	case err != nil:
		status = interlock.OutcomeUnknown
	case answered.Fault != nil:
		status = interlock.OutcomeFailure
	}
	s.report(leave, status, detail, time.Since(begun))
	if err != nil {
		return faultOf(rpc.CodeInternal, "the client did not answer", nil)
	}
	return answer{result: answered.Result, fault: answered.Fault}
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
	if rpc.Member(object, left) == nil {
		return object
	}
	out := []byte{'{'}
	rpc.Members(object, func(name, value []byte) {
		if string(name) == left {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rpc.AppendString(out, string(name)), ':'), value...)
	})
	return append(out, '}')
}

// carryOn puts what a server asks to the client: as a request, or where its revision has none in the result of its own.
func (w *wire) carryOn(ctx context.Context, of *pending, during *request, method string, params []byte) (rpc.Envelope, error) {
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
func (s *Session) untaken(e rpc.Envelope, during *request) (fault []byte) {
	s.mu.Lock()
	revision, client := s.revision, s.client
	s.mu.Unlock()
	if revision == RevisionStateless {
		if during == nil || !asksByResult(during.method) {
			return rpc.FaultObject(rpc.CodeInternal,
				"this client is asked only while it waits for one call, read or prompt of this server and no other", nil)
		}
		client = during.client
	}
	if !client.take(e.Method, e.Params) {
		return rpc.FaultObject(rpc.CodeMethodNotFound, "the client does not take such requests", nil)
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
		if rpc.Unquoted(rpc.Member(params, "mode")) == "url" {
			return a.url
		}
		return a.form
	}
	return false
}

// ask puts a request to the client and waits for its answer.
func (s *Session) ask(ctx context.Context, to Peer, method string, params []byte) (rpc.Envelope, error) {
	ctx, cancel := context.WithTimeout(ctx, s.gateway.config.Limits.Call)
	defer cancel()
	come := make(chan rpc.Envelope, 1)
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
	if err := to.Send(ctx, rpc.AppendRequest(nil, id, method, params)); err != nil {
		return rpc.Envelope{}, err
	}
	var unread <-chan struct{}
	if late, ok := to.(LatePeer); ok {
		unread = late.Unread()
	}
	select {
	case e := <-come:
		return e, nil
	case <-unread:
		return rpc.Envelope{}, ErrClientGone
	case <-ctx.Done():
		if s.ctx.Err() == nil {
			s.tell(to, "notifications/cancelled", append(strconv.AppendInt([]byte(`{"requestId":`), id, 10), '}'))
		}
		return rpc.Envelope{}, ctx.Err()
	}
}

// answered takes an answer of the client. One that nobody waits for is dropped.
func (s *Session) answered(e rpc.Envelope) {
	id, err := strconv.ParseInt(string(e.ID), 10, 64)
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
