package ledger

import (
	"fmt"
	"strings"

	"interlock"
)

// What is kept is believed as far as the log's key proves it when it is used. Rows are proved by owners: all that is kept of one
// owner is read together, so that a row which was taken away or put back to what it was is noticed as well as one that was
// changed. An owner is an agent, a server behind the gateway, or one of the things that there are few of, such as the operators.

const (
	ownerAgent       = "agent\x00"
	ownerOperator    = "operators" // all of them: whether there is anybody who governs is asked of them together
	ownerServer      = "server\x00"
	ownerSuppression = "suppressions"
	ownerSetting     = "settings"
	ownerCandidate   = "candidates"
	ownerHold        = "holds"
	ownerCarried     = "carried\x00"
	ownerCounter     = "counter\x00"
	ownerDefinition  = "definition\x00"
	ownerRun         = "run\x00"
	ownerTally       = "tally\x00"
	ownerRollback    = "rollback\x00"
	ownerMessage     = "message\x00"
	ownerFirstUse    = "first use\x00"
	ownerRange       = "range\x00"
	ownerCommitment  = "commitment\x00"
	ownerBaseline    = "baseline\x00"
	ownerOwed        = "owed\x00"
	ownerAction      = "action request\x00"
	ownerPerson      = "person\x00" // the key, what it permitted and all that is kept of it, so that nothing is taken away unseen
	ownerFact        = "fact\x00"
)

// ownerOfHold is whose a hold is, by its name: what holds an agent is read with what else is kept of that agent, since there may
// be very many of those. All others together are few, so that a decision in a run of its own reads nothing of its own for that.
func ownerOfHold(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, string(HoldBreaker)+":"), string(HoldBackup)+":")
	scope, key, _ := strings.Cut(name, ":")
	if HoldScope(scope) == HoldAgent {
		return ownerAgent + key
	}
	return ownerHold
}

// Tampered is why something that is kept is not believed: it is not as Interlock wrote it. It is an error of the one who needs it
// for a decision, which then fails closed.
type Tampered struct {
	Table string // of the store; empty where it is that of what is kept
	Kind  string // of the row it shows in; empty where only the owner is known, because a row is gone
	Key   string
	What  string // what was done, as far as it can be told
	Part  int    // where nothing else can be told: the store's own number of what it was part of
}

// Error says what was found, and what to do.
func (t *Tampered) Error() string { return t.Unwrap().Error() }

// Unwrap is the error that a caller outside gets.
func (t *Tampered) Unwrap() error {
	return interlock.Errorf(interlock.CodeUnavailable, "store",
		"%s: the store was changed by something other than Interlock, and what rests on it is refused; keep the file as evidence "+
			"and run `interlock audit verify`", t.Name())
}

// Name says what was done to which row.
func (t *Tampered) Name() string {
	name := t.What
	if t.Kind != "" {
		name = fmt.Sprintf("the %s %.80q %s", t.Kind, strings.ReplaceAll(t.Key, "\x00", "/"), t.What)
	}
	if t.Table != "" {
		name += " (table " + t.Table + ")"
	}
	return name
}

// Proved reports whether rows of a kind are believed only with a proof that is their owner's: all but those that pass or are
// filed, which have proofs of their own, and so a kind that nobody knows.
func (b Book) Proved(kind string) bool {
	k := b.kinds[kind]
	return !k.swept && !k.filed
}

// Owner is whose standing a row is part of. Nobody's: it has ended, or its kind needs no owner. A kind that needs one and says
// none is an error, so that nothing of it is believed.
func (b Book) Owner(r Row) (string, error) {
	k := b.kinds[r.Kind]
	switch {
	case !b.Proved(r.Kind) || r.Body == nil:
		return "", nil
	case k.owner == nil:
		return "", unowned(r.Kind)
	}
	if k.body.decode == nil {
		return k.owner(r.Key), nil
	}
	value, err := b.Value(r)
	if err != nil || value == nil || k.body.stands != nil && !k.body.stands(value) {
		return "", err
	}
	return k.owner(value), nil
}

// unowned says that nothing can be believed of a kind, or under a mark.
func unowned(what string) error {
	return fmt.Errorf("ledger: whose what is under %.80q is, is not said, so that it can't be proved", what)
}

// Names reports whether a ref names a row that is there.
func (b Book) Names(ref Ref, r Row) (bool, error) {
	if ref.Kind != r.Kind || ref.Key != "" {
		return ref.Kind == r.Kind && ref.Key == r.Key, nil
	}
	about, err := b.About(r)
	for _, m := range about.Marks {
		if m.Name == ref.Mark {
			return true, err
		}
	}
	return false, err
}

func orderOwner(value any) string {
	if g, grants := value.(interlock.Grant); grants {
		if g.Range != nil {
			return ownerRange + g.Range.Type
		}
		return ownerAgent + g.Agent
	}
	return ownerSuppression
}
