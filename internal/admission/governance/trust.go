package governance

import (
	"context"
	"maps"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
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

func readAgent(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Agent, o.Subject), core.Key(ledger.Setting, core.SettingRegistry),
		core.Key(ledger.Setting, settingTrusted)}
}

// Where the council governs, the trust of one agent is for one person to change; of more than one within a day it is an override in bulk,
// which takes the council (MACE safety boundaries 2).
const (
	trustWithin    = 24 * time.Hour
	settingTrusted = "trust_ordered" // whose trust was ordered within that, and when
)

// trustOrders are the agents whose trust somebody ordered within a day before a time.
func trustOrders(standing *ledger.Standing, now time.Time) map[string]time.Time {
	orders := map[string]time.Time{}
	if text := standing.Settings[settingTrusted]; text != "" && strictjson.Decode([]byte(text), &orders) != nil {
		return map[string]time.Time{"": now} // what can't be read is somebody's
	}
	maps.DeleteFunc(orders, func(_ string, at time.Time) bool { return now.Sub(at) >= trustWithin })
	return orders
}

// trustOverride is what an order about trust is as a governed action, where another agent's was ordered within a day.
func trustOverride(c *core.PendingOrder) (interlock.GovernedAction, bool) {
	orders := trustOrders(&c.Standing, c.Now)
	delete(orders, c.Subject)
	return interlock.GovernedAction{Type: quorum.ActTrust, Target: ledger.HoldName(ledger.HoldAgent, c.Subject), Params: c.Detail}, len(orders) > 0
}

// findAgent finds the agent whose trust an order changes, and whether it may be changed so. Trust is climbed one level at a time,
// a promotion names its evidence as the order's reason and is signed, a certificate has an end; a demotion may skip levels
// (MCP-AQL trust levels).
func (a *Governance) findAgent(c *core.PendingOrder) error {
	agent, known := c.Standing.Agents[c.Subject]
	if !known || !agent.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "subject",
			"no agent of this name is registered; `interlock agent add` registers one")
	}
	level, until, err := parseTrustDetail(c.Detail)
	if err != nil {
		return err
	}
	c.About = interlock.Requester{Agent: agent.ID, Principal: agent.Principal}
	return mayChangeTrust(c.Order, agent.TrustAt(c.Now), level, until, c.Now)
}

// changeTrust promotes or demotes a registered agent.
func (a *Governance) changeTrust(_ context.Context, c *core.PendingOrder) error {
	agent := c.Standing.Agents[c.Subject]
	level, until, err := parseTrustDetail(c.Detail)
	if err != nil {
		return err
	}
	record := auditlog.TrustRecord{Agent: agent.ID, Before: agent.TrustAt(c.Now), After: level, Operator: c.Operator,
		Evidence: a.Redact(c.Reason)}
	if !until.IsZero() {
		record.Until = until.UTC().Format(time.RFC3339)
	}
	agent.Trust, agent.Until = level, until
	c.Change.Writes = ledger.Rows(agent)
	if a.Council().Governs {
		orders := trustOrders(&c.Standing, c.Now)
		orders[agent.ID] = c.Now.UTC().Truncate(time.Second)
		text, err := strictjson.Marshal(orders)
		if err != nil {
			return err
		}
		c.Change.Writes = append(c.Change.Writes, ledger.Settings(map[string]string{settingTrusted: string(text)})...)
	}
	if err := a.Append(&c.Change, interlock.EventTrust, interlock.Requester{Agent: c.Operator}, "operator", record); err != nil {
		return err
	}
	return a.registered(&c.Change, c.Standing, &c.Change.Events[0])
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
