package httpapi

import (
	"context"
	"net/http"

	"interlock"
	"interlock/internal/strictjson"
)

// heardBody is what POST /v1/heard takes: what the user of a run said, or what an action of it returned.
type heardBody struct {
	Requester interlock.Requester `json:"requester"`
	Prompt    string              `json:"prompt"`
	Action    *interlock.Action   `json:"action"`
	Result    string              `json:"result"`
}

// heard answers POST /v1/heard. It is for hooks: an agent with a token is not the user, and has nothing to say here.
func (x *exchange) heard() {
	body, err := x.readHeard()
	if err != nil {
		x.fail(err)
		return
	}
	listener := x.server.config.Backend
	ctx, cancel := x.decisionContext()
	defer cancel()
	if body.Action == nil {
		err = listener.HearPrompt(ctx, body.Requester, body.Prompt)
	} else {
		err = listener.HearResult(ctx, interlock.Proposal{Action: *body.Action, Requester: body.Requester,
			View: x.view(body.Action.Dir), Door: x.door.name()}, body.Result)
	}
	if err != nil {
		x.fail(err)
		return
	}
	answer := heardAnswer{Heard: true}
	if by, looks := listener.(screener); looks && body.Action != nil {
		answer.Shown, answer.Message, err = by.ScreenResult(ctx, interlock.Proposal{Action: *body.Action, Requester: body.Requester}, body.Result)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.answerJSON(http.StatusOK, answer)
}

// heardAnswer says that a text was taken note of and, where results are classified and something was taken out, what of the result the
// agent may be shown, and what is said of the rest.
type heardAnswer struct {
	Heard   bool   `json:"heard"`
	Shown   string `json:"shown,omitempty"`
	Message string `json:"message,omitempty"`
}

// A screener is a backend that classifies results.
type screener interface {
	ScreenResult(ctx context.Context, p interlock.Proposal, result string) (shown, message string, err error)
}

func (x *exchange) readHeard() (heardBody, error) {
	var body heardBody
	if x.door == network || x.token {
		return body, interlock.Errorf(interlock.CodeUnauthorized, "",
			"what a run is told is taken from hooks on the local socket only")
	}
	buffer, err := x.read()
	if err != nil {
		return body, err
	}
	defer release(buffer)
	if err := strictjson.Decode(*buffer, &body); err != nil {
		return body, err
	}
	if (body.Prompt == "") == (body.Action == nil) {
		return body, interlock.Errorf(interlock.CodeInvalid, "/prompt", "give either prompt, or action and result")
	}
	if body.Action != nil {
		action, err := wholeAction(*body.Action)
		if err != nil {
			return body, err
		}
		body.Action = &action
	}
	body.Requester, err = x.requester(body.Requester)
	return body, err
}
