package admission

import (
	"cmp"
	"context"
	"sort"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
)

// maxGrants bounds how many grants stand at once: each is looked at in every decision of its agent.
const maxGrants = 256

func (a *Admission) findGranted(c *carrying) error {
	g := c.Terms.(interlock.Grant)
	if g.Range != nil {
		if !a.force.Load().Rules.Maso().Classifies() {
			return interlock.Errorf(interlock.CodeInvalid, "range",
				"ranges answer what tier 2 asks, and the tier in force is lower; the rules say `maso: {tier: 2}`")
		}
	} else if g.Scope != nil {
		for _, rule := range g.Rules {
			if err := a.force.Load().Rules.Grantable(rule); err != nil {
				return err
			}
		}
	} else if g.Ruleset != a.force.Load().Rules.Digest() {
		return interlock.Errorf(interlock.CodeConflict, "ruleset", "other rules are in force than the grant names; give it again")
	}
	g.Left = g.Times
	c.Given = quorum.OfGrant(g)
	return nil
}

// grant records an operator's signed standing yes, in the same transaction as it takes effect.
func (a *Admission) grant(ctx context.Context, c *carrying) error {
	if c.taken() || len(c.standing.Grants) >= maxGrants {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d grants stand already; end one first", maxGrants)
	}
	g := c.Terms.(interlock.Grant)
	if g.Range != nil {
		what, err := RangeDigest(g)
		if err == nil {
			err = a.seconded(ctx, c, string(what), []string{"the range of " + g.Tool})
		}
		if err != nil {
			return err
		}
	}
	c.change.Writes = append(c.change.Writes, ledger.Rows(g)...)
	return a.append(&c.change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.GrantRecord{Grant: g})
}

func findGrant(c *carrying) error {
	if _, known := c.standing.Grants[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id", "no standing grant has this id")
	}
	return nil
}

// endGrant revokes a standing grant.
func (a *Admission) endGrant(_ context.Context, c *carrying) error {
	g := c.standing.Grants[c.Subject]
	g.Ended = c.now
	c.change.Writes = []ledger.Row{ledger.Ended(ledger.Order, g.ID)}
	return a.append(&c.change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.GrantRecord{Grant: g, Ended: cmp.Or(c.Reason, "revoked")})
}

// grantsOf picks the grants in force of a requester, by id, without what proves them: that is for the caller to have seen to.
func grantsOf(standing ledger.Standing, r interlock.Requester, digest interlock.Digest, now time.Time) []interlock.Grant {
	if len(standing.Grants) == 0 {
		return nil
	}
	var own []interlock.Grant
	for _, g := range standing.Grants {
		mine := g.Agent == r.Agent && g.Principal == r.Principal
		if g.Range != nil { // never by whoever the agent is, or acts for
			mine = g.Range.Type == ruleset.TypeName(agentOf(r, standing)) && g.Operator != r.Agent && g.Operator != r.Principal
		}
		if mine && g.InForce(now) && g.Holds(digest, r.Run) {
			g.Key, g.Statement, g.Signature, g.Weak = "", "", "", ""
			own = append(own, g)
		}
	}
	sort.Slice(own, func(i, j int) bool { return own[i].ID < own[j].ID })
	return own
}
