package ledger

import (
	"math"
	"time"

	"interlock"
)

// ActionIs is the mark of the action requests that have a status.
func ActionIs(status interlock.ActionStatus) string { return "is\x00" + string(status) }

// ActionFor is the mark of the action requests for one action that have not ended.
func ActionFor(digest interlock.Digest) string { return "for\x00" + string(digest) }

// ActionBy is the mark of the action requests of one requester that have not ended.
func ActionBy(agent string) string { return "by\x00" + agent }

// ActionDue is the mark of the action requests that something becomes of at a time although nobody does anything.
const ActionDue = "due"

// ActionReviews is the mark of the reviews of emergency overrides that are late, by who gave the override.
func ActionReviews(operator string) string { return "late\x00" + operator }

// ActionReviewOf is the mark of the reviews of one emergency override.
func ActionReviewOf(override string) string { return "review\x00" + override }

// BallotDue is the mark of the approval requests whose votes are counted at a time.
const BallotDue = "ballot"

func actionMarks(r interlock.ActionRequest) []Mark {
	at := nano(r.Created)
	marks := under(at, "every", ActionIs(r.Status))
	if !r.Status.Ended() {
		marks = appendMarks(marks, at, All, ActionFor(r.Digest), ActionBy(r.Requester.Agent))
		due := r.Expires
		if r.Status == interlock.ActionPending && r.Ballot.Closes.Before(due) {
			due = r.Ballot.Closes
		}
		marks = appendMarks(marks, nano(due), ActionDue)
	}
	if r.Review != "" {
		marks = appendMarks(marks, at, ActionReviewOf(r.Review))
	}
	if r.Overdue {
		for _, name := range r.Evidence {
			marks = appendMarks(marks, at, ActionReviews(name))
		}
	}
	return marks
}

// actionNext holds every request to the ways between its statuses, and keeps what people vote on as it was when they were asked. It is
// looked at where the row is written, so that of two processes that begin to carry the same out one does.
func actionNext(was, is interlock.ActionRequest, there bool, _ time.Time) error {
	// what Interlock does itself begins and ends in one change, an emergency's votes included; its events say each step
	whole := is.Status.Ended() && (was.Status == interlock.ActionApproved ||
		was.Status == interlock.ActionPending && was.Class == 4 && is.Status != interlock.ActionInvalidated)
	if was.Status == is.Status && !was.Status.Ended() || was.Status.Leads(is.Status) || whole ||
		was.Status == is.Status && was.Overdue != is.Overdue {
		if !there || was.Digest == is.Digest && was.Ballot.Hash == is.Ballot.Hash && len(is.Ballot.Votes) >= len(was.Ballot.Votes) &&
			was.Expires.Equal(is.Expires) && was.Display == is.Display {
			return nil
		}
		return moved(ActionRequest, "what was asked for can't become something else")
	}
	return moved(ActionRequest, "it is "+string(was.Status)+" and can't be "+string(is.Status))
}

// Action is an action request in a standing.
func (s *Standing) Action(id string) (interlock.ActionRequest, bool) {
	r, ok := s.Others[ActionRequest][id].(interlock.ActionRequest)
	return r, ok
}

// EveryAction finds all action requests, those that have ended too, the newest first.
func EveryAction(limit int) (Ref, Span) {
	return Ref{Kind: ActionRequest, Mark: "every"}, Span{From: math.MinInt64, UpTo: math.MaxInt64, Limit: limit}
}
