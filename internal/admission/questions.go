package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// questionLooks are of questions to people.
var questionLooks = []look{
	{after: (*pendingDecision).councilRefs},
	{writes: (*pendingDecision).closeRequests},
}

// asksWithin is the time within which an agent's new questions are counted.
const asksWithin = time.Hour

// asks reports whether a decision puts a question to the operators; one that is answered already does not.
func asks(d interlock.Decision) bool {
	return d.Verdict == interlock.Ask && d.Mode == interlock.Enforcing && d.Approval == "" && d.Grant == ""
}

// asksAnew reports whether a decision puts a question that does not wait already. A paused agent opens no further ones.
func (d *pendingDecision) asksAnew() bool {
	return asks(d.made.Decision) && (d.Loop == nil || d.Loop.Verifying == "") && joined(d.Requester, d.standing, d.made.Decision,
		d.now) == ""
}

// countQuestions counts those that an agent has put lately which is about to put another.
func (d *pendingDecision) countQuestions(ctx context.Context) (err error) {
	if most := d.a.Config.MaxQuestions; most > 0 && d.asksAnew() {
		d.asked, err = d.a.Config.Store.Count(ctx, core.Under(ledger.Request, ledger.By(d.Requester.Agent, d.Requester.Principal)),
			ledger.From(d.now.Add(-asksWithin).UnixNano()+1, most))
	}
	return err
}

// questions objects to one more question of an agent that has asked its operators more than they can think about: people who
// are asked too often say yes. The same question asked again joins the one that waits and is no new one.
func (d *pendingDecision) questions() []interlock.Finding {
	if d.a.Config.MaxQuestions <= 0 || !d.asksAnew() {
		return nil
	}
	waiting := 0
	for _, r := range d.standing.Requests {
		if r.Status == interlock.RequestPending && d.now.Before(r.Expires) && r.Requester.Agent == d.Requester.Agent &&
			r.Requester.Principal == d.Requester.Principal {
			waiting++
		}
	}
	if max(waiting, d.asked) < d.a.Config.MaxQuestions {
		return nil
	}
	return []interlock.Finding{{Gate: "limit", Rule: "limit.questions", Layer: 3, Verdict: interlock.Deny,
		Reason:     "this agent has put as many questions to its operators as they are given within an hour",
		Suggestion: "go on with what needs no answer, or wait"}}
}

// joined finds the pending request that asks exactly this already; of several, which only two processes at once can make,
// the one whose id comes first.
func joined(by interlock.Requester, standing ledger.Standing, d interlock.Decision, now time.Time) string {
	first := ""
	for id, r := range standing.Requests {
		if r.Action == d.Action && r.Ruleset == d.Ruleset && r.Status == interlock.RequestPending && now.Before(r.Expires) &&
			r.Requester.Agent == by.Agent && r.Requester.Principal == by.Principal &&
			(first == "" || id < first) {
			first = id
		}
	}
	return first
}

// Where a harness asks its own user, the question is over when the call has run or when its run has gone on to something else,
// and nobody is to be asked about it any more. Harnesses report no refusals, so that going on is all that shows one.

// asksItsUser reports whether the door puts the question of a decision to the user who sits before it: a hook whose harness asks,
// unless the question wants more than that user's yes.
func asksItsUser(p *Case, d interlock.Decision) bool {
	return p.Door == "hook" && p.CanAsk && d.Answer == interlock.Ask && !p.Handover.Hands(d) && !d.BeyondPrompt()
}

// closeRequests adds to a change the end of the requests that are over: one that is overdue where another is opened, so that they
// don't pile up where no server does it, and those that the action has gone past.
func (d *pendingDecision) closeRequests() error {
	if d.opened != nil && len(d.overdueAsks) > 0 {
		if err := d.a.ExpireRequest(&d.change, d.overdueAsks[0], d.now); err != nil {
			return err
		}
	}
	return d.a.WentOn(&d.change, core.Besides(core.PassedBy(d.Requester, false, d.standing, d.now), d.answer.Request), d.now)
}

