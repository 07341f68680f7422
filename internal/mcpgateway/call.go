package mcpgateway

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// door names this door in the record.
const door = "gateway"

// callTool decides a tools/call and forwards it, once, if the decision is Allow.
func (s *Session) callTool(ctx context.Context, r *request) answer {
	var name string
	var given []byte
	wrong := ""
	rpc.Members(r.params, func(n, value []byte) {
		switch string(n) {
		case "name":
			name = rpc.Unquoted(value)
		case "arguments":
			given = value
		}
	})
	switch {
	case name == "":
		wrong = "params/name is missing; name the tool"
	case given == nil || string(given) == "null":
		given = []byte("{}")
	case given[0] != '{':
		wrong = "params/arguments must be an object"
	}
	if wrong != "" {
		return faultOf(rpc.CodeInvalidParams, wrong, nil)
	}
	server, tool, _ := strings.Cut(name, ".")
	m := s.mount(server)
	if m == nil {
		return faultOf(rpc.CodeInvalidParams, "unknown tool: "+name, nil)
	}
	if !closed(m.tried) {
		r.standAside()
		m.ready(ctx)
	}
	offered := m.offers[kindTools].Load().named(tool)
	if offered == nil {
		if m.live.Load() == nil {
			return notThere(server)
		}
		return faultOf(rpc.CodeInvalidParams, "unknown tool: "+name, nil)
	}
	action, err := toolAction(server, tool, given, s.caller.Dir)
	if forms := s.gateway.config.Forms; err == nil && forms != nil && forms() {
		err = offered.form.check(action.Arguments)
	}
	if err != nil {
		s.gateway.config.Backend.Refuse(ctx, s.requester(), door, err)
		return faultOf(rpc.CodeInvalidParams, "params/arguments: "+err.Error(), nil)
	}
	r.shaped = offered.shaped
	view := s.gateway.config.View(s.caller.Dir)
	view.Annotations = offered.hints
	p, way := s.proposal(action, view, offered.target.Upstream)
	if r.revision == RevisionStateless { // what its client brings may be of another server, or still to be asked
		r.standAside()
	}
	brought, bad := s.brought(ctx, r, m, action)
	if bad.fault != nil {
		return bad
	}
	way.Continues = brought.continues
	settled := s.decide(ctx, r, way, p)
	if !settled.Forward {
		s.inputs.keep(s.inputsKey(r, m, action, rpc.Member(settled.Result, "requestState")), brought.more)
		return settled.answer()
	}
	params := rpc.AppendString(append(make([]byte, 0, len(action.Arguments)+len(tool)+len(brought.more)+64), `{"name":`...), tool)
	params = append(append(append(params, `,"arguments":`...), action.Arguments...), brought.more...)
	return s.forwardOn(ctx, r, m, permit{action: action, requester: p.Requester, answer: settled.Answer, weighed: settled.Weighed},
		errand{method: r.method, params: params, of: r, meta: r.meta})
}

// canonicalArguments is the one form of arguments that is judged and forwarded.
func canonicalArguments(given []byte) ([]byte, error) {
	if strictjson.IsCanonical(given) {
		return bytes.Clone(given), nil
	}
	canonical, err := strictjson.Canonical(given)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(canonical, []byte(`\u0000`)) && canonicalNulls(canonical) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "holds a NUL character")
	}
	return canonical, nil
}

// proposal is what is decided about one attempt, and how the gateway brings it.
func (s *Session) proposal(action interlock.Action, view interlock.View,
	upstream interlock.Upstream) (interlock.Proposal, admission.Way) {
	p := interlock.Proposal{Action: action, Requester: s.attempt(), View: view, Door: door, CanAsk: s.gateway.config.CanAsk}
	way := admission.Way{Unseen: true}
	if s.gateway.config.Pins != nil { // without anybody who examines definitions, none would be approved
		way.Upstream = &upstream
	}
	return p, way
}

func (d Settled) answer() answer {
	switch {
	case d.Result != nil:
		return answer{result: d.Result}
	case d.Error != nil:
		return answer{fault: encode(d.Error)}
	}
	return faultOf(rpc.CodeInternal, "the request could not be decided", nil)
}

// forward sends what was permitted, once, and reports what came of it. A server that goes away, or takes too long, leaves an
// outcome nobody knows: it is told so, and never tried again here.
func (s *Session) forward(ctx context.Context, r *request, m *mount, p permit, q errand) answer {
	if !p.holds() {
		return faultOf(rpc.CodeInternal, "the decision was not recorded", nil)
	}
	r.standAside()
	begun := time.Now()
	q.within = p.answer.Within
	e, err := m.ask(ctx, q)
	if errors.Is(err, errAsked) {
		return s.hold(ctx, r, p, begun)
	}
	kind, err := s.concluded(r.revision, p, e, err, time.Since(begun))
	return s.rendered(ctx, r, m, p, kind, e, err)
}

