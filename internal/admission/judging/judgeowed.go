package judging

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// What is owed a judgment is asked about by whatever process lasts, from rows that stand beside the decisions, so that nothing is
// forgotten by a restart. An Allow ends it. A denial revokes: it is remembered for the action as any denial, what goes on in its run is
// held, people are told, and what would have to be undone is worked out for an admin to order. Where nobody could be heard in time it
// counts as denied, but for being remembered: nobody has judged the action.

// The bounds of what is asked afterwards.
const (
	owedLook     = 5 * time.Second  // how often a process looks for what is owed
	owedHandover = 15 * time.Second // so long only the process that let an action through asks about it
	owedAtOnce   = 8
	owedFirst    = time.Second // before a judge that failed is asked again, doubled each time
	owedPause    = 30 * time.Second
	owedPlanned  = 30 * time.Second // how long working out what to undo may take
	maxOwedRead  = 10_000
)

// owing is what a process knows of what is owed.
type owing struct {
	sync.Mutex
	self  string
	tries map[string]owedTry // by the decision's event
	wake  chan struct{}
	wrong string // what people were told of last

	results map[string]int64 // how often judges answered what
}

// count counts an answer.
func (o *owing) count(result string) {
	o.Lock()
	defer o.Unlock()
	if o.results == nil {
		o.results = map[string]int64{}
	}
	o.results[result]++
}

// JudgedAfter is how often judges answered what in this process of actions that had been let through, by the result as the record has it.
func (a *Judging) JudgedAfter() map[string]int64 {
	a.Owing.Lock()
	defer a.Owing.Unlock()
	return maps.Clone(a.Owing.results)
}

// An owedTry is how often a judge failed to answer, and what asking it took from budgets.
type owedTry struct {
	pause    time.Duration
	next     time.Time
	reserved []*reservation
}

// Look has this process look at once, where a decision owes a judgment.
func (o *owing) Look(j *Consultation) {
	if j.Owes == nil {
		return
	}
	o.Lock()
	defer o.Unlock()
	if o.wake != nil {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
}

// KeepOwed asks about what is owed a judgment until its context ends.
func (a *Judging) KeepOwed(ctx context.Context) {
	a.Owing.Lock()
	a.Owing.wake = make(chan struct{}, 1)
	wake := a.Owing.wake
	a.Owing.Unlock()
	look := time.NewTicker(owedLook)
	defer look.Stop()
	for {
		if _, err := a.JudgeOwed(ctx); err != nil && ctx.Err() == nil {
			a.owedFails(err)
		}
		select {
		case <-wake:
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// owedFails tells people once of what keeps judgments from being recorded.
func (a *Judging) owedFails(err error) {
	a.Owing.Lock()
	told := a.Owing.wrong == err.Error()
	a.Owing.wrong = err.Error()
	a.Owing.Unlock()
	if !told && a.Config.Alert != nil {
		a.Config.Alert("judge-owed", "judgments that are owed can't be recorded: "+core.Reason(err))
	}
}

// OwesJudgments reports whether any judgment is owed.
func (a *Judging) OwesJudgments(ctx context.Context) (bool, error) {
	n, err := a.Config.Store.Count(ctx, core.Under(ledger.Owed, ledger.All), ledger.Every(1))
	return n > 0, err
}

// JudgeOwed asks once about everything that is owed a judgment and is due, and returns how much is owed after that.
func (a *Judging) JudgeOwed(ctx context.Context) (left int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Owed, ledger.All), ledger.Every(maxOwedRead))
	if err != nil {
		return 0, err
	}
	self, err := a.Self()
	if err != nil {
		return len(rows), err
	}
	now := a.Config.Now().UTC()
	var wait sync.WaitGroup
	var guard sync.Mutex
	room := make(chan struct{}, owedAtOnce)
	for _, row := range rows {
		if o, is := row.Value.(ledger.OwedBody); !is || !a.owedDue(&o, self, now) {
			left++
			continue
		}
		room <- struct{}{}
		wait.Add(1)
		go func() {
			defer func() {
				<-room
				wait.Done()
			}()
			done, failed := a.judgeOne(ctx, row.Key)
			guard.Lock()
			defer guard.Unlock()
			err = errors.Join(err, failed)
			if !done {
				left++
			}
		}()
	}
	wait.Wait()
	return left, err
}

// owedDue reports whether this process is to ask about something now.
func (a *Judging) owedDue(o *ledger.OwedBody, self string, now time.Time) bool {
	if !now.Before(o.Until) {
		return true
	}
	if o.By != self && now.Sub(o.At) < owedHandover && !now.Before(o.At) {
		return false
	}
	a.Owing.Lock()
	defer a.Owing.Unlock()
	return !now.Before(a.Owing.tries[o.Event].next)
}

// judgeOne asks about one action that was let through, and reports whether it is owed no more. What is asked is read from the row as
// it is proved, and not from a list.
func (a *Judging) judgeOne(ctx context.Context, event string) (done bool, err error) {
	rows, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Owed, event))
	if err != nil {
		return false, err
	}
	var o ledger.OwedBody
	for _, row := range rows {
		o, done = row.Value.(ledger.OwedBody)
	}
	if !done {
		return true, nil // another process was there first
	}
	j := Consultation{}
	q, err := a.inquiryOf(&o)
	switch {
	case err != nil:
		return false, err
	case q == nil:
		j.Said = []interlock.Judgment{{Judge: o.Judge, Verdict: interlock.Deny, Failure: interlock.JudgeMissing}}
	default:
		j.want = q
		a.Consult(ctx, o.Requester, &j, errUnheard)
	}
	if ctx.Err() != nil {
		return false, ctx.Err() // the process ends, and the next one asks
	}
	now := a.Config.Now().UTC()
	failed := slices.ContainsFunc(j.Said, func(s interlock.Judgment) bool { return s.Failure != "" })
	j.reserved = a.tried(event, failed, j.reserved, now)
	if failed && now.Before(o.Until) {
		return false, nil
	}
	if err := a.answerOwed(ctx, &o, &j, failed); err != nil && !errors.Is(err, errAnswered) {
		return false, err
	}
	a.Owing.Lock()
	delete(a.Owing.tries, event)
	a.Owing.Unlock()
	return true, nil
}

