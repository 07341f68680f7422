package console

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

// onTree is what an orchestration is called by: a run and all that was delegated by it.
const onTree = "orchestration"

// The bounds of what a timeline looks up beside the log.
const (
	treeRuns   = 500  // runs of one orchestration
	endedRuns  = 1000 // runs that have ended, among which those of one orchestration are found
	typeLooked = 500  // agents whose type is looked up
)

// A subject is whose timeline is shown: an agent, a type, a run, an orchestration, a layer of control or the system.
type subject struct {
	On    string // as it is written, such as agent:builder
	Scope string
	Key   string
	Type  string   // of an agent
	Agent string   // of a run
	Runs  []string // of an orchestration

	counted render.CountedFor
	holds   [][]byte // names of holds over it, as they stand in events
}

// Limits is where its limits are shown.
func (s *subject) Limits() string { return address("/system/limits", url.Values{"on": {s.On}}) }

// Contain is where it is contained; empty for what has no phase.
func (s *subject) Contain() string {
	if s.Scope == onTree {
		return address("/system/phases", url.Values{"on": {"run:" + s.Key}}) + "#tighten"
	}
	return address("/system/phases", url.Values{"on": {s.On}}) + "#tighten"
}

// subjectOf reads whose timeline, or whose limits, are asked for: on=agent:NAME and its like.
func (c *Console) subjectOf(r *http.Request) (s subject, named bool, err error) {
	s.On = strings.TrimSpace(r.URL.Query().Get("on"))
	if s.On == "" {
		return s, false, nil
	}
	if s.On == phase.ScopeSystem {
		s.On = ledger.HoldName(ledger.HoldSystem, phase.SystemKey)
	}
	s.Scope, s.Key, _ = strings.Cut(s.On, ":")
	if len(s.On) > render.MaxFilter || s.Scope != onTree && !phase.ValidKey(s.Scope, s.Key) || s.Key == "" {
		return s, false, interlock.Errorf(interlock.CodeInvalid, "on",
			"name an agent, a type, a run, an orchestration, a layer of control or the system, such as agent:builder")
	}
	switch s.Scope {
	case phase.ScopeAgent:
		err = c.ofAgent(r.Context(), &s)
	case phase.ScopeType:
		s.counted = render.CountedFor{Record: interlock.AgentRecord{Type: s.Key}, Per: []ruleset.Per{ruleset.PerType}}
	case phase.ScopeRun, onTree:
		err = c.ofRun(r.Context(), &s)
	default:
		s.counted.Per = []ruleset.Per{ruleset.PerEverything}
	}
	s.over(s.On)
	if s.Scope != phase.ScopeLayer && s.Scope != phase.ScopeSystem {
		s.over("system:all", "layer:gates", "layer:judge", "layer:people")
	}
	return s, true, err
}

// over adds holds by their names, and with each its breaker's.
func (s *subject) over(names ...string) {
	for _, name := range names {
		s.holds = append(s.holds, render.Quoted("", name), render.Quoted("", "breaker:"+name))
	}
}

func (c *Console) ofAgent(ctx context.Context, s *subject) error {
	standing, err := c.config.Backend.Ground(ctx, ref(ledger.Agent, s.Key))
	record := standing.Agents[s.Key]
	record.ID = s.Key
	s.counted = render.CountedFor{Requester: interlock.Requester{Agent: s.Key, Principal: record.Principal}, Record: record,
		Per: []ruleset.Per{ruleset.PerAgent, ruleset.PerType, ruleset.PerPrincipal, ruleset.PerEverything}}
	if s.Type = record.Type; s.Type != "" {
		s.over("type:" + s.Type)
	}
	return err
}

// ofRun finds a registered run, and of an orchestration the runs in it. A run that a harness named is known by its name alone.
func (c *Console) ofRun(ctx context.Context, s *subject) error {
	found, err := core.RunsUnder(ctx, c.config.Backend, ledger.RunNamed(s.Key), 1)
	if err != nil {
		return err
	}
	tree, per := s.Key, []ruleset.Per{ruleset.PerTree}
	if len(found.Rows) > 0 {
		s.Agent, tree = found.Rows[0].Agent, found.Rows[0].Orchestration
		s.over("agent:" + s.Agent)
		for _, link := range found.Rows[0].Chain {
			s.over("run:" + link.Run)
		}
	}
	if s.Agent == "" {
		per = nil // what is counted for a run is kept under its agent's name as well
	} else if s.Scope == phase.ScopeRun {
		per = []ruleset.Per{ruleset.PerRun, ruleset.PerTree}
	}
	standing, err := c.config.Backend.Ground(ctx, ref(ledger.Agent, s.Agent))
	if err != nil {
		return err
	}
	s.counted = render.CountedFor{Requester: interlock.Requester{Agent: s.Agent, Run: s.Key}, Record: standing.Agents[s.Agent],
		Tree: tree, Per: per}
	if s.Scope == phase.ScopeRun {
		return nil
	}
	s.Runs = []string{s.Key}
	s.over("run:" + s.Key)
	open, err := core.RunsUnder(ctx, c.config.Backend, ledger.RunIn(s.Key), treeRuns)
	if err != nil {
		return err
	}
	ended, err := core.RunsUnder(ctx, c.config.Backend, ledger.RunsEnded, endedRuns)
	for _, run := range append(open.Rows, ended.Rows...) {
		if run.Orchestration == s.Key && !slices.Contains(s.Runs, run.ID) && len(s.Runs) < treeRuns {
			s.Runs = append(s.Runs, run.ID)
		}
	}
	return err
}

