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

// affected are the holds that a word about a report comes to: the state, and after it what the incident touches, as people name it.
// What is so and grave touches the snapshots that are decided under where nobody says otherwise.
func (a *Containment) affected(detail, severity string) (state string, names []string) {
	said := strings.Fields(detail)
	if len(said) == 0 {
		return "", nil
	}
	state, names = said[0], slices.Compact(slices.Sorted(slices.Values(said[1:])))
	if state != TriageConfirmed || len(names) > 0 || severity != "high" && severity != "critical" {
		return state, names
	}
	now := a.Active.Load()
	if now.Manifest != "" {
		return state, []string{ledger.HoldName(ledger.HoldManifest, string(now.Manifest))}
	}
	return state, []string{ledger.HoldName(ledger.HoldRuleset, string(now.Rules.Digest()))}
}

func (a *Containment) readTriage(o interlock.Order) (refs []ledger.Ref) {
	_, names := a.affected(o.Detail, "critical")
	for _, name := range names {
		refs = append(refs, core.Key(ledger.Hold, name))
	}
	return refs
}

// triage records what becomes of a report. One that is so is an incident from then on, and what it touches is halted with that: nothing
// is decided or made again under it (MACE safety boundaries 8.3).
func (a *Containment) triage(ctx context.Context, c *core.PendingOrder) error {
	state, names := a.affected(c.Detail, "")
	if !slices.Contains(TriageStates(), state) {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "is one of %s", strings.Join(TriageStates(), ", "))
	}
	if len(names) > 0 && state != TriageConfirmed {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "only what a confirmed report touches is held")
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
	record := auditlog.TriageRecord{Report: c.Subject, State: state, Title: about.Title, Severity: about.Severity,
		Order: a.OrderKept(c.Order)}
	kinds := []interlock.EventType{interlock.EventTriage}
	if state == TriageConfirmed {
		kinds = append(kinds, interlock.EventIncident)
	}
	for _, kind := range kinds {
		if err := a.Append(&c.Change, kind, interlock.Requester{Agent: c.Operator}, "operator", record); err != nil {
			return err
		}
	}
	_, names = a.affected(c.Detail, about.Severity)
	if state == TriageConfirmed && len(names) == 0 {
		return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "incident", "what was reported is so, and nothing is held for it: "+
			core.Bounded(record.Title, maxTitle))
	}
	for _, name := range names {
		if err := a.haltBy(c, name); err != nil {
			return err
		}
	}
	return nil
}

// haltBy holds what an operator says an incident touches. What is held already stays as it is.
func (a *Containment) haltBy(c *core.PendingOrder, name string) error {
	scope, about, ok := ledger.HoldOf(name)
	if !ok || len(name) > 200 {
		return interlock.Errorf(interlock.CodeInvalid, "detail",
			"%.40q is no name of what can be held, such as ruleset:sha256:..., manifest:sha256:... or event:ID", name)
	}
	if _, stands := c.Standing.Others[ledger.Hold][name]; stands {
		return nil
	}
	kept := a.OrderKept(c.Order)
	h := ledger.HoldBody{Scope: scope, Key: about, Cause: interlock.EventIncident, Why: kept.Reason,
		Since: c.Now.Truncate(time.Microsecond), Order: c.ID}
	c.Change.Writes = append(c.Change.Writes, h.Row())
	if scope == ledger.HoldMemory { // nothing is made again under what agents keep
		return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "hold",
			"no fact that derives from it is answered: "+name+", by order of "+c.Operator+"; `interlock memory list` says more")
	}
	if err := a.Append(&c.Change, interlock.EventHalt, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: name, Cause: h.Cause, Why: h.Why, Order: &kept}); err != nil {
		return err
	}
	return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "hold",
		"nothing is decided or made again under "+name+", by order of "+c.Operator+"; `interlock hold list` says more")
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
