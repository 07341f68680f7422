package admission

import (
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

// Grant records an operator's signed standing yes, in the same transaction as it takes effect. One that does not count
// changes nothing, is recorded as APPROVAL_REFUSED and comes back as an *interlock.Error.
func (a *Admission) Grant(ctx context.Context, g interlock.Grant) (interlock.Receipt, error) {
	receipt, err := a.commit(ctx, func(standing interlock.Standing) (interlock.Change, error) {
		now := a.config.Now().UTC()
		if g.Left = g.Times; g.Ruleset != a.config.Rules.Digest() {
			return interlock.Change{}, interlock.Errorf(interlock.CodeConflict, "ruleset",
				"other rules are in force than the grant names; give it again")
		}
		if err := quorum.CheckGrant(g, standing.Operators, standing.Agents, a.config.Verify, now); err != nil {
			return interlock.Change{}, err
		}
		if _, taken := standing.Grants[g.ID]; taken || len(standing.Grants) >= maxGrants {
			return interlock.Change{}, interlock.Errorf(interlock.CodeConflict, "id",
				"the id is taken, or %d grants stand already; end one first", maxGrants)
		}
		return a.granted(standing, g, g.Operator, "")
	})
	return receipt, a.refusedOrder(ctx, g.Operator, g.ID, err)
}

// EndGrant revokes a standing grant. It only tightens, so it takes an operator's name and no signature.
func (a *Admission) EndGrant(ctx context.Context, id, operator, why string) (interlock.Receipt, error) {
	return a.commit(ctx, func(standing interlock.Standing) (interlock.Change, error) {
		g, known := standing.Grants[id]
		if !known {
			return interlock.Change{}, interlock.Errorf(interlock.CodeNotFound, "id", "no standing grant has this id")
		}
		if why == "" {
			why = "revoked"
		}
		g.Ended = a.config.Now().UTC()
		return a.granted(standing, g, operator, why)
	})
}

// granted is the change that records a grant or its end.
func (a *Admission) granted(standing interlock.Standing, g interlock.Grant, operator, ended string) (interlock.Change, error) {
	change := interlock.Change{Version: standing.Version, Writes: ledger.Rows(g)}
	err := a.append(&change, interlock.EventGrant, interlock.Requester{Agent: operator}, "operator",
		auditlog.GrantRecord{Grant: g, Ended: ended})
	return change, err
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
			return quorum.CheckGrant(g, standing.Operators, standing.Agents, verify, now)
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
