package governance

import (
	"cmp"
	"context"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
)

func (a *Governance) findGranted(c *core.PendingOrder) error {
	g := c.Terms.(interlock.Grant)
	if g.Range != nil {
		if !a.Active.Load().Rules.Maso().Classifies() {
			return interlock.Errorf(interlock.CodeInvalid, "range",
				"ranges answer what tier 2 asks, and the tier in force is lower; the rules say `maso: {tier: 2}`")
		}
	} else if g.Scope != nil {
		for _, rule := range g.Rules {
			if err := a.Active.Load().Rules.Grantable(rule); err != nil {
				return err
			}
		}
	} else if g.Ruleset != a.Active.Load().Rules.Digest() {
		return interlock.Errorf(interlock.CodeConflict, "ruleset", "other rules are in force than the grant names; give it again")
	}
	g.Left = g.Times
	c.Given = quorum.OfGrant(g)
	return nil
}

// grant records an operator's signed standing yes, in the same transaction as it takes effect.
func (a *Governance) grant(ctx context.Context, c *core.PendingOrder) error {
	if c.Taken() || len(c.Standing.Grants) >= core.MaxGrants {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d grants stand already; end one first", core.MaxGrants)
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
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(g)...)
	return a.Append(&c.Change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.GrantRecord{Grant: g})
}

func findGrant(c *core.PendingOrder) error {
	if _, known := c.Standing.Grants[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id", "no standing grant has this id")
	}
	return nil
}

// endGrant revokes a standing grant.
func (a *Governance) endGrant(_ context.Context, c *core.PendingOrder) error {
	g := c.Standing.Grants[c.Subject]
	g.Ended = c.Now
	c.Change.Writes = []ledger.Row{ledger.Ended(ledger.Order, g.ID)}
	return a.Append(&c.Change, interlock.EventGrant, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.GrantRecord{Grant: g, Ended: cmp.Or(c.Reason, "revoked")})
}

// GrantsOf picks the grants in force of a requester, by id, without what proves them: that is for the caller to have seen to.
func GrantsOf(standing ledger.Standing, r interlock.Requester, digest interlock.Digest, now time.Time) []interlock.Grant {
	if len(standing.Grants) == 0 {
		return nil
	}
	var own []interlock.Grant
	for _, g := range standing.Grants {
		mine := g.Agent == r.Agent && g.Principal == r.Principal
		if g.Range != nil { // never by the agent itself, or the one it acts for
			mine = g.Range.Type == ruleset.TypeName(core.AgentOf(r, standing)) && g.Operator != r.Agent && g.Operator != r.Principal
		}
		if mine && g.InForce(now) && g.Holds(digest, r.Run) {
			g.Key, g.Statement, g.Signature, g.Weak = "", "", "", ""
			own = append(own, g)
		}
	}
	sort.Slice(own, func(i, j int) bool { return own[i].ID < own[j].ID })
	return own
}
