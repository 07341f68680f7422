package httpapi

import (
	"net/http"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
)

// outcomeBody is what POST /v1/outcome takes: the decision by event id or action digest, or the call by its id.
type outcomeBody struct {
	Event     string                  `json:"event_id"`
	Action    interlock.Digest        `json:"action_digest"`
	Run       string                  `json:"run"`
	Call      string                  `json:"call_id"`
	Status    interlock.OutcomeStatus `json:"outcome"`
	Detail    string                  `json:"detail"`
	Duration  int64                   `json:"duration_ns"`
	Requester *interlock.Requester    `json:"requester"`
	Anywhere  interlock.Digest        `json:"anywhere_digest"`
	Sandboxed bool                    `json:"sandboxed"`
	Uses      []string                `json:"uses"`
}

// outcome answers POST /v1/outcome.
func (x *exchange) outcome() {
	requester, outcome, err := x.readOutcome()
	if err != nil {
		x.refuse(err)
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	if err := x.server.config.Backend.Report(ctx, requester, outcome); err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, []byte(`{"recorded":true}`+"\n"))
}

func (x *exchange) readOutcome() (interlock.Requester, interlock.Outcome, error) {
	buffer, err := x.read()
	if err != nil {
		return interlock.Requester{}, interlock.Outcome{}, err
	}
	defer release(buffer)
	var body outcomeBody
	if err := strictjson.Decode(*buffer, &body); err != nil {
		return interlock.Requester{}, interlock.Outcome{}, err
	}
	claimed := interlock.Requester{Run: body.Run, Call: body.Call}
	if body.Requester != nil {
		if x.door == network {
			return claimed, interlock.Outcome{},
				interlock.Errorf(interlock.CodeUnauthorized, "/requester", "is taken on the local socket only")
		}
		if body.Run != "" || body.Call != "" {
			return claimed, interlock.Outcome{},
				interlock.Errorf(interlock.CodeInvalid, "/requester", "give either requester, or run and call_id")
		}
		claimed = *body.Requester
	}
	if body.Sandboxed && x.door != local {
		return claimed, interlock.Outcome{},
			interlock.Errorf(interlock.CodeUnauthorized, "/sandboxed", "is taken on the local socket only")
	}
	switch body.Status {
	case interlock.OutcomeSuccess, interlock.OutcomeFailure, interlock.OutcomeSkipped, interlock.OutcomeUnknown:
	case "":
		return claimed, interlock.Outcome{},
			interlock.Errorf(interlock.CodeInvalid, "/outcome", "is missing; name success, failure, skipped or unknown")
	default:
		return claimed, interlock.Outcome{},
			interlock.Errorf(interlock.CodeInvalid, "/outcome", "is not known; name success, failure, skipped or unknown")
	}
	if len(body.Event) > maxName || len(body.Action) > maxName || len(body.Anywhere) > maxName {
		return claimed, interlock.Outcome{}, tooLong("/event_id", maxName)
	}
	if body.Event != "" && !auditlog.IsEventID(body.Event) {
		return claimed, interlock.Outcome{}, interlock.Errorf(interlock.CodeInvalid, "/event_id",
			"is no id of an event, which is 64 digits of 0-9 and a-f; send the event_id of the decision's answer as it is")
	}
	if body.Duration < 0 {
		return claimed, interlock.Outcome{}, interlock.Errorf(interlock.CodeInvalid, "/duration_ns", "is negative")
	}
	requester, err := x.requester(claimed)
	if err != nil {
		return claimed, interlock.Outcome{}, err
	}
	if body.Event == "" && body.Action == "" && requester.Call == "" {
		return claimed, interlock.Outcome{},
			interlock.Errorf(interlock.CodeInvalid, "/event_id", "name the decision: event_id, action_digest or call_id")
	}
	return requester, interlock.Outcome{Action: body.Action, Event: body.Event, Status: body.Status, Detail: body.Detail,
		Duration: time.Duration(body.Duration), Anywhere: body.Anywhere, Sandboxed: body.Sandboxed,
		Uses: body.Uses}, nil
}