// concluded reports what came of a forwarded action, and says what kind of answer it has or why it has none.
func (s *Session) concluded(revision string, p permit, e rpc.Envelope, err error, took time.Duration) (kind string, _ error) {
	if err == nil && e.Fault == nil && revision == RevisionStateless {
		kind, err = resultType(e.Result)
	}
	switch {
	case errors.Is(err, errNotSent):
		s.report(p, interlock.OutcomeSkipped, "the server was not there; nothing was sent", took)
	case err != nil:
		s.report(p, interlock.OutcomeUnknown, err.Error(), took)
	default:
		status, detail := outcomeOf(e)
		if kind == typeInput {
			detail = "the server asked for input instead of an answer"
		}
		passed := int64(len(p.action.Arguments) + len(e.Result) + len(e.Fault))
		s.reportMeasured(p, status, s.plainly(detail), took, interlock.Measured{Bytes: &passed, Said: e.Result})
	}
	return kind, err
}

// rendered is what the client is told of an action that has ended.
func (s *Session) rendered(ctx context.Context, r *request, m *mount, p permit, kind string, e rpc.Envelope, err error) answer {
	switch {
	case errors.Is(err, errNotSent):
		return r.failed(notThere(m.name()), "server_unavailable")
	case err != nil && r.ctx.Err() != nil:
		return answer{}
	case err != nil:
		return s.unknown(r, p, err)
	case rpc.Dropped(e):
		return s.unread(r, p)
	case e.Fault != nil:
		return s.faulted(ctx, p, e.Fault)
	case kind == typeInput:
		return s.inputRequired(ctx, r, m, p, e.Result)
	}
	return s.screened(ctx, r, p, e.Result)
}

// tooLarge is why a result is not shown.
const tooLarge = "the server's answer is longer than this gateway passes on"

// outcomeOf says how a forwarded action ended by its answer.
func outcomeOf(e rpc.Envelope) (interlock.OutcomeStatus, string) {
	if rpc.Dropped(e) {
		return interlock.OutcomeUnknown, tooLarge // nobody has read it: it may have been an error
	}
	if e.Fault != nil {
		return interlock.OutcomeFailure, rpc.Unquoted(rpc.Member(e.Fault, "message"))
	}
	if bytes.Contains(e.Result, []byte("isError")) && rpc.IsTrue(rpc.Member(e.Result, "isError")) {
		detail := ""
		rpc.Elements(rpc.Member(e.Result, "content"), func(value []byte) {
			if detail == "" {
				detail = rpc.Unquoted(rpc.Member(value, "text"))
			}
		})
		return interlock.OutcomeFailure, detail
	}
	return interlock.OutcomeSuccess, ""
}

// withheld is the answer where the action was carried out and its result can't be shown.
func (s *Session) withheld(r *request, p permit, code, reason string) answer {
	return r.noResult(callNote{Status: "result_withheld", Code: code, Reason: reason, Event: p.answer.Event,
		Text: "The call was carried out, but " + reason + "."})
}

// unknown is the answer where nobody knows whether the action was carried out.
func (s *Session) unknown(r *request, p permit, cause error) answer {
	return r.noResult(callNote{Status: "unknown_outcome", Code: "unknown_outcome", Reason: cause.Error(), Event: p.answer.Event,
		Text: "The call was begun and nobody knows how it ended: " + cause.Error() + ". Find out what it did before you try it again."})
}

// unread is the answer where the server's was too long to be read at all: whether it was an error nobody knows.
func (s *Session) unread(r *request, p permit) answer {
	return r.noResult(callNote{Status: "unknown_outcome", Code: "result_too_large", Reason: tooLarge, Event: p.answer.Event,
		Text: "The call was begun and nobody knows how it ended: " + tooLarge + ". Find out what it did before you try it again."})
}

// A callNote is what an agent is told of a call that was permitted and has no result to show.
type callNote struct {
	Status string `json:"status"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
	Event  string `json:"event_id,omitempty"`
	Text   string `json:"-"`
}

// noResult renders it as the method's clients expect it: a tool's as a result, which they show to their model.
func (r *request) noResult(t callNote) answer {
	if r.method != "tools/call" {
		return faultOf(rpc.CodeInternal, t.Text, encode(t))
	}
	return answer{result: encode(errorResult(t.Text, encode(t), r.shaped))}
}

// failed is the answer where a server can't be reached.
func (r *request) failed(otherwise answer, code string) answer {
	if r.method != "tools/call" {
		return otherwise
	}
	return r.noResult(callNote{Status: "unavailable", Code: code, Reason: "the server is not there now",
		Text: "The server of this tool is not there now, so nothing was done. Try again later."})
}

func notThere(server string) answer {
	return faultOf(rpc.CodeInternal, absent(server).Error(), nil)
}
