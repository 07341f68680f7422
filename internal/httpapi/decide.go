package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/gate"
	"interlock/internal/strictjson"
)

// decideBody is what POST /v1/decide takes: the friendly form (kind with input, or kind with tool and arguments) or, on
// the local door, a whole proposal.
type decideBody struct {
	Kind      string          `json:"kind"`
	Input     json.RawMessage `json:"input"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Dir       string          `json:"dir"`
	Hint      string          `json:"hint"`
	Run       string          `json:"run"`
	Call      string          `json:"call_id"`
	Uses      []string        `json:"uses"`

	Action    *interlock.Action    `json:"action"`
	Requester *interlock.Requester `json:"requester"`
	View      *interlock.View      `json:"view"`
	Event     string               `json:"event"`
	Door      string               `json:"door"`
	CanAsk    *bool                `json:"can_ask"`
	Handover  interlock.Handover   `json:"handover"`
}

// decide answers POST /v1/decide.
func (x *exchange) decide() {
	proposal, way, err := x.readProposal()
	if err != nil {
		x.refuse(err)
		return
	}
	answer := x.propose(way, proposal)
	x.goesOn(answer.Checkpoint)
	proposal = interlock.Proposal{} // its input is not held by what waits
	x.slowDown(&answer)
	buffer := buffers.Get().(*[]byte)
	*buffer = append(x.appendTrust(appendAnswer((*buffer)[:0], &answer), &answer), '\n')
	x.answer(answerStatus(&answer), typeJSON, *buffer)
	release(buffer)
}

// propose has one action decided. Whatever comes back, allow without a durable event does not leave this door.
func (x *exchange) propose(way admission.Way, p interlock.Proposal) interlock.Answer {
	s := x.server
	ctx, cancel := x.decisionContext()
	defer cancel()
	start := s.config.Now()
	answer := s.config.Backend.ProposeBy(ctx, way, p)
	if answer.Answer.Allowed() && answer.Event == "" {
		answer = interlock.Refusal("not-recorded", "the decision was not recorded")
	}
	if !interlock.Canary(p, answer.Decision) {
		s.metrics.decision(p.Action.Kind, &answer, s.config.Now().Sub(start))
	}
	return answer
}

// slowDown has an agent wait for the answer that it sends too much that is costly to read. One that asks again at once would take more
// of the machine by its refusals than by what is analysed, and other agents would wait for it. It has its slots taken meanwhile.
func (x *exchange) slowDown(answer *interlock.Answer) {
	if answerStatus(answer) != http.StatusTooManyRequests {
		return
	}
	hold := x.server.config.Limits.SlowDown
	x.w.Header()["Retry-After"] = []string{strconv.Itoa(max(1, int(hold/time.Second)))}
	over := time.NewTimer(hold)
	defer over.Stop()
	select {
	case <-over.C:
	case <-x.r.Context().Done():
	case <-x.server.serving.Done():
	}
}

// answerStatus is 200 for every decision, whatever its verdict. An answer that came from no decision has the status of
// what prevented one.
func answerStatus(answer *interlock.Answer) int {
	if answer.Event == "" && !answer.Unsure {
		return http.StatusServiceUnavailable
	}
	if finding := answer.Decisive(); finding != nil && finding.Gate == gate.NameAdmission {
		code := interlock.Code(strings.TrimPrefix(finding.Rule, gate.NameAdmission+"."))
		if status, known := statuses[code]; known {
			return status
		}
	}
	return http.StatusOK
}

// readProposal reads the body in either form.
func (x *exchange) readProposal() (p interlock.Proposal, way admission.Way, err error) {
	buffer, err := x.read()
	if err != nil {
		return p, way, err
	}
	defer release(buffer)
	var body decideBody
	if err := strictjson.Decode(*buffer, &body); err != nil {
		return p, way, err
	}
	if body.Action != nil {
		return x.wholeProposal(&body)
	}
	p, err = x.friendlyProposal(&body)
	return p, x.way(), err
}

// friendlyProposal is the form applications write.
func (x *exchange) friendlyProposal(body *decideBody) (interlock.Proposal, error) {
	for _, only := range []struct {
		field string
		given bool
	}{
		{"/requester", body.Requester != nil}, {"/view", body.View != nil}, {"/event", body.Event != ""},
		{"/door", body.Door != ""}, {"/can_ask", body.CanAsk != nil}, {"/handover", body.Handover != ""},
	} {
		if only.given {
			return interlock.Proposal{}, interlock.Errorf(interlock.CodeInvalid, only.field, "belongs to the form with an action")
		}
	}
	action, err := friendlyAction(body)
	if err != nil {
		return interlock.Proposal{}, err
	}
	if body.Hint != "" {
		action.Hint = body.Hint
	}
	requester, err := x.requester(interlock.Requester{Run: body.Run, Call: body.Call})
	if err != nil {
		return interlock.Proposal{}, err
	}
	return interlock.Proposal{Action: action, Requester: requester, View: x.view(action.Dir),
		Door: x.door.name(), Uses: body.Uses}, nil
}

func friendlyAction(body *decideBody) (interlock.Action, error) {
	if len(body.Dir) > 0 && !filepath.IsAbs(body.Dir) {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/dir", "must be an absolute path")
	}
	if body.Tool == "" && len(body.Arguments) == 0 {
		return admission.ParseAction(body.Kind, body.Input, body.Dir)
	}
	if len(body.Input) > 0 {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/input", "give either input, or tool and arguments")
	}
	kind := interlock.Kind(body.Kind)
	if kind.Valid() && !kind.TakesObject() {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/arguments", "kind %s takes input, a string", kind)
	}
	if kind == interlock.KindHTTP {
		if body.Tool != "" {
			return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/tool",
				"kind http has no tool; arguments has method and url")
		}
		action, err := admission.ParseAction(body.Kind, body.Arguments, body.Dir)
		return action, renamed(err, "/tool", "/arguments")
	}
	input, err := strictjson.Marshal(struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args,omitempty"`
	}{body.Tool, body.Arguments})
	if err != nil {
		return interlock.Action{}, under("/arguments", err)
	}
	action, err := admission.ParseAction(body.Kind, input, body.Dir)
	return action, renamed(err, "/tool", "/arguments")
}

