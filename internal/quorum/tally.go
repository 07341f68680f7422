package quorum

import "interlock"

// Votes are how a roster has voted so far.
type Votes struct {
	Roster, Quorum           int
	Approve, Reject, Abstain int
}

// Outstanding is how many may still vote.
func (v Votes) Outstanding() int { return max(0, v.Roster-v.Approve-v.Reject-v.Abstain) }

// Tally says what votes come to: pending, approved, rejected or expired. A vote closes early only where nothing outstanding can change
// what it comes to. Abstentions do not count towards the quorum, a tie rejects, and a quorum that is out of reach expires at once.
func Tally(v Votes, closed bool) interlock.ActionStatus {
	counted, open := v.Approve+v.Reject, v.Outstanding()
	if v.Quorum < 1 { // what can't be, approves nothing
		return interlock.ActionRejected
	}
	switch {
	case counted+open < v.Quorum:
		return interlock.ActionExpired
	case counted >= v.Quorum && v.Approve > v.Reject+open:
		return interlock.ActionApproved
	case counted >= v.Quorum && v.Reject >= v.Approve+open:
		return interlock.ActionRejected
	case !closed:
		return interlock.ActionPending
	case counted < v.Quorum:
		return interlock.ActionExpired
	case v.Approve > v.Reject:
		return interlock.ActionApproved
	}
	return interlock.ActionRejected
}

// tallyPair is what a superadmin and an admin come to, who are two people: one no is a no.
func tallyPair(superadmins, admins, rejects int, closed bool) interlock.ActionStatus {
	switch {
	case rejects > 0:
		return interlock.ActionRejected
	case superadmins > 0 && admins > 0:
		return interlock.ActionApproved
	case closed:
		return interlock.ActionExpired
	}
	return interlock.ActionPending
}
