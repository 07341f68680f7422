package governance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

func readVoted(o interlock.Order) []ledger.Ref {
	return append(silent(), core.Key(ledger.ActionRequest, o.Subject), core.Key(ledger.Request, o.Subject),
		core.Under(ledger.ActionRequest, ledger.ActionReviews(o.Operator)))
}

// findVoted finds what a vote is about: a request for an act of governance, or a question of an agent's that takes the council.
func findVoted(c *core.PendingOrder) error {
	if r, is := c.Standing.Action(c.Subject); is {
		if r.Status != interlock.ActionPending {
			return interlock.Errorf(interlock.CodeConflict, "request", "the request is %s already", r.Status)
		}
		c.About = quorum.OfAction(r).Requester
		return nil
	}
	r, is := c.Standing.Requests[c.Subject]
	switch {
	case !is:
		return interlock.Errorf(interlock.CodeNotFound, "request", "no request with this id waits; `interlock request list` shows them")
	case r.Ballot == nil:
		return interlock.Errorf(interlock.CodeConflict, "request", "this request does not take votes; `interlock approve` answers it")
	case r.Status != interlock.RequestPending:
		return interlock.Errorf(interlock.CodeConflict, "request", "the request is %s already", r.Status)
	case !c.Now.Before(r.Expires):
		return interlock.Errorf(interlock.CodeExpired, "request", "the request has expired; propose the action again")
	}
	c.About = r.Requester
	return nil
}

// vote puts a vote on a ballot, and does what comes of it.
func (a *Governance) vote(ctx context.Context, c *core.PendingOrder) error {
	if a.Redact(c.Reason) != c.Reason {
		return interlock.Errorf(interlock.CodeInvalid, "reason", "holds a secret, and a vote stays as it was signed; say it without")
	}
	if r, is := c.Standing.Action(c.Subject); is {
		return a.voteAction(ctx, c, r)
	}
	return a.voteRequest(c, c.Standing.Requests[c.Subject])
}

func cast(c *core.PendingOrder, a *Governance, q quorum.Question, b *interlock.Ballot) (quorum.Count, error) {
	if err := quorum.CheckVote(q, *b, c.Order, c.Standing.Operators, c.Standing.Agents, c.Now); err != nil {
		return quorum.Count{}, err
	}
	b.Votes = append(slices.Clone(b.Votes), c.Order)
	return quorum.CountBallot(q, *b, c.Standing.Operators, c.Standing.Agents, a.Config.Verify, c.Now), nil
}

func voted(c *core.PendingOrder, a *Governance, record auditlog.ActionRecord, count quorum.Count, in interlock.Requester) error {
	v, _ := quorum.VoteOf(c.Order)
	record.Vote, record.Why, record.Display, record.Hash = v.Vote, c.Reason, v.Display, v.Roster
	record.Approve, record.Reject, record.Abstain, record.Outstanding = count.Approve, count.Reject, count.Abstain, count.Outstanding()
	record.Order = &c.Order
	return a.Append(&c.Change, interlock.EventVote, in, "operator", record)
}

func (a *Governance) voteAction(ctx context.Context, c *core.PendingOrder, r interlock.ActionRequest) error {
	if (r.Ballot.Approval == interlock.ApprovalDual || r.Action.Type == quorum.ActOverride) && owesReview(c) {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator",
			"an override of this operator's was not reviewed in time; the council reviews it first (%s)", quorum.ActReview)
	}
	count, err := cast(c, a, quorum.OfAction(r), &r.Ballot)
	if err != nil {
		return err
	}
	if err := voted(c, a, actionRecord(r), count, inRequest(r, c.Operator)); err != nil {
		return err
	}
	if count.Status != interlock.ActionPending {
		if err := a.decided(&c.Change, &c.Standing, &r, count, c.Now, c.Operator); err != nil {
			return err
		}
		if r.Class == 4 && r.Status == interlock.ActionApproved {
			if err := a.override(ctx, c, &r); err != nil {
				return err
			}
		}
	}
	c.Done.Request = r
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(r)...)
	return nil
}

// owesReview reports whether an override of this operator's was not reviewed in time.
func owesReview(c *core.PendingOrder) bool {
	for name := range c.Standing.Others[ledger.ActionRequest] { // order-independent: any
		if late, _ := c.Standing.Action(name); late.Overdue && slices.Contains(late.Evidence, c.Operator) {
			return true
		}
	}
	return false
}

