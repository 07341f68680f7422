package governance

import (
	"context"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// BeginReplay records that recorded decisions are to be made again in a mode, on signed orders, or that the orders are not
// enough. Nothing is made again before it has returned without an error. forced says that a divergence need not stop it.
func (a *Governance) BeginReplay(ctx context.Context, mode quorum.ReplayMode, what string,
	orders []interlock.Order) (receipt ledger.Receipt, forced bool, err error) {
	var operators core.Names
	for _, order := range orders {
		operators.Add(order.Operator)
	}
	halted := ledger.HoldName(ledger.HoldReplays, ledger.HoldAll)
	reads := []ledger.Ref{core.Key(ledger.Hold, halted)}
	for _, name := range operators {
		reads = append(reads, core.Key(ledger.Operator, name))
	}
	receipt, err = a.CommitOn(ctx, false, a.Rows(reads...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if _, stands := standing.Others[ledger.Hold][halted]; stands {
			return change, interlock.Errorf(interlock.CodeConflict, "subject",
				"all replays are halted by an emergency override; the council clears %s (%s)", halted, quorum.ActClearHalt)
		}
		record := auditlog.ReplayRequestRecord{Mode: string(mode), What: what}
		for _, order := range orders {
			if strings.TrimSpace(order.Reason) == "" {
				return change, interlock.Errorf(interlock.CodeInvalid, "reason", "say why, for the record")
			}
			if err := a.MayBeWeak(ctx, order.Weak); err != nil {
				return change, err
			}
			record.Orders = append(record.Orders, a.OrderKept(order))
			change.Writes = append(change.Writes, ledger.Once(order))
		}
		var err error
		if forced, err = quorum.CheckReplay(mode, what, orders, standing.Operators, standing.Agents, a.Config.Verify,
			a.Config.Now().UTC()); err != nil {
			return change, err
		}
		err = a.Append(&change, interlock.EventReplayRequest, replayRun(orders), "operator", record)
		return change, err
	})
	return receipt, forced, a.RefusedOrder(ctx, strings.Join(operators[:min(len(operators), 1)], ""), what, err)
}

// EndReplay records what came of a replay that BeginReplay has recorded on the same orders.
func (a *Governance) EndReplay(ctx context.Context, orders []interlock.Order,
	result auditlog.ReplayResultRecord) (ledger.Receipt, error) {
	return a.Event(ctx, interlock.EventReplayResult, replayRun(orders), "system", result)
}

// replayRun is the run that the events of one replay are in: one of its own, so that nothing of it falls into the runs it
// is about.
func replayRun(orders []interlock.Order) interlock.Requester {
	return interlock.Requester{Agent: orders[0].Operator, Run: "replay:" + orders[0].ID}
}

// Tried records what an action did in a throw-away copy. It must name the decision on that action, and belong to the one who
// proposed it: what an approver is shown of a request was seen by the door that ran it, and by no one else's.
func (a *Governance) Tried(ctx context.Context, r interlock.Requester, run interlock.DryRun) error {
	entry, found, err := a.Config.Store.Entry(ctx, run.Event)
	if err != nil {
		return err
	}
	if !found {
		return interlock.Errorf(interlock.CodeNotFound, "/event_id", "no decision has this id")
	}
	decision, agent, err := auditlog.DecisionOf(entry)
	if err != nil || agent != r.Agent || decision.Action != run.Action {
		return interlock.Errorf(interlock.CodeInvalid, "/event_id", "is no decision on this action of this agent")
	}
	effects := make([]interlock.Effect, len(run.Effects))
	for i, e := range run.Effects {
		e.Path, e.Diff = a.Redact(e.Path), a.Redact(e.Diff)
		effects[i] = e
	}
	run.Effects = effects
	_, err = a.Event(ctx, interlock.EventDryRun, r, "agent", auditlog.DryRunRecord{Run: run})
	return err
}

// shown reports whether the dry run that an answer names is one of the request's action, made for this request by its agent.
func (a *Governance) shown(ctx context.Context, request interlock.ApprovalRequest, approval interlock.Approval) error {
	if approval.DryRun == "" {
		return nil // whether there had to be one is for package quorum to say
	}
	entry, found, err := a.Config.Store.Entry(ctx, approval.DryRun)
	if err != nil {
		return err
	}
	if found {
		run, runErr := auditlog.DryRunOf(entry)
		event, eventErr := auditlog.ParseEvent(entry.Body)
		if runErr == nil && eventErr == nil && run.Request == request.ID && run.Action == request.Action &&
			event.Actor == request.Requester.Agent {
			return nil
		}
	}
	return interlock.Errorf(interlock.CodeInvalid, "dry_run", "is no dry run of this request")
}

// readSealed is [core.Core.ReadSealed] of an auditor only while they may read unredacted.
func (a *Governance) readSealed(ctx context.Context, c *core.PendingOrder) error {
	if err := quorum.MayAudit(c.Standing.Operators[c.Operator], a.Council().Audit, c.Now); err != nil {
		return err
	}
	return a.ReadSealed(ctx, c)
}

// RecordAccess records that an auditor opens a page that is not redacted, before they see it.
func (a *Governance) RecordAccess(ctx context.Context, operator, page string) error {
	_, err := a.Event(ctx, interlock.EventAccess, interlock.Requester{Agent: operator}, "operator", auditlog.AccessRecord{
		Order: interlock.Order{Verb: interlock.VerbReadSealed, Subject: core.Bounded(page, core.MaxDetail), Operator: operator,
			At: a.Config.Now().UTC(), Method: interlock.MethodSession}})
	return err
}

// RecordLook records that somebody looks at what is decided or recorded through a door of programs, before they see it, under the profile
// by which every call leaves an event (MACE safety boundaries 12).
func (a *Governance) RecordLook(ctx context.Context, by interlock.Requester, what string) error {
	if !a.Containment.MACE() {
		return nil
	}
	_, err := a.Event(ctx, interlock.EventAccess, by, "agent", auditlog.AccessRecord{
		Order: interlock.Order{Verb: interlock.VerbReadSealed, Subject: a.Redact(core.Bounded(what, core.MaxDetail)), Operator: by.Agent,
			At: a.Config.Now().UTC()}})
	return err
}

// findMend refuses an order to mend anything else than what is beside the log.
func (a *Governance) findMend(c *core.PendingOrder) error {
	if c.Subject != interlock.MendSubject || c.Detail == "" {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "what is mended is the %s, as `interlock audit mend` shows it",
			interlock.MendSubject)
	}
	return nil
}

