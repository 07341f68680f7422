package console

import (
	"net/http"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// A line is one event in a list.
type line struct {
	Index   int64
	ID      string
	Type    interlock.EventType
	At      time.Time
	Actor   string
	Role    string
	Summary string
	Path    string             // of its page
	Answer  *interlock.Verdict // of a decision
	Damaged string             // why it can't be read; then it has an index only
}

// lineOf reads an entry for a list.
func lineOf(e interlock.Entry) line {
	if auditlog.Released(&e) {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Summary: "archived"}
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Damaged: err.Error()}
	}
	l := line{Index: e.Index, ID: event.ID, Type: event.Type, At: event.Recorded, Actor: event.Actor, Role: event.Role,
		Path: "/events/" + event.ID, Summary: shorten(auditlog.Telling(event), maxSummary)}
	if d, err := auditlog.ReadDecision(e); err == nil {
		answer := answerOf(d)
		l.Path, l.Answer, l.Summary = "/decisions/"+event.ID, &answer, summary(d.Proposal.Action)
		if f := d.Decision.Decisive(); f != nil {
			l.Summary = f.Rule + ": " + l.Summary
		}
	}
	return l
}

// entry finds the entry that a path names by its event id or its index.
func (c *Console) entry(r *http.Request) (interlock.Entry, error) {
	e, err := auditlog.Named(r.Context(), c.config.Log, r.PathValue("id"))
	if err == nil && auditlog.Released(&e) {
		err = auditlog.ErrReleased(&e)
	}
	return e, err
}