// decided takes a request to what its votes come to.
func (a *Governance) decided(change *ledger.Change, standing *ledger.Standing, r *interlock.ActionRequest, count quorum.Count,
	now time.Time, by string) error {
	why := fmt.Sprintf("%d approve, %d reject, %d abstain, of %d with a quorum of %d", count.Approve, count.Reject, count.Abstain,
		len(r.Ballot.Roster), r.Ballot.Quorum)
	if count.Status == interlock.ActionApproved {
		if r.After = now; r.Ballot.Approval == interlock.ApprovalNotify {
			r.After = now.Add(a.Council().Wait)
		}
	}
	if err := a.goes(change, r, count.Status, why, by, nil); err != nil {
		return err
	}
	if err := a.learns(change, standing, r); err != nil {
		return err
	}
	if r.Review != "" && r.Status != interlock.ActionApproved {
		return a.unreviewed(change, standing, r)
	}
	return nil
}

// goes takes a request from one status to another, with the event that says so.
func (a *Governance) goes(change *ledger.Change, r *interlock.ActionRequest, to interlock.ActionStatus, why, by string,
	order *interlock.Order) error {
	if !r.Status.Leads(to) {
		return interlock.Errorf(interlock.CodeConflict, "request", "the request is %s and can't be %s", r.Status, to)
	}
	record := actionRecord(*r)
	record.From, record.To, record.Why, record.Order = r.Status, to, why, order
	if r.Status = to; to.Ended() {
		r.Why = why
	}
	kind, role := interlock.EventActionStatus, "system"
	if order != nil {
		role = "operator"
	}
	if to == interlock.ActionExecuted {
		kind = interlock.EventExecuted
	}
	return a.Append(change, kind, inRequest(*r, by), role, record)
}

// voteRequest puts a vote on a question of an agent's.
func (a *Governance) voteRequest(c *core.PendingOrder, r interlock.ApprovalRequest) error {
	ballot := *r.Ballot
	r.Ballot = &ballot
	count, err := cast(c, a, quorum.OfRequest(r), &ballot)
	if err != nil {
		return err
	}
	record := auditlog.ActionRecord{Request: r.ID, Digest: r.Action, Class: 3, Approval: ballot.Approval,
		Action: interlock.GovernedAction{Type: "agent_action", Target: r.Requester.Agent}}
	if err := voted(c, a, record, count, interlock.Requester{Agent: c.Operator, Run: "request:" + r.ID}); err != nil {
		return err
	}
	c.Done.Question = r
	return a.answerByCouncil(&c.Change, r, count, c.Now, &c.Done)
}

// answerByCouncil writes a question with its votes, and the answer where they come to one.
func (a *Governance) answerByCouncil(change *ledger.Change, r interlock.ApprovalRequest, count quorum.Count, now time.Time,
	done *core.Carried) error {
	verdict := interlock.Deny
	switch count.Status {
	case interlock.ActionPending:
		change.Writes = append(change.Writes, ledger.Rows(r)...)
		return nil
	case interlock.ActionExpired:
		done.Question.Status = interlock.RequestExpired
		return a.ExpireRequest(change, r, now)
	case interlock.ActionApproved:
		verdict = interlock.Allow
	}
	approval := interlock.Approval{Request: r.ID, Verdict: verdict, Method: interlock.MethodCouncil, At: now,
		Reason: fmt.Sprintf("%d approve, %d reject, %d abstain", count.Approve, count.Reject, count.Abstain)}
	first := r.First
	r.First = &approval // so that two people's yes is the council's
	answered := r.Answered(approval)
	answered.First = first
	done.Question = answered
	payload, err := auditlog.ApprovalRecord{Request: r, Approval: approval, Proved: interlock.MethodCouncil}.Payload()
	if err != nil {
		return fmt.Errorf("encoding the approval: %w", err)
	}
	draft, err := a.Draft(interlock.EventApproval, r.Requester, "council", payload)
	if err != nil {
		return err
	}
	draft.Actor = "council"
	change.Events = append(change.Events, draft)
	change.Writes = slices.Concat(change.Writes, ledger.Rows(answered), core.UsesAnswered(answered))
	return nil
}

func readAction(o interlock.Order) []ledger.Ref {
	return append(silent(), core.Key(ledger.ActionRequest, o.Subject))
}

func findAction(c *core.PendingOrder) error {
	if _, is := c.Standing.Action(c.Subject); !is {
		return interlock.Errorf(interlock.CodeNotFound, "request", "no request has this id; `interlock request list` shows them")
	}
	return nil
}

// withdraw takes a request back for who made it.
func (a *Governance) withdraw(_ context.Context, c *core.PendingOrder) error {
	r, _ := c.Standing.Action(c.Subject)
	if r.Origin != "operator" || !strings.EqualFold(r.Requester.Agent, c.Operator) {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator", "only who asked takes a request back; vote to reject it")
	}
	kept := a.OrderKept(c.Order)
	if err := a.goes(&c.Change, &r, interlock.ActionWithdrawn, kept.Reason, c.Operator, &kept); err != nil {
		return err
	}
	c.Done.Request = r
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(r)...)
	return nil
}