// inquiryOf is the question about an action that was let through, under ground rules and model as they are now; nil where its judge is
// configured no longer.
func (a *Judging) inquiryOf(o *ledger.OwedBody) (*Inquiry, error) {
	for _, judge := range a.Config.Judges {
		if judge.Identity().Name != o.Judge {
			continue
		}
		q := &Inquiry{judges: []interlock.Judge{judge}, Action: o.Action, Impacts: o.Impacts,
			Asks: []interlock.JudgeQuestion{{Subject: interlock.JudgeAction, Payload: []byte(o.Payload), Class: o.Class}}}
		return q, q.name()
	}
	return nil, nil
}

// tried remembers that a judge was asked, and returns everything that asking it took from budgets so far.
func (a *Judging) tried(event string, failed bool, reserved []*reservation, now time.Time) []*reservation {
	a.Owing.Lock()
	defer a.Owing.Unlock()
	t := a.Owing.tries[event]
	t.reserved = append(t.reserved, reserved...)
	if failed {
		t.pause = min(max(2*t.pause, owedFirst), owedPause)
		t.next = now.Add(t.pause)
		if a.Owing.tries == nil {
			a.Owing.tries = map[string]owedTry{}
		}
		a.Owing.tries[event] = t
	}
	return t.reserved
}

