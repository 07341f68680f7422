package containment

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/meter"
)

// An IncidentReport is what somebody says is wrong: a way past a rule, a finding of a red team, an incident (MACE 9.3, POST /safety/report).
type IncidentReport struct {
	Title    string `json:"title"`
	Severity string `json:"severity"` // low, medium, high or critical; empty: medium
	Text     string `json:"text"`
	From     string `json:"from"` // whom it came from, if not from who hands it in
}

// What becomes of a report.
const (
	TriageConfirmed = "confirmed" // it is so; recorded as SECURITY_INCIDENT as well
	TriageDuplicate = "duplicate"
	TriageDeclined  = "declined"
	TriageMended    = "mended"
)

// TriageStates are the states of a report that an operator may name.
func TriageStates() []string {
	return []string{TriageConfirmed, TriageDuplicate, TriageDeclined, TriageMended}
}

// Severities are how grave a report can be.
func Severities() []string { return []string{"low", "medium", "high", "critical"} }

const (
	maxIncident = 16 << 10
	maxTitle    = 200
	maxFrom     = 100
)

func (r *IncidentReport) check() error {
	if r.Severity == "" {
		r.Severity = "medium"
	}
	switch {
	case strings.TrimSpace(r.Title) == "" || utf8.RuneCountInString(r.Title) > maxTitle || strings.ContainsAny(r.Title, "\n\r"):
		return interlock.Errorf(interlock.CodeInvalid, "title", "is one line of 1 to %d characters that says what is wrong", maxTitle)
	case !slices.Contains(Severities(), r.Severity):
		return interlock.Errorf(interlock.CodeInvalid, "severity", "is one of %s", strings.Join(Severities(), ", "))
	case strings.TrimSpace(r.Text) == "" || len(r.Text) > maxIncident:
		return interlock.Errorf(interlock.CodeInvalid, "text", "says how it is seen, in 1 to %d bytes", maxIncident)
	case utf8.RuneCountInString(r.From) > maxFrom:
		return interlock.Errorf(interlock.CodeInvalid, "from", "is at most %d characters", maxFrom)
	case !utf8.ValidString(r.Title + r.Text + r.From):
		return interlock.Errorf(interlock.CodeInvalid, "text", "is no valid UTF-8")
	}
	return nil
}

// ReportIncident records what somebody says is wrong, and tells people. It changes nothing and permits nothing; what becomes of it is an
// operator's to say. The event's id is the report's.
func (a *Containment) ReportIncident(ctx context.Context, by interlock.Requester, r IncidentReport) (event string, err error) {
	if err := r.check(); err != nil {
		return "", err
	}
	if err := a.reporters.take(by.Agent, a.Config.Now()); err != nil {
		return "", err
	}
	record := auditlog.ReportRecord{Title: a.Redact(r.Title), Severity: r.Severity, Text: a.Redact(r.Text), From: a.Redact(r.From)}
	var change ledger.Change
	if err := a.Append(&change, interlock.EventReport, by, "reporter", record); err != nil {
		return "", err
	}
	if err := a.Raise(&change, interlock.Requester{Agent: "interlock"}, "report",
		"a report of severity "+r.Severity+" came in: "+core.Bounded(record.Title, maxTitle)+
			"; `interlock report list` has it"); err != nil {
		return "", err
	}
	receipt, err := a.Config.Store.Commit(ctx, change)
	if err != nil {
		return "", err
	}
	return receipt.Events[0], nil
}

// triage records what becomes of a report. One that is so is an incident from then on: what it touches is held by another order, since
// only a person can say which snapshots it touches.
func (a *Containment) triage(ctx context.Context, c *core.PendingOrder) error {
	if !slices.Contains(TriageStates(), c.Detail) {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "is one of %s", strings.Join(TriageStates(), ", "))
	}
	entry, found, err := a.Config.Store.Entry(ctx, c.Subject)
	if err != nil {
		return err
	}
	if !found || entry.Type != interlock.EventReport {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no report has this id; `interlock report list` lists them")
	}
	about, err := auditlog.ReportOf(entry)
	if err != nil {
		return err
	}
	record := auditlog.TriageRecord{Report: c.Subject, State: c.Detail, Title: about.Title, Severity: about.Severity,
		Order: a.OrderKept(c.Order)}
	kinds := []interlock.EventType{interlock.EventTriage}
	if c.Detail == TriageConfirmed {
		kinds = append(kinds, interlock.EventIncident)
	}
	for _, kind := range kinds {
		if err := a.Append(&c.Change, kind, interlock.Requester{Agent: c.Operator}, "operator", record); err != nil {
			return err
		}
	}
	return nil
}

// What one reporter may hand in within an hour, and how many reporters are remembered, in one process. It keeps an agent from calling
// people out again and again; it is no budget that anybody has to rely on.
const (
	reportsPerHour = 20
	maxReporters   = 1000
)

// reporters is when each reporter has handed something in.
type reporters struct {
	sync.Mutex
	seen map[string][]time.Time
}

func (r *reporters) take(who string, at time.Time) error {
	r.Lock()
	defer r.Unlock()
	recent := func(list []time.Time) []time.Time { return meter.Lately(list, time.Hour, at) }
	if len(r.seen) >= maxReporters {
		for name, list := range r.seen {
			if len(recent(list)) == 0 {
				delete(r.seen, name)
			}
		}
	}
	list := recent(r.seen[who])
	if len(list) >= reportsPerHour || len(list) == 0 && len(r.seen) >= maxReporters {
		return interlock.Errorf(interlock.CodeLimited, "", "%d reports were taken in within an hour; tell an operator", reportsPerHour)
	}
	if r.seen == nil {
		r.seen = map[string][]time.Time{}
	}
	r.seen[who] = append(list, at)
	return nil
}
