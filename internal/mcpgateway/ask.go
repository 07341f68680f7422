package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
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

// canElicit reports whether the client of a question can be asked by a request of ours: in revisions with sessions, where it
// opens addresses for its user and we know one.
func (a *Asker) canElicit(q Question) bool {
	return q.Elicit != nil && q.Client.URL && q.Client.Revision < RevisionStateless && a.config.Console != ""
}

// elicit has the client's user asked to open the request's page, for as long as a call is held, and returns what they said to
// that. It ends early, with nothing said, if the request is answered meanwhile: the page was open somewhere else.
func (a *Asker) elicit(ctx context.Context, q Question, request string) string {
	asked, err := a.config.Approvals.Asked(ctx, q.Proposal.Requester, request)
	if err != nil {
		return ""
	}
	params := elicitationOf(a.pending(asked))
	params.ID = request
	ctx, cancel := context.WithTimeout(ctx, a.patience(q))
	defer cancel()
	changed, stop := a.watch.follow(request)
	defer stop()
	responses := make(chan json.RawMessage, 1)
	go func() {
		response, err := q.Elicit(ctx, encode(params))
		if err != nil {
			response = nil
		}
		responses <- response
	}()
	select {
	case response := <-responses:
		return said(response)
	case <-changed:
		return answeredMeanwhile
	case <-ctx.Done():
		return ""
	case <-a.watch.closed:
		return ""
	}
}

// answeredMeanwhile is what elicit returns if an operator was faster than the client's user.
const answeredMeanwhile = "answered"

// afterElicit says whether a question is held on after its client's user was asked, and until when.
func (a *Asker) afterElicit(q Question, said string) (until time.Time, on bool) {
	switch said {
	case "accept", answeredMeanwhile:
		return time.Now().Add(a.patience(q)), true
	}
	return time.Time{}, false
}

// elicited tells the client that what it asked its user to do is done (MCP 2025-11-25).
func elicited(ctx context.Context, q Question, request string) {
	if q.Notify != nil {
		q.Notify(ctx, "notifications/elicitation/complete", encode(struct {
			ID string `json:"elicitationId"`
		}{request}))
	}
}

// asksByResult reports whether the result of a method may be that input is required (MCP 2026-07-28).
func asksByResult(method string) bool {
	return method == "tools/call" || method == "resources/read" || method == "prompts/get"
}

// inputKey names our one question among a result's inputRequests. An upstream server's questions never share a result with
// ours, because nothing has been forwarded yet.
func inputKey(request string) string { return "interlock:" + request }

// An elicitation asks the client's user to open an address. That they agree to open it says nothing about the answer they
// give there, and the address alone opens nothing: the page wants an operator to sign in.
type elicitation struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	URL     string `json:"url"`
	ID      string `json:"elicitationId,omitempty"` // MCP 2025-11-25 only
}

func elicitationOf(r Refused) elicitation {
	general := interlock.GeneralReason(r.Reason) // the page tells those who sign in what it is about
	return elicitation{Mode: "url", URL: r.URL,
		Message: "A human has to approve this call: " + general + ". Request " + r.Request + " waits on the page."}
}

// An inputRequest is a question in a result or a task.
type inputRequest struct {
	Method string      `json:"method"`
	Params elicitation `json:"params"`
}

// inputRequired is the result that has a client of MCP 2026-07-28 ask its user and come back.
func inputRequired(r Refused, state string) json.RawMessage {
	return encode(struct {
		Type   string                  `json:"resultType"`
		Inputs map[string]inputRequest `json:"inputRequests"`
		State  string                  `json:"requestState"`
	}{"input_required", map[string]inputRequest{inputKey(r.Request): {"elicitation/create", elicitationOf(r)}}, state})
}

// said is what a client's user said to an elicitation: accept, decline or cancel; empty for anything else, which counts as
// nothing said.
func said(response json.RawMessage) string {
	var answer struct {
		Action string `json:"action"`
	}
	if len(response) == 0 || strictjson.DecodeLenient(response, &answer) != nil {
		return ""
	}
	switch answer.Action {
	case "accept", "decline", "cancel":
		return answer.Action
	}
	return ""
}