// answerOwed records what a judge said of an action that was let through and, unless it allows it, takes back what can be taken back.
func (a *Judging) answerOwed(ctx context.Context, o *ledger.OwedBody, j *Consultation, unheard bool) error {
	record := auditlog.JudgedAfterRecord{Event: o.Event, Action: o.Action, Class: o.Class, Result: auditlog.JudgedAllow,
		Judgments: j.Said}
	switch {
	case unheard:
		record.Result = auditlog.JudgedUnheard
	case slices.ContainsFunc(j.Said, func(s interlock.Judgment) bool { return s.Verdict != interlock.Allow }):
		record.Result = auditlog.JudgedDeny
	}
	refs := []ledger.Ref{core.Key(ledger.Owed, o.Event)}
	scope, whose := heldFor(o.Requester)
	if record.Result != auditlog.JudgedAllow {
		record.Held, record.Undo = ledger.HoldName(scope, whose), a.undoing(ctx, o.Event)
		refs = append(refs, core.MoveRefs(record.Held)...)
	}
	_, err := a.CommitOn(ctx, false, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if _, still := standing.Others[ledger.Owed][o.Event]; !still {
			return change, errAnswered
		}
		now := a.Config.Now().UTC()
		if err := a.Append(&change, interlock.EventJudgedLate, o.Requester, "system", record); err != nil {
			return change, err
		}
		change.Writes = append(change.Writes, ledger.Ended(ledger.Owed, o.Event))
		change.Writes = append(change.Writes, a.JudgedRows(j, now)...)
		if record.Result == auditlog.JudgedAllow {
			return change, nil
		}
		code, says := lateAlert(o, &record)
		if err := a.Raise(&change, o.Requester, code, says); err != nil {
			return change, err
		}
		m := a.Containment.Moving(ctx, &change, standing, now)
		m.Tier = a.TierOver(record.Held, standing)
		m.Tighten(containment.Tightening{Scope: scope, Key: whose, To: phase.Alternate, Trigger: phase.TriggerJudge,
			Why: lateReason(&record)}, nil)
		return change, m.Done(interlock.Requester{Agent: "interlock"})
	})
	if err == nil {
		a.Owing.count(record.Result)
	}
	return err
}

// heldFor is what is held because of an action: its run, and where it names none, or a name that can't be held, its agent. Else an agent
// would only have to leave the name out.
func heldFor(r interlock.Requester) (ledger.HoldScope, string) {
	if _, _, ok := ledger.Actors(ledger.HoldName(ledger.HoldRun, r.Run)); ok && r.Run != "" {
		return ledger.HoldRun, r.Run
	}
	return ledger.HoldAgent, r.Agent
}

// lateReason says why something is held, without anything of an action.
func lateReason(r *auditlog.JudgedAfterRecord) string {
	if r.Result == auditlog.JudgedUnheard {
		return "no judge could be heard in time about an action that was let through (event " + r.Event + ")"
	}
	for n := range r.Judgments {
		if s := &r.Judgments[n]; s.Verdict != interlock.Allow {
			return fmt.Sprintf("the judge denies by %.64s, layer %d, an action that was let through (event %s)", s.Rule, s.Layer, r.Event)
		}
	}
	return "the judge denies an action that was let through (event " + r.Event + ")"
}

// lateAlert is what people are told.
func lateAlert(o *ledger.OwedBody, r *auditlog.JudgedAfterRecord) (code, says string) {
	code = "judge-denied-after"
	if r.Result == auditlog.JudgedUnheard {
		code = "judge-unheard-after"
	}
	says = lateReason(r) + "; it is of the class " + o.Class + ", and " + r.Held + " is in phase A"
	switch {
	case r.Undo == nil:
		says += "; see what has to be undone: interlock rollback plan --event " + r.Event
	case r.Undo.Steps > 0:
		says += fmt.Sprintf("; %d steps would undo it, %d of them by people: interlock rollback begin --event %s --reason TEXT",
			r.Undo.Steps, r.Undo.Open, r.Event)
	default:
		says += "; nothing of it ran as far as is known"
	}
	return code, says
}

// undoing works out what would have to be undone of an action and of what came of it. That it can't be found out keeps nobody from
// holding what is held.
func (a *Judging) undoing(ctx context.Context, event string) *auditlog.UndoProposed {
	if a.Config.Planner == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, owedPlanned)
	defer cancel()
	plan, err := a.Config.Planner(ctx, dataflow.Seed{Event: event}, 0, a.Active.Load().Rules)
	if err != nil {
		return nil
	}
	digest, err := plan.Digest()
	if err != nil {
		return nil
	}
	u := &auditlog.UndoProposed{Plan: digest, Size: plan.Size, Steps: len(plan.Steps), Open: plan.Open(), Agents: []string{}}
	for n := range plan.Steps {
		if s := &plan.Steps[n]; s.Itself {
			u.How = string(s.Undo) + ", by " + s.By + ": " + a.Redact(s.How)
		}
	}
	for _, one := range plan.Agents[:min(len(plan.Agents), 16)] {
		u.Agents = append(u.Agents, one.Agent)
	}
	return u
}
