package mcpgateway

import (
	"context"
	"encoding/json"

	"interlock"
	"interlock/internal/strictjson"
)

// decide is the one way from a request of the client to leave to forward it. It proposes the action and, where a human has
// to answer, waits within the client's patience. If the outcome is Forward, its Answer is the Allow to forward under, once;
// if not, its Result or Error is the whole answer to the client, refusals of every kind included. A requestState of ours and
// its inputResponses are dealt with here; what is forwarded is the core's to leave them out of.
func (s *Session) decide(ctx context.Context, r *request, p interlock.Proposal) Settled {
	asker := s.gateway.config.Asker
	if asker == nil {
		asker = &Asker{}
		answer := s.gateway.config.Backend.Propose(ctx, p)
		if answer.Answer.Allowed() {
			return Settled{Forward: true, Answer: answer}
		}
		return asker.refuse(questionOf(r, p), answer, refused(answer))
	}
	return asker.Decide(ctx, questionOf(r, p))
}

// questionOf reads what a request says beside the action it proposes.
func questionOf(r *request, p interlock.Proposal) Question {
	q := Question{Proposal: p, Method: r.method, Params: r.params,
		Client: Abilities{Revision: r.revision, URL: r.client.url, Tasks: r.client.tasks}}
	var beside struct {
		State     string                     `json:"requestState"`
		Responses map[string]json.RawMessage `json:"inputResponses"`
	}
	if len(r.params) > 0 && strictjson.DecodeLenient(r.params, &beside) == nil {
		q.State, q.Responses = beside.State, beside.Responses
	}
	return q
}
