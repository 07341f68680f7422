package runs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/rollback"
	"interlock/internal/strictjson"
)

// A RollbackDetail is what an order to begin a rollback says beside what it is about: which plan was shown to who signed, and who is
// isolated.
type RollbackDetail struct {
	Size int64            `json:"log_size"`
	Plan interlock.Digest `json:"plan"`
	Hold []string         `json:"hold"` // agents, sorted
}

// maxRollbackHolds bounds how many agents one order isolates.
const maxRollbackHolds = 64

// String writes the detail.
func (d RollbackDetail) String() string {
	text, err := strictjson.Marshal(d)
	if err != nil {
		return "" // which is no detail, and refused
	}
	return string(text)
}

func readDetail(text string) (d RollbackDetail, err error) {
	if err := strictjson.Decode([]byte(text), &d); err != nil || d.Size < 1 || d.Plan == "" || len(d.Hold) > maxRollbackHolds {
		return d, interlock.Errorf(interlock.CodeInvalid, "detail", "is not what `interlock rollback begin` writes of a plan")
	}
	return d, nil
}

// RollbackSubject is what an order to begin a rollback is about, and SeedOf reads it.
func RollbackSubject(s dataflow.Seed) string {
	if s.Event != "" {
		return "event:" + s.Event
	}
	return "agent:" + s.Agent + " since " + s.Since.UTC().Format(time.RFC3339Nano)
}

func SeedOf(subject string) (s dataflow.Seed, err error) {
	if event, is := strings.CutPrefix(subject, "event:"); is {
		s.Event = event
	} else if agent, since, cut := strings.Cut(strings.TrimPrefix(subject, "agent:"), " since "); cut && strings.HasPrefix(subject, "agent:") {
		at, parsed := time.Parse(time.RFC3339Nano, since)
		if parsed != nil {
			return s, interlock.Errorf(interlock.CodeInvalid, "subject", "%.40q is no time", since)
		}
		s.Agent, s.Since = agent, at.UTC()
	}
	if err := rollback.Check(s); err != nil {
		return s, interlock.Errorf(interlock.CodeInvalid, "subject", "name what is rolled back: event:ID, or agent:NAME since TIME")
	}
	return s, nil
}

// RollbackID is the name of the rollback that an order begins.
func RollbackID(order string) string { return "rb_" + strings.TrimPrefix(order, "ord_") }

