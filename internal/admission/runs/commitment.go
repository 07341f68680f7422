package runs

import (
	"context"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// A Deciding is what one call decides under one commitment of the rules.
type Deciding struct {
	Rule    *ruleset.Commitment
	Name    string // of the row
	About   string
	Choice  interlock.Digest
	Says    string
	Input   interlock.Digest
	Missing string // the argument that it would have to have, and has not
}

// Oscillates reports whether nothing but that it would go to and fro once more keeps an action from being let through.
func Oscillates(d interlock.Decision, rule string) bool {
	is := false
	for _, f := range d.Findings {
		switch {
		case f.Rule == "commit.oscillation" && strings.HasPrefix(f.Reason, "the commitment "+rule+":"):
			is = true
		case f.Verdict.Compare(interlock.Deny) >= 0 && f.Rule != "commit.oscillation":
			return false
		}
	}
	return is
}

// Brief is a text as it is kept for people.
func (a *Runs) Brief(text string) string { return core.Bounded(a.Redact(text), core.MaxRunWhy) }

func readCommitment(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Commitment, o.Subject)}
}

func findCommitment(c *core.PendingOrder) error {
	was, there := c.Standing.Committed(c.Subject)
	switch {
	case !there:
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no commitment has this name; `interlock commitments` lists them")
	case was.Locked.IsZero():
		return interlock.Errorf(interlock.CodeConflict, "subject", "this commitment is not locked")
	}
	return nil
}

// unlockCommitment lets what is locked be decided again, as often as before.
func (a *Runs) unlockCommitment(_ context.Context, c *core.PendingOrder) error {
	was, _ := c.Standing.Committed(c.Subject)
	reversals := was.Reversals
	was.Locked, was.Reversals = time.Time{}, nil
	c.Change.Writes = ledger.Rows(was)
	kept := a.OrderKept(c.Order)
	return a.Append(&c.Change, interlock.EventCommitment, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.UnlockRecord{Commitment: was, Reversals: reversals, Order: kept})
}
