package runs

import (
	"context"
	"fmt"
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

// CommitRefs names the rows of what an action decides.
func CommitRefs(list []Deciding) (refs []ledger.Ref) {
	for _, d := range list {
		if d.Missing == "" {
			refs = append(refs, core.Key(ledger.Commitment, d.Name))
		}
	}
	return refs
}

// Reversing is what stands against what an action decides, and since when what it would reverse is as it is: a yes of before was not
// about that.
func Reversing(list []Deciding, standing ledger.Standing) (found []interlock.Finding, since time.Time) {
	for _, d := range list {
		object := func(rule string, layer int, verdict interlock.Verdict, why, instead string) {
			found = append(found, interlock.Finding{Gate: "commit", Rule: "commit." + rule, Layer: layer, Verdict: verdict,
				Reason: fmt.Sprintf("the commitment %s: %s", d.Rule.ID, why), Suggestion: instead})
		}
		if d.Missing != "" {
			object("argument", 3, interlock.Deny, "this does not say what it decides: the argument "+d.Missing+" is missing", "")
			continue
		}
		was, there := standing.Committed(d.Name)
		if !there || was.Choice == d.Choice {
			continue
		}
		switch {
		case !was.Locked.IsZero():
			object("locked", 2, interlock.Deny, "it was decided otherwise, went to and fro, and is locked",
				"a person looks at it: interlock commitments unlock "+d.Name)
		case len(was.Reversals) >= ledger.MaxReversals:
			object("oscillation", 2, interlock.Deny, "it went to and fro already and is locked as it is",
				"a person looks at it: interlock commitments unlock "+d.Name)
		case d.Rule.Input != nil && was.Input != d.Input:
		case d.Rule.Keeps():
			object("kept", 3, interlock.Deny, "it was decided otherwise from the same, and the first choice holds", "")
		default:
			object("reversal", 3, interlock.Ask, "it was decided otherwise from the same, and a person says which choice holds", "")
			if was.At.After(since) {
				since = was.At
			}
		}
	}
	return found, since
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

// unlockCommitment lets what is locked be decided anew, as often as before.
func (a *Runs) unlockCommitment(_ context.Context, c *core.PendingOrder) error {
	was, _ := c.Standing.Committed(c.Subject)
	reversals := was.Reversals
	was.Locked, was.Reversals = time.Time{}, nil
	c.Change.Writes = ledger.Rows(was)
	kept := a.OrderKept(c.Order)
	return a.Append(&c.Change, interlock.EventCommitment, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.UnlockRecord{Commitment: was, Reversals: reversals, Order: kept})
}
