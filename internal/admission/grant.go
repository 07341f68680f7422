package admission

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// maxGrants bounds how many grants stand at once: each is looked at in every decision of its agent.
const maxGrants = 256

// errGrant marks a grant in the store whose signature does not hold.
var errGrant = errors.New("unproved grant")

func readGrants(interlock.Order) []interlock.Ref {
	return []interlock.Ref{under(ledger.Grant, ledger.All)}
}

func (a *Admission) findGranted(c *carrying) error {
	g := c.Terms.(interlock.Grant)
	if g.Ruleset != a.config.Rules.Digest() {
		return interlock.Errorf(interlock.CodeConflict, "ruleset", "other rules are in force than the grant names; give it again")
	}
	g.Left = g.Times
	c.Given = quorum.OfGrant(g)
	return nil
}

// grant records an operator's signed standing yes, in the same transaction as it takes effect.
func (a *Admission) grant(_ context.Context, c *carrying) error {
	if _, taken := c.standing.Grants[c.ID]; taken || len(c.standing.Grants) >= maxGrants {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d grants stand already; end one first", maxGrants)
	}
	return a.granted(c, c.Terms.(interlock.Grant), "")
}

func readGrant(o interlock.Order) []interlock.Ref {
	return []interlock.Ref{key(ledger.Grant, o.Subject)}
}

func findGrant(_ *Admission, c *carrying) error {
	if _, known := c.standing.Grants[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id", "no standing grant has this id")
	}
	return nil
}

// endGrant revokes a standing grant. It only tightens, so it takes an operator's name and no signature.
func (a *Admission) endGrant(_ context.Context, c *carrying) error {
	g := c.standing.Grants[c.Subject]
	g.Ended = c.now
	return a.granted(c, g, cmp.Or(c.Reason, "revoked"))
}

// granted adds to the change a grant or its end.
func (a *Admission) granted(c *carrying, g interlock.Grant, ended string) error {
	c.change.Writes = ledger.Rows(g)
	return a.append(&c.change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.GrantRecord{Grant: g, Ended: ended})
}

// grantsOf picks the grants in force of a requester, by id, without what proves them: that is for the caller to have seen to.
func grantsOf(standing interlock.Standing, r interlock.Requester, digest interlock.Digest, now time.Time) []interlock.Grant {
	if len(standing.Grants) == 0 {
		return nil
	}
	var own []interlock.Grant
	for _, g := range standing.Grants {
		if g.InForce(now) && g.Agent == r.Agent && g.Principal == r.Principal && g.Ruleset == digest {
			g.Key, g.Statement, g.Signature = "", "", ""
			own = append(own, g)
		}
	}
	sort.Slice(own, func(i, j int) bool { return own[i].ID < own[j].ID })
	return own
}

// grants returns the standing with the grants of a requester that count now: each is proved anew, its signature once in a
// process, because the store is read by whoever can write its file.
func (a *Admission) grants(standing interlock.Standing, r interlock.Requester,
	now time.Time) (_ interlock.Standing, unproved error) {
	if len(standing.Grants) == 0 {
		return standing, nil
	}
	counting := map[string]interlock.Grant{}
	for id, g := range standing.Grants { // any order: each stands for itself, and of several defects one is told
		if !g.InForce(now) || id != g.ID || g.Agent != r.Agent || g.Principal != r.Principal {
			continue
		}
		proof := strings.Join([]string{credentials(standing.Operators[g.Operator]), g.Method, g.Key, g.Signature,
			g.Statement}, "\x00")
		fresh, err := a.prove(proof, g.Key, func(verify quorum.Verifier) error {
			return quorum.OfGrant(g).Counts(standing.Operators, standing.Agents, verify, now)
		})
		if err == nil {
			counting[id] = g
		} else if fresh {
			unproved = errors.Join(errGrant, err)
		}
	}
	standing.Grants = counting
	return standing, unproved
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