// What a timeline shows beside decisions: what bounds and stops agents, and what people said.
func timed(kind interlock.EventType) bool {
	return steered(kind) || slices.Contains([]interlock.EventType{interlock.EventApproval, interlock.EventApprovalExpired, interlock.EventRunRegistered,
		interlock.EventRunEnded, interlock.EventRunPaused, interlock.EventRunChanged, interlock.EventPlan, interlock.EventCheckpoint,
		interlock.EventExecution, interlock.EventGrant, interlock.EventMessage, interlock.EventCommitment, interlock.EventChallenge}, kind)
}

// steered reports whether events of a type say that something was contained, stopped or let go on, or what led to that.
func steered(kind interlock.EventType) bool {
	return slices.Contains([]interlock.EventType{interlock.EventPhase, interlock.EventRootCause, interlock.EventBreaker, interlock.EventBreakerReset,
		interlock.EventSignal, interlock.EventKill, interlock.EventKillRelease, interlock.EventBudget, interlock.EventBlocked,
		interlock.EventUnblocked, interlock.EventLost, interlock.EventTrust, interlock.EventRollback, interlock.EventRollbackStep,
		interlock.EventRollbackEnd, interlock.EventHalt, interlock.EventHaltClear, interlock.EventIncident}, kind)
}

// A watching finds the events of a subject.
type watching struct {
	subject
	show  string // decisions, control or all
	c     *Console
	ctx   context.Context
	types map[string]string // of agents
}

// holds reports whether an event is of the subject.
func (w *watching) about(e interlock.Entry) bool {
	decision := auditlog.IsDecision(e.Type)
	switch {
	case decision && w.show == "control", !decision && w.show == "decisions", !decision && !timed(e.Type), w.show == "control" && !steered(e.Type):
		return false
	case e.Type == interlock.EventKill || e.Type == interlock.EventKillRelease:
		return true // it is on everybody
	}
	for _, name := range w.subject.holds {
		if !decision && bytes.Contains(e.Body, name) {
			return true
		}
	}
	switch w.Scope {
	case phase.ScopeAgent:
		if decision {
			return bytes.Contains(e.Body, render.Quoted("agent", w.Key)) && w.by(e)
		}
		return w.named(e, "agent", "from", "to", "subject", "actor") ||
			e.Type == interlock.EventBudget && bytes.Contains(e.Body, append([]byte(`"of":[`), render.Quoted("", w.Key)...))
	case phase.ScopeRun:
		return bytes.Contains(e.Body, render.Quoted("", w.Key))
	case onTree:
		return slices.ContainsFunc(w.Runs, func(run string) bool { return bytes.Contains(e.Body, render.Quoted("", run)) })
	case phase.ScopeType:
		return decision && w.ofType(e)
	case phase.ScopeSystem:
		return steered(e.Type)
	}
	return false
}

// by reports whether a decision is about the agent itself, and not about one that it delegated to.
func (w *watching) by(e interlock.Entry) bool {
	d, err := auditlog.ReadDecision(e)
	return err == nil && d.Proposal.Requester.Agent == w.Key
}

func (w *watching) named(e interlock.Entry, members ...string) bool {
	return slices.ContainsFunc(members, func(m string) bool { return bytes.Contains(e.Body, render.Quoted(m, w.Key)) })
}

// ofType reports whether a decision is about an agent that is of the type now.
func (w *watching) ofType(e interlock.Entry) bool {
	d, err := auditlog.ReadDecision(e)
	if err != nil {
		return false
	}
	name := d.Proposal.Requester.Agent
	is, known := w.types[name]
	if !known && len(w.types) < typeLooked {
		standing, err := w.c.config.Backend.Ground(w.ctx, ref(ledger.Agent, name))
		if err != nil {
			return false
		}
		is = standing.Agents[name].Type
		w.types[name] = is
	}
	return is == w.Key
}

