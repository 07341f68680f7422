package ledger

import (
	"fmt"
	"strings"

	"interlock"
)

// What stands is believed as far as the log's key proves it when it is used. Rows are proved by owners: all that stands of one
// owner is read together, so that a row which was taken away or put back to what it was is noticed as well as one that was changed.
// An owner is an agent, a server behind the gateway, or one of the things that there are few of, such as the operators.

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
)

// ownerOfHold is whose a hold is, by its name: what holds an agent is read with what else stands of that agent, of which there may be
// very many. Of all others together there are few, so that a decision in a run of its own reads nothing of its own for that.
func ownerOfHold(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, string(HoldBreaker)+":"), string(HoldBackup)+":")
	scope, key, _ := strings.Cut(name, ":")
	if HoldScope(scope) == HoldAgent {
		return ownerAgent + key
	}
	return ownerHold
}

// Tampered is why something that stands is not believed: it is not as Interlock wrote it. It is an error of whoever needs it
// for a decision, which then fails closed.
type Tampered struct {
	Table string // of the store; empty where it is that of what stands
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

// Proved reports whether rows of a kind are believed only with a proof.
func (b Book) Proved(kind string) bool { return b.kinds[kind].owner != nil }

// Owner is whose standing a row is part of. Nobody's: it has ended, or its kind needs no proof.
func (b Book) Owner(r Row) (string, error) {
	k := b.kinds[r.Kind]
	if k.owner == nil || r.Body == nil {
		return "", nil
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

// OwnerOf is the one owner of every row that a ref can name, if there is one: then nothing of what it names can be missing
// without being missed. Where a ref says only an id, the owner is known by the row alone.
func (b Book) OwnerOf(ref Ref) string {
	if !b.Proved(ref.Kind) {
		return ""
	}
	first, rest, _ := strings.Cut(ref.Key, "\x00")
	if ref.Key != "" {
		switch ref.Kind {
		case Agent, Attempts:
			return ownerAgent + first
		case Operator:
			return ownerOperator
		case Pin:
			return ownerServer + first
		case Setting:
			return ownerSetting
		case Candidate:
			return ownerCandidate
		case Hold:
			return ownerOfHold(ref.Key)
		case Breaker:
			return ownerOfHold(ref.Key)
		case Carried:
			return ownerCarried + ref.Key
		case Counter:
			return ownerCounter + ref.Key
		case Definition:
			return ownerDefinition + ref.Key
		case Run, Checkpoint, Plan:
			return ownerRun + ref.Key
		case Commitment:
			return ownerCommitment + ref.Key
		case Baseline:
			return ownerBaseline + ref.Key
		case ActionRequest:
			return ownerAction + ref.Key
		case RunCount:
			return ownerTally + ref.Key
		case Rollback, RollbackStep:
			id, _, _ := strings.Cut(ref.Key, "/")
			return ownerRollback + id
		case Message:
			return ownerMessage + ref.Key
		case FirstUse:
			return ownerFirstUse + ref.Key
		case Owed:
			return ownerOwed + ref.Key
		}
		return ""
	}
	first, rest, _ = strings.Cut(ref.Mark, "\x00")
	switch {
	case first == "of":
		agent, _, _ := strings.Cut(rest, "\x00")
		return ownerAgent + agent
	case ref.Kind == Order && first == "range":
		return ownerRange + rest
	case ref.Kind == Pin && first == "server":
		return ownerServer + rest
	case ref.Kind == Order && ref.Mark == Ordered(interlock.VerbSuppress):
		return ownerSuppression
	case ref.Kind == Operator && ref.Mark == All:
		return ownerOperator
	case ref.Kind == Setting && ref.Mark == All:
		return ownerSetting
	case ref.Kind == Hold && first == OverAll: // of all holds together there is none: those of an agent are its own
		return ownerOfHold(rest)
	case ref.Kind == Rollback && first == "named" || ref.Kind == RollbackStep && first == "steps":
		return ownerRollback + rest
	case ref.Kind == Candidate && ref.Mark == All:
		return ownerCandidate
	}
	return ""
}

// Names reports whether a ref names a row that stands.
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

func agentOwner(value any) string { return ownerAgent + value.(interlock.AgentRecord).ID }
func operatorOwner(any) string    { return ownerOperator }
func requestOwner(value any) string {
	return ownerAgent + value.(interlock.ApprovalRequest).Requester.Agent
}
func challengeOwner(value any) string {
	return ownerAgent + value.(interlock.Challenge).Requester.Agent
}
func attemptsOwner(value any) string { return ownerAgent + value.(AttemptsBody).Agent }
func pinOwner(value any) string      { return ownerServer + value.(interlock.Pin).Server }
func settingOwner(any) string        { return ownerSetting }
func holdOwner(value any) string     { h := value.(HoldBody); return ownerOfHold(h.Name()) }
func breakerOwner(value any) string  { return ownerOfHold(value.(BreakerBody).Name) }
func candidateOwner(any) string      { return ownerCandidate }
func counterOwner(value any) string  { return ownerCounter + value.(CounterBody).Name }
func definitionOwner(key any) string { return ownerDefinition + key.(string) }
func carriedOwner(value any) string  { return ownerCarried + value.(CarriedBody).Name }

func orderOwner(value any) string {
	if g, grants := value.(interlock.Grant); grants {
		if g.Range != nil {
			return ownerRange + g.Range.Type
		}
		return ownerAgent + g.Agent
	}
	return ownerSuppression
}