// readRollback reads what beginning a rollback is made from: the holds over those who are isolated, and the standing grants.
func readRollback(o interlock.Order) []ledger.Ref {
	refs := []ledger.Ref{core.Key(ledger.Rollback, RollbackID(o.ID)), core.Under(ledger.Order, ledger.Ordered(interlock.VerbGrant))}
	d, err := readDetail(o.Detail)
	if err != nil {
		return refs // and it is refused
	}
	add := func(more ...ledger.Ref) {
		for _, ref := range more {
			if !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	for _, agent := range d.Hold {
		name := ledger.HoldName(ledger.HoldAgent, agent)
		if _, _, ok := ledger.Actors(name); ok {
			add(core.MoveRefs(name)...)
			add(core.Key(ledger.Agent, agent))
		}
	}
	return refs
}

// findRollback refuses an order that is about nothing.
func (a *Runs) findRollback(c *core.PendingOrder) error {
	if a.Config.Planner == nil {
		return interlock.Errorf(interlock.CodeUnavailable, "rollback", "this program can't read the log")
	}
	if strings.Contains(c.ID, "/") { // which parts a rollback from its step
		return interlock.Errorf(interlock.CodeInvalid, "id", "an order's id has no slash")
	}
	seed, err := SeedOf(c.Subject)
	if err != nil {
		return err
	}
	if seed.Agent != "" {
		c.About = interlock.Requester{Agent: seed.Agent, Principal: c.Standing.Agents[seed.Agent].Principal}
	}
	d, err := readDetail(c.Detail)
	if err != nil {
		return err
	}
	for _, agent := range d.Hold {
		if _, _, ok := ledger.Actors(ledger.HoldName(ledger.HoldAgent, agent)); !ok {
			return interlock.Errorf(interlock.CodeInvalid, "detail", "%.40q is no agent's name that can be held", agent)
		}
	}
	return nil
}

// planOf makes the plan that an order names, again.
func (a *Runs) planOf(ctx context.Context, c *core.PendingOrder) (plan rollback.Plan, detail RollbackDetail, err error) {
	seed, err := SeedOf(c.Subject)
	if err != nil {
		return plan, detail, err
	}
	if detail, err = readDetail(c.Detail); err == nil {
		plan, err = a.Config.Planner(ctx, seed, detail.Size, a.Active.Load().Rules)
	}
	return plan, detail, err
}

// beginRollback records a rollback as begun: its plan as it was shown, one row for each step that somebody carries out, those it
// touches isolated, and what they were given in advance since then ended.
func (a *Runs) beginRollback(ctx context.Context, c *core.PendingOrder) error {
	plan, detail, err := a.planOf(ctx, c)
	if err == nil {
		err = asShown(&plan, detail)
	}
	if err != nil {
		return err
	}
	text, err := plan.Text()
	if err != nil {
		return err
	}
	m, kept := containment.BeginTransition(c, ctx, a.Containment)
	body := ledger.RollbackBody{ID: RollbackID(c.ID), What: c.Subject, Plan: auditlog.BlobDigest(text), Steps: len(plan.Steps),
		Open: plan.Open(), Held: append([]string{}, detail.Hold...), Begun: m.Now, By: c.Operator, Why: kept.Reason}
	c.Change.Blobs = append(c.Change.Blobs, ledger.Blob{Digest: body.Plan, Text: text})
	c.Change.Writes = append(c.Change.Writes, stepRows(&body, &plan)...)
	ended, grants := a.endGiven(c, detail.Hold, plan.Steps[len(plan.Steps)-1].At)
	if err := a.tellRollback(c, interlock.EventRollback, auditlog.RollbackRecord{Rollback: body, Grants: ended, Order: &kept}); err != nil {
		return err
	}
	for _, g := range grants {
		if err := a.Append(&c.Change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator", g); err != nil {
			return err
		}
	}
	if body.Open == 0 {
		if err := a.endRollback(c, &body); err != nil {
			return err
		}
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(body)...)
	for _, agent := range detail.Hold {
		m.Tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: agent, To: phase.Alternate, Trigger: phase.TriggerOrder,
			Why: "what it did is rolled back (" + body.ID + "): " + kept.Reason}, &kept)
	}
	return m.Done(interlock.Requester{Agent: c.Operator})
}

// asShown refuses a plan that is not the one whose signature is given, or that nobody can follow.
func asShown(plan *rollback.Plan, detail RollbackDetail) error {
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	stranger := slices.IndexFunc(detail.Hold, func(agent string) bool {
		return !slices.ContainsFunc(plan.Agents, func(a rollback.Affected) bool { return a.Agent == agent })
	})
	switch {
	case digest != detail.Plan:
		return interlock.Errorf(interlock.CodeConflict, "detail", "this is not the plan that was shown; look at it again")
	case stranger >= 0:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "%.40q is no agent of the plan, so it is not held with it", detail.Hold[stranger])
	case len(plan.Steps) == 0:
		return interlock.Errorf(interlock.CodeNotFound, "subject", "nothing of it ran, so there is nothing to undo")
	case len(plan.Steps) > rollback.MaxSteps:
		return interlock.Errorf(interlock.CodeLimited, "subject", "the plan has %d steps, more than %d; begin with a later time, or one event",
			len(plan.Steps), rollback.MaxSteps)
	}
	return nil
}

// stepRows are the steps that somebody carries out. What stays of any step is noted.
func stepRows(body *ledger.RollbackBody, plan *rollback.Plan) (rows []ledger.Row) {
	for n := range plan.Steps {
		s := &plan.Steps[n]
		if s.Residue != "" {
			body.Stays(s.N, s.Residue)
		}
		if s.Open() {
			rows = append(rows, ledger.Rows(ledger.RollbackStepBody{Rollback: body.ID, N: s.N, Event: s.Event, Agent: s.Agent, Did: s.Did,
				Residue: s.Residue, Status: ledger.StepOpen})...)
		}
	}
	if plan.Unread > 0 {
		body.Stays(0, fmt.Sprintf("whatever %d decisions did that are in an archive, and were not looked at", plan.Unread))
	}
	return rows
}

