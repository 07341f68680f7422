package governance

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Setting aside a safety rule for an urgent job is the one override that loosens (MACE safety boundaries 11). It is an order that keeps
// one rule silent as an operator's does, see suppress.go, with three differences: a quorum of the council gives it, or a superadmin with
// an admin; its scope is one run of one agent; and the council reviews it afterwards.

// settable refuses a request to set a rule aside that could not be carried out, before anybody votes on it.
func (a *Governance) settable(r interlock.ActionRequest, now time.Time) error {
	if r.Action.Type != quorum.ActOverride {
		return nil
	}
	s, err := quorum.OverrideOf(r, "", now)
	if err == nil {
		_, err = a.Active.Load().Rules.Suppressible(s.Rule)
	}
	return err
}

// setAside keeps one rule silent in one job. The row holds the votes, so that each use of it holds them to their signatures again.
func (a *Governance) setAside(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	if err := a.settable(*r, c.Now); err != nil {
		return err
	}
	s, err := quorum.OverrideOf(*r, c.Operator, c.Now.Truncate(time.Microsecond))
	if err != nil {
		return err
	}
	if due := s.Created.Add(a.Council().Review); due.Before(s.Expires) { // it has ended before its review can be late
		s.Expires = due
	}
	if _, taken := c.Standing.Suppressions[s.ID]; taken || live(c.Standing, c.Now) >= core.MaxSuppressions {
		return interlock.Errorf(interlock.CodeConflict, "params", "%d rules are kept silent already; lift one first", core.MaxSuppressions)
	}
	if err := quorum.OfSuppression(s).Counts(c.Standing.Operators, c.Standing.Agents, a.Config.Verify, c.Now); err != nil {
		return err
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(s)...)
	record := actionRecord(*r)
	record.To, record.Why, record.Overrides, record.Signers = interlock.ActionExecuted, r.Justification, r.ID, signers(r.Ballot)
	s.Override = nil
	record.Sets = &s
	if err := a.Append(&c.Change, interlock.EventSafetyOverride, inRequest(*r, c.Operator), "operator", record); err != nil {
		return err
	}
	return a.reviewed(c, r, "a safety override", "safety-override",
		"the rule "+s.Rule+" is set aside for "+s.Agent+" in the run "+s.Run+" until "+s.Expires.UTC().Format(time.RFC3339))
}

// signers are the votes by which something was approved, each with its own signature. What was signed follows from the rest of a vote
// and is in the event of each: so many as may vote fit into one event.
func signers(b interlock.Ballot) []interlock.Order {
	votes := slices.DeleteFunc(slices.Clone(b.Votes), func(o interlock.Order) bool {
		v, err := quorum.VoteOf(o)
		return err != nil || v.Vote != quorum.VoteApprove
	})
	for n := range votes {
		votes[n].Statement = ""
	}
	return votes
}

// takeBack ends what a safety override has set aside, where it still is, because the council does not stand by it.
func (a *Governance) takeBack(change *ledger.Change, standing *ledger.Standing, r *interlock.ActionRequest) error {
	s, stands := standing.Suppressions[quorum.OverrideID(r.Review)]
	if !stands || !s.InForce(a.Config.Now()) {
		return nil
	}
	change.Writes = append(change.Writes, ledger.Ended(ledger.Order, s.ID))
	s.Override = nil
	return a.Append(change, interlock.EventSuppression, interlock.Requester{Agent: "council"}, "council",
		auditlog.SuppressionRecord{Suppression: s, Lifted: "the council does not stand by it: " + r.ID})
}
