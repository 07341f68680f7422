package governance

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// override carries out what a superadmin and an admin have ordered together, and has the council review it.
func (a *Governance) override(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	r.By = c.Operator
	if err := a.goes(&c.Change, r, interlock.ActionExecuting, "", c.Operator, nil); err != nil {
		return err
	}
	if err := a.effect(ctx, c, r); err != nil || r.Status != interlock.ActionExecuted {
		return err
	}
	record := actionRecord(*r)
	record.To, record.Why, record.Signers, record.Overrides = r.Status, r.Justification, r.Ballot.Votes, r.ID
	if err := a.Append(&c.Change, interlock.EventOverride, inRequest(*r, c.Operator), "operator", record); err != nil {
		return err
	}
	return a.reviewed(c, r, "an emergency override", "emergency-override", r.Action.Type+" on "+r.Action.Target+
		" by a superadmin and an admin")
}

// reviewed has the council look at an override afterwards, and tells people what was overridden.
func (a *Governance) reviewed(c *core.PendingOrder, r *interlock.ActionRequest, of, alarm, says string) error {
	review, err := a.reviewOf(c, r, of)
	if err != nil {
		return err
	}
	if err := a.asked(&c.Change, review, "system", nil); err != nil {
		return err
	}
	pending := actionRecord(review)
	pending.To, pending.Why, pending.Overrides = interlock.ActionPending, "until "+review.Expires.UTC().Format(time.RFC3339), r.ID
	if err := a.Append(&c.Change, interlock.EventReview, inRequest(review, "interlock"), "system", pending); err != nil {
		return err
	}
	return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, alarm,
		says+"; the council reviews it: interlock request show "+review.ID)
}

// reviewOf is the request by which the council looks at an override. Where too few are in office nobody can vote on it, and it is late
// in the end: what an override stops, stays stopped all the same.
func (a *Governance) reviewOf(c *core.PendingOrder, r *interlock.ActionRequest, of string) (interlock.ActionRequest, error) {
	var by []string
	for _, v := range signers(r.Ballot) {
		by = append(by, v.Operator)
	}
	review, err := a.ask(&c.Standing, quorum.ActReview, RequestTerms{Target: r.ID, Evidence: by},
		"mandatory review of "+of, interlock.Requester{Agent: "interlock", Principal: "interlock"}, "system", c.Now)
	var seated *interlock.Error
	if err != nil && !(errors.As(err, &seated) && seated.Field == "roster") {
		return review, err
	}
	review.Review = r.ID
	review.Expires = review.Created.Add(a.Council().Review)
	review.Ballot.Closes = review.Expires
	review.Display = DisplayAction(review)
	return review, nil
}

// ratify takes note that the council upholds an override. What it has stopped is cleared by a request of its own.
func (a *Governance) ratify(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	return a.endReview(&c.Change, c.Standing, r, "ratified", c.Operator)
}

// endReview records how a review ended, and that the signers of the override may give another one.
func (a *Governance) endReview(change *ledger.Change, standing ledger.Standing, r *interlock.ActionRequest, how,
	by string) error {
	for _, name := range slices.Sorted(maps.Keys(standing.Others[ledger.ActionRequest])) {
		late, _ := standing.Action(name)
		if late.Overdue && late.Review == r.Action.Target && late.ID != r.ID {
			late.Overdue = false
			change.Writes = append(change.Writes, ledger.Rows(late)...)
		}
	}
	record := actionRecord(*r)
	record.Why, record.Overrides = how, r.Action.Target
	return a.Append(change, interlock.EventReview, inRequest(*r, by), "council", record)
}

// unreviewed records that a review has ended without the council standing by the override: it was rejected, or nobody looked at it in
// time. What was stopped stays stopped; who signed an override that nobody has looked at gives no further one.
func (a *Governance) unreviewed(change *ledger.Change, standing *ledger.Standing, r *interlock.ActionRequest) error {
	if err := a.takeBack(change, standing, r); err != nil {
		return err
	}
	record := actionRecord(*r)
	record.Why, record.Overrides = "rejected", r.Review
	if r.Status == interlock.ActionRejected {
		return a.Append(change, interlock.EventReview, inRequest(*r, "council"), "council", record)
	}
	r.Overdue, record.Why = true, "nobody has reviewed it in time"
	if err := a.Append(change, interlock.EventReviewOverdue, inRequest(*r, "interlock"), "system", record); err != nil {
		return err
	}
	return a.Raise(change, interlock.Requester{Agent: "interlock"}, "emergency-review-overdue",
		"the override "+r.Review+" was not reviewed in time; what it stopped stays stopped, what it set aside is not, and who signed it "+
			"gives no further one")
}

// CountDue counts the votes on what nobody may vote on any more, and ends what is approved and was not carried out in time.
func (a *Governance) CountDue(ctx context.Context, now time.Time) (int, error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.ActionRequest, ledger.ActionDue),
		ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	done := 0
	for _, row := range rows {
		ended, err := a.endDue(ctx, row.Key, now)
		if err != nil {
			return done, err
		}
		done += ended
	}
	questions, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Request, ledger.BallotDue),
		ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	for _, row := range questions {
		ended, err := a.countQuestion(ctx, row.Key, now)
		if err != nil {
			return done, err
		}
		done += ended
	}
	return done, err
}