// mend has what somebody else did beside the log put right, as far as that was shown to who signed.
func (a *Governance) mend(ctx context.Context, c *core.PendingOrder) error {
	mend := &ledger.Mend{Plan: interlock.Digest(c.Detail)}
	if a.Config.Said != nil {
		said, err := a.Config.Said(ctx)
		if err != nil {
			return err
		}
		mend.Said = said
	}
	c.Change.Mend = mend
	return a.Append(&c.Change, interlock.EventMended, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.MendRecord{Plan: mend.Plan, Order: a.OrderKept(c.Order)})
}

// RedteamReported records what came of attacks that were put to the gates (MACE 9.2). Where something passed that must not,
// people are told: no attack was carried out, and the next one to find the same attack may carry it out.
func (a *Governance) RedteamReported(ctx context.Context, record auditlog.RedteamRecord) error {
	system := interlock.Requester{Agent: "interlock"}
	var change ledger.Change
	if err := a.Append(&change, interlock.EventRedteam, system, "system", record); err != nil {
		return err
	}
	if !record.Passed {
		if err := a.Raise(&change, system, "red-team",
			"a red-team run found attacks that pass or work that doesn't; `interlock audit list --type REDTEAM_REPORT` names its seed"); err != nil {
			return err
		}
	}
	_, err := a.Config.Store.Commit(ctx, change)
	return err
}