// timelinePage shows what happened to an agent, a type, a run, an orchestration or the system, in the order of the log: what was decided,
// and what bounded and stopped it.
func (c *Console) timelinePage(w http.ResponseWriter, r *http.Request) {
	of, named, err := c.subjectOf(r)
	before, show := int64(-1), r.URL.Query().Get("show")
	if err == nil {
		err = indexed(r.URL.Query(), "before", &before)
	}
	if err == nil && show != "" && show != "decisions" && show != "control" {
		err = interlock.Errorf(interlock.CodeInvalid, "show", "is decisions or control, or is left out for all")
	}
	if err == nil && !named {
		err = interlock.Errorf(interlock.CodeInvalid, "on", "name whose timeline is shown, such as agent:builder")
	}
	page := struct {
		Of                     *subject
		Show                   string
		Lines                  []line
		Holds                  []ledger.HoldBody // that are over it now
		Gauges                 []render.Gauge
		Earlier, Newest        string
		All, Decided, Controls string // addresses
		Searched               bool
	}{Of: &of, Show: show}
	if err == nil {
		page.Holds, err = c.holdsOver(r.Context(), of)
	}
	if err == nil {
		page.Gauges, err = c.gaugesOf(r, of.counted)
		page.Gauges = page.Gauges[:min(len(page.Gauges), render.TopGauges)]
	}
	var next int64
	if err == nil {
		looks := watching{subject: of, show: show, c: c, ctx: r.Context(), types: map[string]string{}}
		next, err = c.back(r.Context(), before, func(e interlock.Entry) bool {
			if looks.about(e) {
				page.Lines = append(page.Lines, c.lineFor(r, e))
			}
			return len(page.Lines) < render.PageRows
		})
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	slices.Reverse(page.Lines) // time runs downwards
	at := func(show string, before int64) string {
		query := url.Values{"on": {of.On}}
		if show != "" {
			query.Set("show", show)
		}
		if before > 0 {
			query.Set("before", strconv.FormatInt(before, 10))
		}
		return address("/agents/timeline", query)
	}
	page.All, page.Decided, page.Controls = at("", 0), at("decisions", 0), at("control", 0)
	if next > 0 {
		page.Earlier, page.Searched = at(show, next), len(page.Lines) < render.PageRows
	}
	if before >= 0 {
		page.Newest = at(show, 0)
	}
	c.render(w, r, http.StatusOK, "timeline.html", "Timeline", page)
}

// holdsOver are the phases and breakers over a subject now.
func (c *Console) holdsOver(ctx context.Context, of subject) (over []ledger.HoldBody, err error) {
	refs := []ledger.Ref{under(ledger.Hold, ledger.OverAll)}
	scope, key := ledger.HoldScope(of.Scope), of.Key
	if of.Scope == onTree {
		scope = ledger.HoldRun
	}
	if scope != ledger.HoldSystem && scope != ledger.HoldLayer {
		refs = append(refs, under(ledger.Hold, ledger.Over(scope, key)))
	}
	if of.Type != "" {
		refs = append(refs, under(ledger.Hold, ledger.Over(ledger.HoldType, of.Type)))
	}
	if of.Agent != "" {
		refs = append(refs, under(ledger.Hold, ledger.Over(ledger.HoldAgent, of.Agent)))
	}
	standing, err := c.config.Backend.Ground(ctx, refs...)
	for _, h := range standing.Holds() {
		if h = h.AsOf(c.config.Now()); h.State() != "" {
			over = append(over, h)
		}
	}
	return over, err
}

// A dated is from when to when a list looks, as typed, in UTC. Empty fields say nothing.
type dated struct {
	Since, Until string
	from, to     time.Time
}

func datedOf(query url.Values) (d dated, err error) {
	d = dated{Since: query.Get("since"), Until: query.Get("until")}
	if err = render.Instant("since", d.Since, &d.from); err == nil {
		err = render.Instant("until", d.Until, &d.to)
	}
	return d, err
}

// Begin is where it begins, as a field for times takes it.
func (d dated) Begin() string { return fieldTime(d.from) }

// End is where it ends; see [dated.Begin].
func (d dated) End() string { return fieldTime(d.to) }

// Dated reports whether there is a bound.
func (d dated) Dated() bool { return !d.from.IsZero() || !d.to.IsZero() }

// bounds are the times that are meant, where nothing else is said the last month's.
func (d dated) bounds(now time.Time) (from, to time.Time) {
	from, to = d.from, d.to
	if to.IsZero() {
		to = now
	}
	if from.IsZero() {
		from = to.AddDate(0, 0, -stats.MonthSteps)
	}
	return from, to
}

func fieldTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}
