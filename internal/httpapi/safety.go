package httpapi

import (
	"context"
	"errors"
	"net/http"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/strictjson"
)

// Reports is what taking in a report of what is wrong needs of admission.
type Reports interface {
	ReportIncident(ctx context.Context, by interlock.Requester, r containment.IncidentReport) (event string, err error)
}

// The body and the answer of /safety/report. What becomes of a report is an operator's to say, elsewhere.
type (
	safetyReportBody struct {
		containment.IncidentReport
		Requester *interlock.Requester `json:"requester"`
	}
	safetyReportAnswer struct {
		Recorded bool   `json:"recorded"`
		Event    string `json:"event_id"`
	}
)

// report records what an agent or a tool of operators reports to be wrong (MACE 12). It permits nothing and changes nothing.
func (x *exchange) report() {
	if x.server.config.Reports == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "no reports are taken in here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	var body safetyReportBody
	by, err := readRun(x, &body, &body.Requester)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	event, err := x.server.config.Reports.ReportIncident(ctx, by, body.IncidentReport)
	if err != nil {
		x.fail(err)
		return
	}
	text, err := strictjson.Marshal(safetyReportAnswer{Recorded: true, Event: event})
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}