// endGiven ends the standing grants that agents were given since the first action that is rolled back: what they rest on may be wrong.
func (a *Runs) endGiven(c *core.PendingOrder, agents []string, since time.Time) (ids []string, records []auditlog.GrantRecord) {
	for _, g := range c.Standing.Grants {
		if g.Created.Before(since) || !slices.Contains(agents, g.Agent) || !g.InForce(c.Now) {
			continue
		}
		g.Ended = c.Now
		records = append(records, auditlog.GrantRecord{Grant: g, Ended: "rolled back by " + RollbackID(c.ID)})
	}
	slices.SortFunc(records, func(x, y auditlog.GrantRecord) int { return strings.Compare(x.Grant.ID, y.Grant.ID) })
	for _, r := range records {
		ids = append(ids, r.Grant.ID)
		c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Order, r.Grant.ID))
	}
	return ids, records
}

// tellRollback adds an event of a rollback, which names the plan it follows.
func (a *Runs) tellRollback(c *core.PendingOrder, kind interlock.EventType, record auditlog.RollbackRecord) error {
	if err := a.Append(&c.Change, kind, interlock.Requester{Agent: c.Operator}, "operator", record); err != nil {
		return err
	}
	c.Change.Events[len(c.Change.Events)-1].Snapshots[auditlog.SnapshotRollback] = string(record.Rollback.Plan)
	return nil
}

// endRollback ends a rollback that has no open step, and says what stays.
func (a *Runs) endRollback(c *core.PendingOrder, body *ledger.RollbackBody) error {
	body.Ended = c.Now.Truncate(time.Microsecond)
	says := body.ID + " has ended, and nothing of it stays"
	if stays := len(body.Residue) + body.More; stays > 0 {
		says = fmt.Sprintf("%s has ended, and %d things stay, such as %s", body.ID, stays, body.Residue[0].What)
	}
	if err := a.tellRollback(c, interlock.EventRollbackEnd, auditlog.RollbackRecord{Rollback: *body}); err != nil {
		return err
	}
	return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "rollback", says)
}

// A StepDetail is how a step of a rollback ended, as an order to tell so says: done or failed, and what stays of it.
type StepDetail struct {
	Status string
	Stays  string
}

// String writes the detail.
func (d StepDetail) String() string {
	if d.Stays == "" {
		return d.Status
	}
	return d.Status + " stays=" + d.Stays
}

func readStepDetail(text string) (d StepDetail, err error) {
	d.Status, d.Stays, _ = strings.Cut(text, " stays=")
	if d.Status != ledger.StepDone && d.Status != ledger.StepFailed {
		return d, interlock.Errorf(interlock.CodeInvalid, "detail", "%.20q is not how a step ends; say %s or %s", d.Status, ledger.StepDone,
			ledger.StepFailed)
	}
	return d, nil
}

func stepOf(subject string) (id string, n int, ok bool) {
	id, number, cut := strings.Cut(subject, "/")
	n, err := strconv.Atoi(number)
	return id, n, cut && err == nil && n > 0 && strings.HasPrefix(id, "rb_")
}

func readRollbackStep(o interlock.Order) []ledger.Ref {
	id, n, ok := stepOf(o.Subject)
	if !ok {
		return nil // and it is refused
	}
	return []ledger.Ref{core.Key(ledger.Rollback, id), core.Key(ledger.RollbackStep, ledger.RollbackStepKey(id, n))}
}

// findRollbackStep finds the step that an order tells the end of.
func findRollbackStep(c *core.PendingOrder) error {
	id, n, ok := stepOf(c.Subject)
	if !ok {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "name a rollback and one of its steps, such as rb_0123456789abcdef/3")
	}
	s, known := c.Standing.Others[ledger.RollbackStep][ledger.RollbackStepKey(id, n)].(ledger.RollbackStepBody)
	if !known {
		return interlock.Errorf(interlock.CodeNotFound, "subject",
			"no rollback has this step open for anybody; `interlock rollback show` lists them")
	}
	if s.Status == ledger.StepDone {
		return interlock.Errorf(interlock.CodeConflict, "subject", "this step is done already, by %s", s.By)
	}
	_, err := readStepDetail(c.Detail)
	return err
}

