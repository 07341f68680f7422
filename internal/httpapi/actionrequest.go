package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Actions is what asking for an act of governance needs of admission. Agents ask; they neither vote nor carry out.
type Actions interface {
	AskAction(ctx context.Context, by interlock.Requester, kind, why string,
		terms governance.RequestTerms) (interlock.ActionRequest, ledger.Receipt, error)
}

type actionBody struct {
	Type          string `json:"type"`
	Justification string `json:"justification"`
	governance.RequestTerms
	Requester *interlock.Requester `json:"requester"`
}

// An actionAnswer is what an agent learns of its request: not who may vote, nor who does.
type actionAnswer struct {
	ID       string                 `json:"request_id"`
	Status   interlock.ActionStatus `json:"status"`
	Class    int                    `json:"class"`
	Approval string                 `json:"required_approval_type"`
	Digest   interlock.Digest       `json:"action_digest"`
	Closes   time.Time              `json:"vote_deadline"`
	Event    string                 `json:"event_id"`
}

// actionRequest makes a request of an agent's.
func (x *exchange) actionRequest() {
	actions := x.server.config.Actions
	if actions == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "no requests are taken here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	var body actionBody
	by, err := readRun(x, &body, &body.Requester)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if err != nil {
		x.fail(err)
		return
	}
	r, receipt, err := actions.AskAction(ctx, by, body.Type, body.Justification, body.RequestTerms)
	if err != nil {
		x.fail(err)
		return
	}
	text, err := strictjson.Marshal(actionAnswer{r.ID, r.Status, r.Class, r.Ballot.Approval, r.Digest, r.Ballot.Closes, receipt.Events[0]})
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}
