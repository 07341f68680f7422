package admission

import (
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// councilRefs names the operators, where a decision asks the council.
func (d *pendingDecision) councilRefs() []ledger.Ref {
	if !asks(d.made.Decision) || !d.made.Owes(interlock.ObligationCouncil) {
		return nil
	}
	return []ledger.Ref{core.Under(ledger.Operator, ledger.All)}
}

// seatCouncil gives a question that takes the council its ballot. Where too few are in office it has none, and nobody can answer it.
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