// tellStep takes how a step ended. One that failed can be told as done later, until the last open one ends the rollback.
func (a *Runs) tellStep(_ context.Context, c *core.PendingOrder) error {
	id, n, _ := stepOf(c.Subject)
	d, err := readStepDetail(c.Detail)
	if err != nil {
		return err
	}
	s, _ := c.Standing.Others[ledger.RollbackStep][ledger.RollbackStepKey(id, n)].(ledger.RollbackStepBody)
	body, known := c.Standing.Others[ledger.Rollback][id].(ledger.RollbackBody)
	if !known || !body.Ended.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "subject", "this rollback has ended")
	}
	kept := a.OrderKept(c.Order)
	again := s.Status == ledger.StepFailed
	s.Status, s.By, s.At, s.Said = d.Status, c.Operator, c.Now.Truncate(time.Microsecond), kept.Reason
	stays := a.Redact(d.Stays)
	switch {
	case stays != "":
		s.Residue = s.Agent + ": " + stays
	case d.Status == ledger.StepDone && again:
		s.Residue = "" // it was that it is not undone
	case d.Status == ledger.StepFailed && s.Residue == "":
		s.Residue = s.Agent + ": not undone: " + s.Did
	}
	if !again {
		body.Open--
	}
	switch {
	case d.Status == ledger.StepFailed && !again:
		body.Failed++
	case d.Status == ledger.StepDone && again:
		body.Failed--
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(s)...)
	if err := a.tellRollback(c, interlock.EventRollbackStep, auditlog.RollbackRecord{Rollback: body, Step: &s, Order: &kept}); err != nil {
		return err
	}
	body.Stays(s.N, s.Residue)
	if body.Open == 0 {
		if err := a.endRollback(c, &body); err != nil {
			return err
		}
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(body)...)
	return nil
}

// endDownstream ends the runs that were delegated downstream of what is rolled back and are open still. Their agents are isolated
// by then, so one that can't be ended does nothing.
func (a *Runs) endDownstream(ctx context.Context, c *core.PendingOrder) error {
	plan, _, err := a.planOf(ctx, c)
	if err != nil {
		return err
	}
	for n := range plan.Steps {
		s := &plan.Steps[n]
		if s.Undo != rollback.UndoEnd {
			continue
		}
		run, was, err := a.openRun(ctx, s.Gave)
		if err != nil || !was {
			if err != nil {
				return err
			}
			continue
		}
		by := interlock.Requester{Agent: s.Agent, Principal: run.Principal}
		_, _, err = a.endRun(ctx, by, run.ID, interlock.RunEnd{Status: interlock.RunCancelled,
			Why: "what it was delegated for is rolled back (" + RollbackID(c.ID) + ")"})
		if err == nil {
			err = a.endBelow(ctx, run)
		}
		if err != nil && !isConflict(err) {
			return err
		}
		c.Done.Ended = append(c.Done.Ended, run.ID)
	}
	return nil
}

// openRun finds a run that is still open.
func (a *Runs) openRun(ctx context.Context, id string) (run interlock.Run, open bool, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunNamed(id)), ledger.Every(1))
	if err != nil || len(rows) == 0 {
		return run, false, err
	}
	run, is := rows[0].Value.(interlock.Run)
	return run, is && run.Ended.IsZero(), nil
}

// Rollbacks are those that are under way, newest first, or those that have ended.
func Rollbacks(ctx context.Context, from core.Ledger, ended bool, limit int) (core.List[ledger.RollbackBody], error) {
	mark := ledger.All
	if ended {
		mark = ledger.RollbacksEnded
	}
	return core.ListedUnder[ledger.RollbackBody](ctx, from, core.Under(ledger.Rollback, mark), ledger.Before(-1, limit))
}

// RollbackNamed is a rollback, under way or ended, with the steps of it that somebody carries out.
func RollbackNamed(ctx context.Context, from core.Ledger, id string) (r ledger.RollbackBody, steps []ledger.RollbackStepBody,
	err error) {
	found, err := core.ListedUnder[ledger.RollbackBody](ctx, from, core.Under(ledger.Rollback, ledger.RollbackNamed(id)),
		ledger.Every(1))
	if err != nil {
		return r, nil, err
	}
	if len(found.Rows) == 0 {
		return r, nil, interlock.Errorf(interlock.CodeNotFound, "ID", "no rollback has this id; `interlock rollback list` shows them")
	}
	list, err := core.ListedUnder[ledger.RollbackStepBody](ctx, from, core.Under(ledger.RollbackStep, ledger.RollbackSteps(id)),
		ledger.Every(0))
	return found.Rows[0], list.Rows, err
}