// warn raises an alert where what a decision took has brought the use of a limit to where somebody is to be told. How much it
// came to is what the store's own transaction made of it, so that of many decisions at once one tells. The answer does not wait
// on it: whatever keeps it from being recorded, the action is let through.
func (a *Admission) warn(ctx context.Context, p *Case, left []ledger.Row, now time.Time) {
	for _, u := range p.using {
		if u.Limit == nil || u.Limit.WarnAt == 0 || u.Taken.Monitored {
			continue
		}
		for _, row := range left {
			body, is := row.Value.(ledger.UsageBody)
			if !is || row.Key != u.Key {
				continue
			}
			used, at := body.Used(u.Window, now), u.Limit.WarnAt.Of(u.Limit.Most)
			if used >= at && used-u.Take < at {
				a.Warned(ctx, p.Requester, u.Limit.ID, u.Limit.WarnAt.String())
			}
		}
	}
}

// Expire records of every request whose time has passed that nobody answered it, or that nobody used the answer. It changes
// no decision, because a request's time is looked at wherever the request is used; without it the log would not say how a
// request ended, and the store would carry it along for ever. It does the same for challenges that paused an agent, for
// phases that have become stricter because nobody resolved them, and for messages that nobody has received, for agents that
// were lost, and for what has healed. It returns how
// many it recorded.
func (a *Admission) Expire(ctx context.Context) (int, error) {
	now, recorded := a.Config.Now().UTC(), 0
	late, err := a.Overdue(ctx, now, core.MaxAtOnce)
	if err != nil {
		return 0, err
	}
	core.SortRequests(late)
	for _, request := range late {
		change := ledger.Change{}
		if err := a.ExpireRequest(&change, request, now); err != nil {
			return recorded, err
		}
		_, err := a.Config.Store.Commit(ctx, change)
		if errors.Is(err, ledger.ErrConflict) {
			continue // another process was first
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	lapsed, err := a.Lapse(ctx, now)
	if err != nil {
		return recorded + lapsed, err
	}
	recorded += lapsed
	for _, look := range []func(context.Context, time.Time) (int, error){a.ProposalDue, a.LoseSilent, a.MoveDue,
		a.PauseDue, a.HealDue, a.CountDue, a.ExpireMessages, a.EndFacts, a.Remind, a.TellSafety,
		func(ctx context.Context, _ time.Time) (int, error) { return a.Oversee(ctx) }} {
		moved, err := look(ctx, now)
		if recorded += moved; err != nil {
			return recorded, err
		}
	}
	return recorded, nil
}

// councilRefs names the operators, where a decision asks the council.
func (d *pendingDecision) councilRefs() []ledger.Ref {
	if !asks(d.made.Decision) || !d.made.Owes(interlock.ObligationCouncil) {
		return nil
	}
	return []ledger.Ref{core.Under(ledger.Operator, ledger.All)}
}

// seatCouncil gives a question that takes the council its ballot. Where too few are in office it has none, and nobody can answer
// it.
func (d *pendingDecision) seatCouncil(r *interlock.ApprovalRequest) error {
	if !r.Owes(interlock.ObligationCouncil) {
		return nil
	}
	terms := d.a.Council()
	within := slices.ContainsFunc(r.Obligations, func(o interlock.Obligation) bool { return o.Type == interlock.ObligationWithin })
	if late := r.Created.Add(terms.Timeout); !within && r.Review == "" && r.Expires.Before(late) {
		r.Expires = late
	}
	ballot, err := quorum.NewBallot(interlock.ApprovalCouncil, quorum.OfRequest(*r), terms, d.ground.Operators, d.standing.Agents)
	if err != nil {
		return nil // it has no ballot, and waits for nobody
	}
	if r.Expires.Before(ballot.Closes) {
		ballot.Closes = r.Expires
	}
	r.Ballot = &ballot
	return nil
}