func (a *Governance) endDue(ctx context.Context, id string, now time.Time) (int, error) {
	on := a.asking(append(silent(), core.Key(ledger.ActionRequest, id)), func(s ledger.Standing) interlock.Requester {
		r, _ := s.Action(id)
		return r.Requester
	})
	_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		r, known := standing.Action(id)
		var err error
		switch {
		case !known || now.Before(r.Ballot.Closes) && now.Before(r.Expires):
			return change, core.ErrUnchanged
		case r.Status == interlock.ActionPending:
			count := quorum.CountBallot(quorum.OfAction(r), r.Ballot, standing.Operators, standing.Agents, a.Config.Verify, now)
			if count.Status == interlock.ActionPending {
				count.Status = interlock.ActionExpired
			}
			err = a.decided(&change, &standing, &r, count, now, "interlock")
		case now.Before(r.Expires):
			return change, core.ErrUnchanged
		case r.Status == interlock.ActionApproved:
			err = a.goes(&change, &r, interlock.ActionInvalidated, "nobody carried it out in time", "interlock", nil)
		case r.Status == interlock.ActionExecuting:
			err = a.goes(&change, &r, interlock.ActionFailed, "UNKNOWN_OUTCOME: nobody has said how it ended", "interlock", nil)
		default:
			return change, core.ErrUnchanged
		}
		change.Writes = append(change.Writes, ledger.Rows(r)...)
		return change, err
	})
	if errors.Is(err, core.ErrUnchanged) {
		return 0, nil
	}
	return 1, err
}

// asking is the ground of counting votes when the time for them is over: what refs name, and of who asks whose agent it is, since its
// owner has no vote, and how it does, which is another thing after that.
func (a *Governance) asking(refs []ledger.Ref, who func(ledger.Standing) interlock.Requester) core.RowLoader {
	return func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		g, err := a.Rows(refs...)(ctx, load)
		agent := who(g.Standing).Agent
		if err != nil || agent == "" {
			return g, err
		}
		more := []ledger.Ref{core.Key(ledger.Agent, agent), core.Key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, agent)),
			core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, agent))}
		g.Reads = append(g.Reads, more...)
		return g, a.Extend(ctx, load, &g, new(core.Names), more)
	}
}

func (a *Governance) countQuestion(ctx context.Context, id string, now time.Time) (int, error) {
	on := a.asking(append(everybody(), core.Key(ledger.Request, id)), func(s ledger.Standing) interlock.Requester {
		return s.Requests[id].Requester
	})
	_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		r, known := standing.Requests[id]
		if !known || r.Ballot == nil || r.Status != interlock.RequestPending || now.Before(r.Ballot.Closes) {
			return change, core.ErrUnchanged
		}
		count := quorum.CountBallot(quorum.OfRequest(r), *r.Ballot, standing.Operators, standing.Agents, a.Config.Verify, now)
		if count.Status == interlock.ActionPending {
			count.Status = interlock.ActionExpired
		}
		return change, a.answerByCouncil(&change, r, count, now, &core.Carried{})
	})
	if errors.Is(err, core.ErrUnchanged) {
		return 0, nil
	}
	return 1, err
}

func readIntake(interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Hold, ledger.IntakeName)}
}

// findIntake refuses orders about anything else than intake, and those that would change nothing.
func findIntake(c *core.PendingOrder) error {
	_, paused := c.Standing.Others[ledger.Hold][ledger.IntakeName]
	switch {
	case c.Subject != interlock.PauseSubject:
		return interlock.Errorf(interlock.CodeInvalid, "subject", "only %s is paused; this names %.40q", interlock.PauseSubject, c.Subject)
	case c.Verb == interlock.VerbPause && paused:
		return interlock.Errorf(interlock.CodeConflict, "subject", "it is paused already")
	case c.Verb == interlock.VerbResume && !paused:
		return interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is paused")
	}
	return nil
}

// pauseIntake lets no agent begin anything. What is let through already goes on to its end.
func (a *Governance) pauseIntake(_ context.Context, c *core.PendingOrder) error {
	kept := a.OrderKept(c.Order)
	h := ledger.HoldBody{Scope: ledger.HoldSystem, Key: ledger.HoldIntake, Cause: interlock.EventPause, Why: kept.Reason,
		Since: c.Now.Truncate(time.Microsecond), Order: c.ID}
	c.Change.Writes = []ledger.Row{h.Row()}
	if err := a.Append(&c.Change, interlock.EventPause, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Order: &kept}); err != nil {
		return err
	}
	return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "pause",
		"intake is paused by order of "+c.Operator+": "+strings.TrimSpace(h.Why))
}

func (a *Governance) resumeIntake(_ context.Context, c *core.PendingOrder) error {
	h, _ := c.Standing.Others[ledger.Hold][ledger.IntakeName].(ledger.HoldBody)
	kept := a.OrderKept(c.Order)
	c.Change.Writes = []ledger.Row{ledger.Ended(ledger.Hold, h.Name())}
	return a.Append(&c.Change, interlock.EventResume, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Order: &kept})
}
