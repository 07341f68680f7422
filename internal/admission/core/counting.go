package core

import (
	"errors"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// ReadStanding names the orders with a verb that stand, and what has the new one's id.
func ReadStanding(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{Under(ledger.Order, ledger.Ordered(o.Verb)), Key(ledger.Order, o.ID)}
}

// ReadEnded names the standing order that another is to end.
func ReadEnded(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{Key(ledger.Order, o.Subject)}
}

// Taken reports whether an order with this id is recorded.
func (c *PendingOrder) Taken() bool {
	_, grants := c.Standing.Grants[c.ID]
	_, silences := c.Standing.Suppressions[c.ID]
	return grants || silences
}

// An Unproved order is in the store and does not count, and nobody was told of it yet.
type Unproved struct {
	error
	Verb interlock.Verb
}

func (u Unproved) Unwrap() error { return u.error }

// ProvenStanding returns the standing with the orders that count now for a requester's actions. The store is read by anyone who
// can write its file, so each is held again to all it was held to when it was given: who may give it, and when, each time; its
// signature once in a process.
func (a *Core) ProvenStanding(standing ledger.Standing, r interlock.Requester,
	now time.Time) (_ ledger.Standing, invalid error) {
	standing.Suppressions, invalid = counting(a, standing, standing.Suppressions, now,
		func(s interlock.Suppression) (quorum.Given, bool) {
			return quorum.OfSuppression(s), s.InForce(now) && (s.Override == nil || s.Agent == r.Agent)
		})
	var ungranted error
	standing.Grants, ungranted = counting(a, standing, standing.Grants, now,
		func(g interlock.Grant) (quorum.Given, bool) {
			return quorum.OfGrant(g), g.InForce(now) && (g.Range != nil || g.Agent == r.Agent && g.Principal == r.Principal)
		})
	if invalid == nil {
		invalid = ungranted
	}
	return standing, invalid
}

// counting are those of the orders that count. as says what an order is, and whether it would concern anybody at all.
func counting[T any](a *Core, standing ledger.Standing, orders map[string]T, now time.Time,
	as func(T) (quorum.Given, bool)) (count map[string]T, invalid error) {
	if len(orders) == 0 {
		return orders, nil
	}
	count = map[string]T{}
	for id, order := range orders { // any order: each is checked by itself, and of several defects one is told
		given, concerns := as(order)
		if !concerns || id != given.ID {
			continue
		}
		fresh, err := a.prove(given, standing, now)
		if err == nil {
			count[id] = order
		} else if fresh {
			invalid = Unproved{err, given.Verb}
		}
	}
	return count, invalid
}

// prove checks an order that is in the store. The signature itself is checked once in a process, by what it depends on.
// fresh says that it was checked just now.
func (a *Core) prove(given quorum.Given, standing ledger.Standing, now time.Time) (fresh bool, err error) {
	proof := strings.Join([]string{credentials(standing.Operators[given.Operator]), given.Method, given.Key, given.Signature,
		given.Statement}, "\x00")
	keys, together := map[string]string{given.Signature: given.Key}, false
	if s, silences := given.Terms.(interlock.Suppression); silences && s.Override != nil {
		proof, together = votesOf(s, keys, standing), true
	}
	a.guard.Lock()
	defer a.guard.Unlock()
	checked, known := a.proofs[proof]
	verify := a.Config.Verify
	if known && checked == nil {
		verify = func(_ interlock.OperatorRecord, _, _, signature string) (string, error) { return keys[signature], nil }
	} else if known {
		return false, checked
	}
	err = given.Counts(standing.Operators, standing.Agents, verify, now)
	if len(a.proofs) > 4*(MaxSuppressions+MaxGrants) {
		a.proofs = map[string]error{}
	}
	var refusal *interlock.Error
	if err == nil || errors.As(err, &refusal) && (refusal.Field == "signature" || together) {
		a.proofs[proof] = err
	}
	return !known, err
}

// votesOf is all that an order which several people gave depends on: what was approved, and of each who voted what they signed and who
// they are now. It notes with which key each signature was made.
func votesOf(s interlock.Suppression, keys map[string]string, standing ledger.Standing) string {
	parts := []string{"override", s.ID, s.Rule, s.Agent, s.Run, s.Operator, s.Created.String(), s.Expires.String(),
		string(s.Override.Digest), s.Override.Action.Params, s.Override.Display, string(quorum.RosterHash(s.Override.Ballot.Roster)),
		quorum.Takes(s.Override.Ballot), standing.Agents[s.Agent].Principal}
	for _, e := range s.Override.Ballot.Roster {
		o := standing.Operators[e.Name]
		parts = append(parts, o.Role, o.Revoked.String(), credentials(o))
	}
	for _, v := range s.Override.Ballot.Votes {
		keys[v.Signature] = v.Key
		parts = append(parts, v.Operator, v.Detail, v.Reason, v.Method, v.Key, v.Signature, v.Statement)
	}
	return strings.Join(parts, "\x00")
}

// credentials names the keys an operator has now: a signature that was checked with one that is gone is checked again.
func credentials(o interlock.OperatorRecord) string {
	var b strings.Builder
	b.WriteString(o.SSHKey)
	for _, p := range o.Passkeys {
		b.WriteString("\x00" + p.ID + "\x00" + p.PublicKey)
	}
	return b.String()
}

// MaxGrants bounds how many grants stand at once: each is looked at in every decision of its agent.
const MaxGrants = 256

// MaxSuppressions bounds how many orders stand at once: each is looked at in every decision.
const MaxSuppressions = 64