// renamed puts the caller's own member names into an error about the input this door made of them: tool is where the
// tool's name came from, arguments where everything else did.
func renamed(err error, tool, arguments string) error {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return err
	}
	field := refusal.Field
	if rest, ok := strings.CutPrefix(field, "/input/args"); ok {
		field = arguments + rest
	} else if strings.HasPrefix(field, "/input/tool") {
		field = tool
	} else if rest, ok := strings.CutPrefix(field, "/input"); ok {
		field = arguments + rest
	}
	return &interlock.Error{Code: refusal.Code, Field: field, Message: refusal.Message}
}

// wholeProposal is the form Interlock's own doors use over the socket. An agent's view of the world is not evidence, so
// the network door does not take one.
func (x *exchange) wholeProposal(body *decideBody) (proposal interlock.Proposal, way admission.Way, err error) {
	if x.door == network {
		return proposal, way, interlock.Errorf(interlock.CodeUnauthorized, "/action",
			"whole proposals are taken on the local socket only")
	}
	if err := x.peerMay(body); err != nil {
		return proposal, way, err
	}
	for _, only := range []struct {
		field string
		given bool
	}{
		{"/kind", body.Kind != ""}, {"/input", len(body.Input) > 0}, {"/tool", body.Tool != ""},
		{"/arguments", len(body.Arguments) > 0}, {"/dir", body.Dir != ""}, {"/hint", body.Hint != ""},
		{"/run", body.Run != ""}, {"/call_id", body.Call != ""},
	} {
		if only.given {
			return proposal, way,
				interlock.Errorf(interlock.CodeInvalid, only.field, "belongs to the form without an action")
		}
	}
	action, err := wholeAction(*body.Action)
	if err != nil {
		return proposal, way, err
	}
	proposal = interlock.Proposal{Action: action, Event: body.Event, Door: body.Door, CanAsk: body.CanAsk != nil && *body.CanAsk,
		Uses: body.Uses}
	if body.Requester != nil {
		proposal.Requester = *body.Requester
	}
	if proposal.Requester, err = x.requester(proposal.Requester); err != nil {
		return proposal, way, err
	}
	if body.View != nil {
		proposal.View = guarded(*body.View, x.view(""))
	} else {
		proposal.View = x.view(action.Dir)
		way = x.way()
	}
	way.Handover = body.Handover
	if len(proposal.Event) > maxName || len(proposal.Door) > maxName {
		return proposal, way, tooLong("/event", maxName)
	}
	if proposal.Door == "" {
		proposal.Door = x.door.name()
	}
	return proposal, way, nil
}

// way is what this door can do: reading files, and looking at what git knows, is for the local door alone. An agent behind the
// network may be somebody else, who would learn from the answer what is in this user's files.
func (x *exchange) way() admission.Way {
	if x.door != local {
		return admission.Way{}
	}
	return admission.Way{Read: x.server.config.Read, Work: x.server.config.Work}
}

// guarded keeps a caller's view from leaving out what is Interlock's own or production: it can add to both.
func guarded(view, own interlock.View) interlock.View {
	view.Self = union(view.Self, own.Self)
	view.Endpoints = union(view.Endpoints, own.Endpoints)
	view.Production = union(view.Production, own.Production)
	view.Work = nil // it can take an objection back, so only this side's own look counts
	return view
}

func union(claimed, own []string) []string {
	if len(own) == 0 || slices.Equal(claimed, own) { // the hook sends the very same
		return claimed
	}
	all := slices.Clone(own)
	for _, name := range claimed {
		if !slices.Contains(own, name) {
			all = append(all, name)
		}
	}
	return all
}

// wholeAction holds an action against its kind and brings its arguments into the one form that is hashed.
func wholeAction(action interlock.Action) (interlock.Action, error) {
	switch {
	case !action.Kind.Valid():
		return action, interlock.Errorf(interlock.CodeInvalid, "/action/kind", "%.40q is not known; name one of %v",
			string(action.Kind), interlock.Kinds())
	case action.Kind.TakesObject() && action.Input != "":
		return action, interlock.Errorf(interlock.CodeInvalid, "/action/input", "kind %s takes arguments, an object", action.Kind)
	case !action.Kind.TakesObject() && len(action.Arguments) > 0:
		return action, interlock.Errorf(interlock.CodeInvalid, "/action/arguments", "kind %s takes input, a string", action.Kind)
	case !action.Kind.TakesObject():
		return action, nil
	case len(action.Arguments) == 0 || action.Arguments[0] != '{':
		return action, interlock.Errorf(interlock.CodeInvalid, "/action/arguments", "must be an object")
	}
	canonical, err := strictjson.Canonical(action.Arguments)
	if err != nil {
		return action, err
	}
	action.Arguments = canonical
	return action, nil
}
