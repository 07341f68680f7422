package mcpgateway

import (
	"context"
	"crypto/sha256"
	"sync"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// maxInputs bounds how many results that ask for input a session remembers, maxInputName the names in them and
// maxKept what of one retry is kept, in bytes.
const (
	maxInputs    = 1024
	maxInputName = 256
	maxKept      = 64 << 10
)

// inputs are what servers of the stateless revision have asked for in this session, so that only what was asked for, and allowed,
// goes back to them: what a client sends beside its arguments was not judged. What is forgotten costs another round of questions.
type inputs struct {
	mu    sync.Mutex
	asked map[inputsKey]*asked
	order []inputsKey // oldest first
}

// An inputsKey is one request to one server with one requestState.
type inputsKey [sha256.Size]byte

// An asked is what may come back under a key: answers to a server's questions, or, under a state of ours, what a client had
// brought for the server when a human had to be asked first.
type asked struct {
	names    map[string]bool
	kept     []byte
	approval string // that was spent on the call, whose retry it counts for once
}

// A retry is what a request brings back.
type retry struct {
	more      []byte // for the server, as members behind the judged ones
	continues string // the approval spent on the call that this goes on with
}

// inputsKey is the key of a request as it was judged, with a requestState as JSON; nil: none.
func (s *Session) inputsKey(r *request, m *mount, action interlock.Action, state []byte) inputsKey {
	digest, err := strictjson.ActionDigest(action)
	if err != nil {
		return inputsKey{} // unreachable: its arguments are canonical; nothing is remembered under it
	}
	text := m.name() + "\x00" + r.method + "\x00" + string(digest) + "\x00"
	if state != nil {
		text += "=" + rpc.Unquoted(state)
	}
	return sha256.Sum256([]byte(text))
}

func (i *inputs) find(k inputsKey) *asked {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[k]
}

func (i *inputs) put(k inputsKey, a *asked) {
	if k == (inputsKey{}) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.asked == nil {
		i.asked = map[inputsKey]*asked{}
	}
	if i.asked[k] == nil {
		if len(i.order) >= maxInputs {
			delete(i.asked, i.order[0])
			i.order = i.order[1:]
		}
		i.order = append(i.order, k)
	}
	i.asked[k] = a
}

// claim takes the approval that goes on with a retry. The next retry with the same state has none.
func (i *inputs) claim(a *asked) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	approval := a.approval
	a.approval = ""
	return approval
}

// keep remembers what a client brought for a server under the state that it is to come back with, which is ours.
func (i *inputs) keep(k inputsKey, brought []byte) {
	if len(brought) > 0 && len(brought) <= maxKept {
		i.put(k, &asked{kept: brought})
	}
}

// brought is what a client brings back for the server its request goes to, as members behind the judged ones: the server's own
// state as it was, and answers to what the server asked and was allowed to ask. Anything else stays here. A state
// that this server did not give for this very request is refused.
func (s *Session) brought(ctx context.Context, r *request, m *mount, action interlock.Action) (b retry, bad answer) {
	if r.revision != RevisionStateless || !asksByResult(r.method) {
		return b, answer{}
	}
	state, responses := rpc.Member(r.params, "requestState"), rpc.Member(r.params, "inputResponses")
	if state == nil && responses == nil {
		return b, answer{}
	}
	if state != nil && state[0] != '"' {
		return b, faultOf(rpc.CodeInvalidParams, "params/requestState must be a string", nil)
	}
	known := s.inputs.find(s.inputsKey(r, m, action, state))
	switch {
	case OwnState(rpc.Unquoted(state)): // the question in it is the asker's
		if known != nil {
			b.more = known.kept
		}
		return b, answer{}
	case known == nil && state != nil:
		return b, s.refuseState(ctx, errNotForThis)
	case known == nil:
		return b, answer{}
	}
	var more []byte
	rpc.Members(responses, func(name, value []byte) {
		if !known.names[string(name)] {
			return
		}
		if more == nil {
			more = append(more, `,"inputResponses":{`...)
		} else {
			more = append(more, ',')
		}
		more = append(append(rpc.AppendString(more, string(name)), ':'), value...)
	})
	if more != nil {
		more = append(more, '}')
	}
	if state != nil {
		more = rpc.AppendString(append(more, `,"requestState":`...), rpc.Unquoted(state))
	}
	if more != nil { // with neither a state nor an answer it is a call like any other
		b = retry{more: more, continues: s.inputs.claim(known)}
	}
	return b, answer{}
}

