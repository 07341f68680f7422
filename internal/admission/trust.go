package admission

import (
	"context"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// TrustDetail is the part of an order that says to which level, and for a certificate until when.
func TrustDetail(level interlock.Trust, until time.Time) string {
	if until.IsZero() {
		return level.String()
	}
	return level.String() + " until " + until.UTC().Format(time.RFC3339)
}

func parseTrustDetail(detail string) (level interlock.Trust, until time.Time, err error) {
	name, end, dated := strings.Cut(detail, " until ")
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return level, until, interlock.Errorf(interlock.CodeInvalid, "detail", "%v", err)
	}
	if dated {
		if until, err = time.Parse(time.RFC3339, end); err != nil {
			return level, until, interlock.Errorf(interlock.CodeInvalid, "detail",
				"%.40q is no time as in 2027-01-31T00:00:00Z", end)
		}
	}
	return level, until, nil
}

// maxCertificate is how long a certificate may run: what was examined changes.
const maxCertificate = 400 * 24 * time.Hour

// ChangeTrust carries out an operator's order to promote or demote a registered agent. Trust is climbed one level at a time,
// a promotion names its evidence as the order's reason and is signed, a certificate has an end; a demotion may skip levels
// (MCP-AQL trust levels). An order that does not count changes nothing and comes back as an *interlock.Error.
func (a *Admission) ChangeTrust(ctx context.Context, order interlock.Order) (interlock.Receipt, error) {
	return a.commit(ctx, func(standing interlock.Standing) (interlock.Change, error) {
		now := a.config.Now().UTC()
		agent, known := standing.Agents[order.Subject]
		if !known || !agent.Revoked.IsZero() {
			return interlock.Change{}, interlock.Errorf(interlock.CodeNotFound, "subject",
				"no agent of this name is registered; `interlock agent add` registers one")
		}
		level, until, err := parseTrustDetail(order.Detail)
		if err != nil {
			return interlock.Change{}, err
		}
		if err := mayChangeTrust(order, agent.TrustAt(now), level, until, now); err != nil {
			return interlock.Change{}, err
		}
		about := interlock.Requester{Agent: agent.ID, Principal: agent.Principal}
		if err := quorum.CheckOrder(order, about, standing.Operators, standing.Agents, a.config.Verify, now); err != nil {
			return interlock.Change{}, err
		}
		record := auditlog.TrustRecord{Agent: agent.ID, Before: agent.TrustAt(now), After: level, Operator: order.Operator,
			Evidence: a.redact(order.Reason)}
		if !until.IsZero() {
			record.Until = until.UTC().Format(time.RFC3339)
		}
		payload, err := record.Payload()
		if err != nil {
			return interlock.Change{}, fmt.Errorf("encoding the change of trust: %w", err)
		}
		draft, err := a.draft(interlock.EventTrust, interlock.Requester{Agent: order.Operator}, "operator", payload)
		if err != nil {
			return interlock.Change{}, err
		}
		agent.Trust, agent.Until = level, until
		change := interlock.Change{Version: standing.Version, Writes: ledger.Rows(agent)}
		if err := a.registered(&change, standing, &draft); err != nil {
			return interlock.Change{}, err
		}
		change.Events = []interlock.Draft{draft}
		return change, nil
	})
}

func mayChangeTrust(order interlock.Order, from, to interlock.Trust, until, now time.Time) error {
	switch order.Verb {
	case interlock.VerbPromote:
		if to != from+1 {
			return interlock.Errorf(interlock.CodeInvalid, "detail",
				"the agent is %s; trust is climbed one level at a time, so the next is %s", from, next(from))
		}
		if strings.TrimSpace(order.Reason) == "" {
			return interlock.Errorf(interlock.CodeInvalid, "reason", "name the evidence: what was examined, by whom")
		}
		if to == interlock.TrustCertified && (until.IsZero() || !until.After(now) || until.Sub(now) > maxCertificate) {
			return interlock.Errorf(interlock.CodeInvalid, "expires", "a certificate ends, within %d days from now",
				maxCertificate/(24*time.Hour))
		}
	case interlock.VerbDemote:
		if to >= from {
			return interlock.Errorf(interlock.CodeInvalid, "detail", "the agent is %s; a demotion leads to a lower level", from)
		}
	default:
		return interlock.Errorf(interlock.CodeInvalid, "verb", "trust is changed by promote or demote")
	}
	if to != interlock.TrustCertified && !until.IsZero() {
		return interlock.Errorf(interlock.CodeInvalid, "expires", "only a certificate has an end")
	}
	return nil
}

func next(level interlock.Trust) string {
	if level >= interlock.TrustCertified {
		return "none: it is the highest"
	}
	return (level + 1).String()
}
