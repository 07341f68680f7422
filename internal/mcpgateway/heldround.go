package mcpgateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/rpc"
)

// heldState is the state by which a request comes back to a held call.
func (r *request) heldState() (state string, held bool) {
	if r.revision != RevisionStateless || !asksByResult(r.method) || !bytes.Contains(r.params, []byte(`"requestState"`)) {
		return "", false
	}
	state = rpc.Unquoted(rpc.Member(r.params, "requestState"))
	return state, strings.HasPrefix(state, heldPrefix)
}

// heldKey says what a request asks for, so that only the same one comes back to a held call. Empty: it can't be read.
func (r *request) heldKey() interlock.Digest {
	name, arguments := rpc.Unquoted(rpc.Member(r.params, "name")), rpc.Member(r.params, "arguments")
	if r.method == "resources/read" {
		name, arguments = rpc.Unquoted(rpc.Member(r.params, "uri")), nil
	}
	if arguments == nil || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	canonical, err := canonicalArguments(arguments)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(r.method+"\x00"+name+"\x00"), canonical...))
	return interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// comeBack serves a request by which a client comes back to a held call. Nothing is decided and nothing is forwarded: that call
// was, once, and goes on. A state counts once, for the session, the agent and the very call it was given for. What is asked
// again is whether the caller may call this at all by now: an agent that was blocked meanwhile answers no server.
func (s *Session) comeBack(ctx context.Context, r *request, text string) answer {
	state, err := s.gateway.sealer.openState(sealHeld, text, s.requester(), s.gateway.config.Now())
	if err != nil {
		return s.refuseState(ctx, err)
	}
	var h *held
	if state.Method == r.method && state.Action == r.heldKey() {
		s.mu.Lock()
		if h = s.parked[state.Request]; h != nil {
			delete(s.parked, state.Request)
			h.late.Stop()
		}
		s.mu.Unlock()
	}
	if h == nil {
		return s.refuseState(ctx, errNotForThis)
	}
	r.shaped, r.held = h.shaped, h
	if !s.mayGoOn(ctx, r, h) {
		h.giveUp()
		cause := interlock.Errorf(interlock.CodeUnauthorized, "", "this is not permitted any more")
		refused := s.gateway.config.Backend.Refuse(ctx, h.permit.requester, door, cause)
		return r.noResult(callNote{Status: statusDenied, Code: string(ReasonPolicy), Reason: cause.Message, Event: refused.Event,
			Text: "Interlock did not let this call go on: " + cause.Message + ". What its server asked is not answered"})
	}
	h.resume(r) // first: its server may tell of the call as soon as it has its answers
	h.deliver(rpc.Member(r.params, "inputResponses"))
	a := s.attend(ctx, r, h)
	if r.method == "resources/read" {
		a = privately(r, a)
	}
	return a
}

// mayGoOn reports whether a caller may still use what a held call uses. It is what the lists ask, and so what the gates say.
func (s *Session) mayGoOn(ctx context.Context, r *request, h *held) bool {
	pins := s.gateway.config.Pins
	if pins == nil {
		return true
	}
	m := h.wire.mount
	target := pinning.Target{Upstream: interlock.Upstream{Server: m.name(), Identity: m.server.Identity()}}
	switch r.method {
	case "tools/call":
		_, tool, _ := strings.Cut(h.permit.action.Tool, ".")
		o := m.offers[kindTools].Load().named(tool)
		if o == nil {
			return false // its server does not offer it any more
		}
		target = seenAs(kindTools, o)
	case "prompts/get":
		target.Name = m.name() + ".prompts/get"
		target.Upstream = h.permit.by
	default:
		target.Upstream = h.permit.by
	}
	shown, err := pins.Visible(ctx, s.requester(), []pinning.Target{target})
	return err == nil && len(shown) == 1 && shown[0]
}

// attend stays with a held call for a request of the client until the call is over or asks for something.
func (s *Session) attend(ctx context.Context, r *request, h *held) answer {
	for {
		select {
		case <-h.over:
			h.release()
			return s.rendered(ctx, r, h.wire.mount, h.permit, h.kind, h.answer, h.err)
		default:
		}
		if ctx.Err() == nil {
			if a, asks := s.park(ctx, r, h); asks {
				return a
			}
		}
		select {
		case <-h.over:
		case <-h.news:
		case <-ctx.Done():
			h.cancel(errClientLeft)
			<-h.over
			h.release()
			return answer{}
		}
	}
}

// park answers a request with what the server asks, if it asks something, and leaves its call until the client comes back.
func (s *Session) park(ctx context.Context, r *request, h *held) (a answer, asks bool) {
	text, until := h.show()
	if text == nil {
		return answer{}, false
	}
	h.handTo(&request{method: r.method, revision: r.revision, client: r.client, reply: Nowhere{}})
	id := rand.Text()
	state, err := s.gateway.sealer.sealState(sealHeld,
		requestState{Agent: s.caller.Agent, Principal: s.caller.Principal, Method: h.method,
			Action: h.key, Request: id, Expires: s.gateway.config.Now().Add(time.Until(until)).Unix() + 1, Nonce: rand.Text()})
	if err != nil {
		h.giveUp()
		return faultOf(rpc.CodeInternal, "what the server asks can't be passed on now", nil), true
	}
	h.mu.Lock()
	h.parked = true
	h.mu.Unlock()
	s.mu.Lock()
	s.parked[id] = h
	h.late = time.AfterFunc(time.Until(until), func() {
		s.mu.Lock()
		waits := s.parked[id] == h
		delete(s.parked, id)
		s.mu.Unlock()
		if waits {
			h.giveUp()
		}
	})
	s.mu.Unlock()
	return answer{result: rpc.Appended(text, string(rpc.AppendString([]byte(`"requestState":`), state)))}, true
}

// show writes what is asked, and says by when the client has to come back; nil: nothing is.
func (h *held) show() (text []byte, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asks) == 0 {
		return nil, until
	}
	text = []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, a := range h.asks {
		if a.until.IsZero() {
			a.until = time.Now().Add(h.session.gateway.config.Limits.Call)
		}
		if i == 0 || a.until.Before(until) {
			until = a.until
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(rpc.AppendString(text, a.name), ':'), a.text...)
	}
	return append(text, '}', '}'), until
}