// errNotForThis is said of a state that belongs to nothing this call could go on with.
var errNotForThis = interlock.Errorf(interlock.CodeInvalid, "requestState",
	"was not given out for this call; send it again without it")

// refuseState refuses a request for the state it brings, and records that.
func (s *Session) refuseState(ctx context.Context, cause error) answer {
	refused := s.gateway.config.Backend.Refuse(ctx, s.requester(), door, cause)
	return faultOf(rpc.CodeInvalidParams, "params/"+cause.Error(),
		encode(Refused{Status: statusDenied, Code: ReasonState, Reason: cause.Error(), Event: refused.Event}))
}

// inputRequired passes on a result by which a server asks for input. Each of its requests is decided as an action of that server,
// as those are that a server sends by itself; if one is refused the client is told that instead, and shown none of them.
func (s *Session) inputRequired(ctx context.Context, r *request, m *mount, p permit, result []byte) answer {
	state, requests := rpc.Member(result, "requestState"), rpc.Member(result, "inputRequests")
	switch {
	case !asksByResult(r.method), r.client.raw == nil,
		state == nil && requests == nil, state != nil && (state[0] != '"' || OwnState(rpc.Unquoted(state))), requests != nil &&
			requests[0] != '{':
		return s.unknown(r, p, errUnreadable)
	}
	known := &asked{names: map[string]bool{}, approval: p.answer.Approval}
	var shown []permit
	text := []byte(`{"resultType":"input_required"`)
	var no answer
	rpc.Members(requests, func(name, value []byte) {
		if no.result != nil || no.fault != nil {
			return
		}
		if len(known.names) >= maxUpward || len(name) > maxInputName {
			no = s.unknown(r, p, errUnreadable)
			return
		}
		if len(known.names) == 0 {
			text = append(text, `,"inputRequests":{`...)
		} else {
			text = append(text, ',')
		}
		known.names[string(name)] = true
		var leave permit
		text = append(rpc.AppendString(text, string(name)), ':')
		if text, leave, no = s.inputRequest(ctx, r, m, p, text, value); leave.answer.Event != "" {
			shown = append(shown, leave)
		}
	})
	if no.result != nil || no.fault != nil {
		for _, leave := range shown {
			s.report(leave, interlock.OutcomeSkipped, "another request beside it was refused", 0)
		}
		return no
	}
	if len(known.names) > 0 {
		text = append(text, '}')
	} else if requests != nil {
		text = append(text, `,"inputRequests":{}`...)
	}
	if state != nil {
		text = append(append(text, `,"requestState":`...), state...)
	}
	out := s.screened(ctx, r, p, append(text, '}'))
	for _, leave := range shown {
		s.report(leave, interlock.OutcomeSuccess, "handed to the client with the result of its call", 0)
	}
	s.inputs.put(s.inputsKey(r, m, p.action, state), known)
	return out
}

// inputRequest decides one request in a server's result and writes it as the client is shown it, which is as it was judged.
func (s *Session) inputRequest(ctx context.Context, r *request, m *mount, during permit, to,
	value []byte) (text []byte, leave permit, no answer) {
	method, params := rpc.Unquoted(rpc.Member(value, "method")), rpc.Member(value, "params")
	if params != nil && string(params) == "null" {
		params = nil
	}
	refuse := func(reason string) ([]byte, permit, answer) {
		refused := (&Asker{}).refuse(Question{Method: r.method, Shaped: r.shaped, Client: Abilities{Revision: r.revision}},
			interlock.Answer{},
			Refused{Status: statusDenied, Code: ReasonInvalid, Reason: "the server asks for input in a way it may not: " + reason,
				Event: during.answer.Event})
		return to, permit{}, refused.answer()
	}
	if !r.client.take(method, params) {
		return refuse("the client does not take such requests")
	}
	action, err := serverAction(m.name(), method, params)
	if err != nil {
		return refuse(err.Error())
	}
	proposal, way := s.proposal(action, s.gateway.config.View(s.caller.Dir),
		interlock.Upstream{Server: m.name(), Identity: m.server.Identity()})
	proposal.Requester = serverRequester(m.name(), proposal.Requester)
	settled := s.decideUpward(ctx, r.method, r.shaped, way, proposal)
	if !settled.Forward || settled.Answer.Event == "" {
		return to, permit{}, settled.answer()
	}
	to = rpc.AppendString(append(to, `{"method":`...), method)
	to = append(append(append(to, `,"params":`...), withoutMeta(action.Arguments)...), '}')
	return to, permit{action: action, requester: proposal.Requester, answer: settled.Answer}, answer{}
}
