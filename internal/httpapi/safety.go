package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
)

// Reports is what taking in a report of what is wrong needs of admission.
type Reports interface {
	ReportIncident(ctx context.Context, by interlock.Requester, r containment.IncidentReport) (event string, err error)
}

// Texts is what classifying texts needs of admission.
type Texts interface {
	// ClassifyText says what may become of a text, and records what it leaves out before it answers; the event is empty where it
	// leaves out nothing.
	ClassifyText(ctx context.Context, by interlock.Requester, text string, durable bool) (c *interlock.Classified, event string, err error)
}

// The body and the answer of /safety/classify.
type (
	classifyBody struct {
		Text      string               `json:"text"`
		Run       string               `json:"run"`
		Durable   bool                 `json:"durable"` // it is about to be kept
		Requester *interlock.Requester `json:"requester"`
	}
	classifyAnswer struct {
		Verdict string                `json:"verdict"` // OK, BLOCK, REDACT or FLAG_FOR_REVIEW
		Rule    string                `json:"rule_id"` // empty for OK
		Reason  string                `json:"reason"`
		Event   string                `json:"event_id,omitempty"` // that records what was left out
		Text    *interlock.Classified `json:"classified"`
	}
)

// classify says what may become of a text (MACE 12).
func (x *exchange) classify() {
	if x.server.config.Texts == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "no texts are classified here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	var body classifyBody
	by, err := readRun(x, &body, &body.Requester)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if len(body.Run) > maxName {
		x.refuse(tooLong("/run", maxName))
		return
	}
	if body.Run != "" {
		by.Run = body.Run
	}
	c, event, err := x.server.config.Texts.ClassifyText(ctx, by, body.Text, body.Durable)
	if err != nil {
		x.fail(err)
		return
	}
	x.answerJSON(http.StatusOK, classifyAnswer{c.Classification, c.Rule, c.Reason, event, c})
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

// eventPath finds the event that a path is about, as MACE and its companions spell such paths.
func eventPath(path string) (id string, is bool) {
	for _, prefix := range []string{"/safety/events/", "/governance/events/", "/audit/event/"} {
		if id, is = strings.CutPrefix(path, prefix); is && id != "" && !strings.Contains(id, "/") {
			return id, true
		}
	}
	return "", false
}

// oneEvent answers an event without what an agent wanted or people wrote, to an agent one of its own (MACE 12). Whole, it is read by an
// admin's signed order at the control door.
func (x *exchange) oneEvent() {
	if x.token && x.server.config.LogForPeople {
		x.fail(interlock.Errorf(interlock.CodeUnauthorized, "", "under this profile the log is for people: agents read nothing of it"))
		return
	}
	id, _ := eventPath(x.r.URL.Path)
	entry, err := x.entry(map[string]string{"event_id": id})
	if err == nil && auditlog.Released(&entry) {
		err = interlock.Errorf(interlock.CodeExpired, "", "what this entry says is in an archive")
	}
	if err != nil {
		x.fail(err)
		return
	}
	text, err := auditlog.Redacted(entry.Body)
	if err != nil {
		x.fail(fmt.Errorf("redacting an event: %w", err))
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}

// wantsJSON reports whether who asks for a path that is not known is a program: no page of the console is there, or it says so.
func wantsJSON(r *http.Request) bool {
	for _, prefix := range []string{"/v1/", "/safety/", "/governance/", "/superadmin/", "/actionrequest/", "/module/", "/audit/event/",
		"/admin/", "/apt/", "/pii/", "/dsr/", "/replay/", "/access/v1/", "/otlp/", "/.well-known/"} {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return true
		}
	}
	accepts := strings.Join(r.Header["Accept"], ",")
	return strings.Contains(accepts, "application/json") && !strings.Contains(accepts, "text/html")
}
