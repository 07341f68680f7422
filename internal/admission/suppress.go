package admission

import (
	"cmp"
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// maxSuppressions bounds how many orders stand at once: each is looked at in every decision.
const maxSuppressions = 64

// errUnproved marks a suppression in the store whose signature does not hold.
var errUnproved = errors.New("unproved suppression")

func readSuppressions(interlock.Order) []interlock.Ref {
	return []interlock.Ref{under(ledger.Suppression, ledger.All)}
}

func (a *Admission) findSuppressed(c *carrying) error {
	s := c.Terms.(interlock.Suppression)
	denies, err := a.config.Rules.Suppressible(s.Rule)
	if err == nil && denies && !s.Denials {
		err = interlock.Errorf(interlock.CodeInvalid, "denials", "the rule denies; the order must say that it silences denials")
	}
	return err
}

// suppress records an operator's signed order to keep a rule silent, in the same transaction as it takes effect.
func (a *Admission) suppress(_ context.Context, c *carrying) error {
	s := c.Terms.(interlock.Suppression)
	if _, taken := c.standing.Suppressions[s.ID]; taken || live(c.standing, c.now) >= maxSuppressions {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d suppressions stand already; lift one first", maxSuppressions)
	}
	c.change.Writes = ledger.Rows(s)
	return a.append(&c.change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: s})
}

func readSuppression(o interlock.Order) []interlock.Ref {
	return []interlock.Ref{key(ledger.Suppression, o.Subject)}
}

func findSuppression(_ *Admission, c *carrying) error {
	if _, known := c.standing.Suppressions[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id",
			"no suppression has this id; `interlock rules suppressions` lists them")
	}
	return nil
}

// lift ends a suppression. It only tightens, so it takes a name and no signature.
func (a *Admission) lift(_ context.Context, c *carrying) error {
	c.change.Writes = []interlock.Row{ledger.Ended(ledger.Suppression, c.Subject)}
	return a.append(&c.change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: c.standing.Suppressions[c.Subject], Lifted: cmp.Or(c.Reason, "lifted")})
}

func live(standing interlock.Standing, now time.Time) int {
	n := 0
	for _, s := range standing.Suppressions {
		if s.InForce(now) {
			n++
		}
	}
	return n
}

// proved returns the standing with the suppressions that count now: the store is read by whoever can write its file, so each
// is proved anew, its signature once in a process. unproved names one that is in force and does not count, the first time.
func (a *Admission) proved(standing interlock.Standing, now time.Time) (_ interlock.Standing, unproved error) {
	if len(standing.Suppressions) == 0 {
		return standing, nil
	}
	counting := map[string]interlock.Suppression{}
	for id, s := range standing.Suppressions { // any order: each stands for itself, and of several defects one is told
		if !s.InForce(now) || id != s.ID {
			continue
		}
		fresh, err := a.proof(s, standing.Operators, now)
		if err == nil {
			counting[id] = s
		} else if fresh {
			unproved = errors.Join(errUnproved, err)
		}
	}
	standing.Suppressions = counting
	return standing, unproved
}

// proof checks a suppression. Who may give an order, and when, is looked at each time.
func (a *Admission) proof(s interlock.Suppression, operators map[string]interlock.OperatorRecord,
	now time.Time) (fresh bool, err error) {
	proof := operators[s.Operator].SSHKey + "\x00" + s.Key + "\x00" + s.Signature + "\x00" + s.Statement
	return a.prove(proof, s.Key, func(verify quorum.Verifier) error { return quorum.OfSuppression(s).Counts(operators, nil, verify, now) })
}

// prove checks what stands in the store and is signed. The signature itself is checked once in a process: proof names
// everything that it depends on, and key what proves it. fresh says that it was checked just now.
func (a *Admission) prove(proof, key string, check func(quorum.Verifier) error) (fresh bool, err error) {
	a.guard.Lock()
	defer a.guard.Unlock()
	checked, known := a.proofs[proof]
	verify := a.config.Verify
	if known && checked == nil {
		verify = func(interlock.OperatorRecord, string, string, string) (string, error) { return key, nil }
	} else if known {
		return false, checked
	}
	err = check(verify)
	if len(a.proofs) > 4*(maxSuppressions+maxGrants) {
		a.proofs = map[string]error{}
	}
	var refusal *interlock.Error
	if err == nil || errors.As(err, &refusal) && refusal.Field == "signature" {
		a.proofs[proof] = err
	}
	return !known, err
}
