package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/rpc"
)

// decide is the one way from a request of the client to leave to forward it. It proposes the action and, where a human has
// to answer, waits within the client's patience. If the outcome is Forward, its Answer is the Allow to forward under, once;
// if not, its Result or Error is the whole answer to the client, refusals of every kind included. A requestState of ours and
// its inputResponses are dealt with here; what is forwarded is the core's to leave them out of.
func (s *Session) decide(ctx context.Context, r *request, way admission.Way, p interlock.Proposal) Settled {
	if s.gateway.config.Sparing {
		if answer, harmless := s.gateway.config.Backend.Weigh(ctx, way, p); harmless {
			return Settled{Forward: true, Weighed: true, Answer: answer}
		}
	}
	r.standAside()
	asker := s.gateway.config.Asker
	if asker == nil {
		asker = &Asker{}
		answer := s.gateway.config.Backend.ProposeBy(ctx, way, p)
		if answer.Answer.Allowed() {
			return Settled{Forward: true, Answer: answer}
		}
		return asker.refuse(s.question(r, way, p), answer, refused(answer))
	}
	return asker.Decide(ctx, s.question(r, way, p))
}

// decideUpward is decide for a request that a server makes of the client. It is held like the client's own, because the call
// it belongs to waits with it, and has no handle to come back with: a server asks again. method and shaped are of the request
// that is answered if it is refused: the server's own, or the client's in whose result it asks.
func (s *Session) decideUpward(ctx context.Context, method string, shaped bool, way admission.Way,
	p interlock.Proposal) Settled {
	q := Question{Proposal: p, Way: way, Method: method, Shaped: shaped, Client: Abilities{Revision: RevisionSessions}}
	if asker := s.gateway.config.Asker; asker != nil {
		return asker.Decide(ctx, q)
	}
	decision := s.gateway.config.Backend.ProposeBy(ctx, way, p)
	if decision.Answer.Allowed() {
		return Settled{Forward: true, Answer: decision}
	}
	return (&Asker{}).refuse(q, decision, refused(decision))
}

// question reads what a request says beside the action it proposes, and how its client can be reached while it waits.
func (s *Session) question(r *request, way admission.Way, p interlock.Proposal) Question {
	q := Question{Proposal: p, Way: way, Method: r.method, Shaped: r.shaped,
		Client: Abilities{Revision: r.revision, URL: r.client.url, Tasks: r.client.tasks}}
	q.brought(r.params)
	if r.meta.token != nil {
		q.Progress = func(_ context.Context, step int, message string) {
			params := append([]byte(`{"progressToken":`), r.meta.token...)
			// In millionths, so that whatever the server says later is more.
			params = append(strconv.AppendInt(append(params, `,"progress":`...), int64(step), 10), "e-6"...)
			s.tell(r.reply, "notifications/progress", append(rpc.AppendString(append(params, `,"message":`...), message), '}'))
		}
	}
	if r.revision != RevisionStateless {
		q.Notify = func(_ context.Context, method string, params json.RawMessage) { s.tell(r.reply, method, params) }
	}
	if r.revision != RevisionStateless && r.client.url {
		q.Elicit = func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
			e, err := s.ask(ctx, r.reply, "elicitation/create", params)
			if err == nil && e.Fault != nil {
				err = errors.New("the client refused to ask its user")
			}
			return e.Result, err
		}
	}
	return q
}

// brought reads what a client brings back to a question: the state it was given and what its user said.
func (q *Question) brought(params []byte) {
	rpc.Members(params, func(name, value []byte) {
		switch string(name) {
		case "requestState":
			q.State = rpc.Unquoted(value)
		case "inputResponses":
			q.Responses = map[string]json.RawMessage{}
			rpc.Members(value, func(key, response []byte) { q.Responses[string(key)] = response })
		}
	})
}
