package containment

import (
	"context"
	"errors"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// maxHeld is how many holds one finding makes: what is broken in more places than that is held by the first of them.
const maxHeld = 20

func HeldWhat(scope ledger.HoldScope) string {
	switch scope {
	case ledger.HoldRuleset:
		return "ruleset"
	case ledger.HoldManifest:
		return "snapshots"
	}
	return "record"
}

// Holds lists the holds that stand, oldest first.
func (a *Containment) Holds(ctx context.Context) (list []ledger.HoldBody, err error) {
	rows, _, err := a.Config.Store.Load(ctx, core.Under(ledger.Hold, ledger.All))
	for _, row := range rows {
		if h, ok := row.Value.(ledger.HoldBody); ok {
			list = append(list, h)
		}
	}
	return list, err
}

// Hold has nothing decided, and nothing made again, under what was found to be missing or another than it was. What is held already
// stays as it is and leaves no further event, so that finding it again and again fills no log. The failure is recorded by itself
// before what comes of it, so that each hold names the event it rests on.
func (a *Containment) Hold(ctx context.Context, found ...ledger.HoldBody) error {
	var refs []ledger.Ref
	for n := range found[:min(len(found), maxHeld)] {
		refs = append(refs, core.Key(ledger.Hold, found[n].Name()))
	}
	rows, _, err := a.Config.Store.Load(ctx, refs...)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[row.Key] = row.Value != nil
	}
	record := auditlog.IntegrityRecord{}
	var fresh []ledger.HoldBody
	for n := range found[:len(refs)] {
		if name := found[n].Name(); !known[name] {
			known[name] = true
			record.Held = append(record.Held, name)
			fresh = append(fresh, found[n])
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	record.Why = fresh[0].Why
	receipt, err := a.Event(ctx, interlock.EventIntegrity, interlock.Requester{Agent: "interlock"}, "system", record)
	if err != nil {
		return err
	}
	return a.hold(ctx, fresh, refs, receipt.Events[0])
}

// hold writes holds that rest on an event.
func (a *Containment) hold(ctx context.Context, fresh []ledger.HoldBody, refs []ledger.Ref, event string) error {
	_, err := a.CommitOn(ctx, false, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		for _, h := range fresh {
			if _, stands := standing.Others[ledger.Hold][h.Name()]; stands {
				continue // another process has found it meanwhile
			}
			h.Cause, h.Since, h.Event, h.Order = interlock.EventIntegrity, a.Config.Now().UTC(), event, ""
			change.Writes = append(change.Writes, h.Row())
			if err := a.Append(&change, interlock.EventHalt, interlock.Requester{Agent: "interlock"}, "system",
				auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Event: event}); err != nil {
				return change, err
			}
		}
		if len(change.Writes) == 0 {
			return change, core.ErrUnchanged
		}
		return change, a.Raise(&change, interlock.Requester{Agent: "interlock"}, "hold",
			"nothing is decided or made again under "+fresh[0].Name()+": "+fresh[0].Why+"; `interlock hold list` says more")
	})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	return err
}

// readHold names the hold, and all operators: whether a council sits says who ends it.
func readHold(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Hold, o.Subject), core.Under(ledger.Operator, ledger.All)}
}

// findHold finds the hold that an order is to clear.
func findHold(c *core.PendingOrder) error {
	if c.Subject == ledger.KillName {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "a stop of everything ends by: interlock kill release")
	}
	h, stands := c.Standing.Others[ledger.Hold][c.Subject].(ledger.HoldBody)
	if !stands {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no hold with this name stands; `interlock hold list` lists them")
	}
	if h.Name() == ledger.IntakeName {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "a pause ends by: interlock hold resume")
	}
	if h.Cause == interlock.EventOverride {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator",
			"an emergency override halted this, and the council clears it: interlock request create force_halt_clear --target %s", h.Name())
	}
	if h.Scope == ledger.HoldCut {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "what was taken back stays so; have it kept again")
	}
	if h.OnActors() {
		return interlock.Errorf(interlock.CodeInvalid, "subject",
			"this is a phase or a breaker, which goes back one step at a time: `interlock phase set` and `interlock breaker reset` do that")
	}
	return nil
}

// findHoldable refuses an order to hold what is none of what can be held, or is held already.
func findHoldable(c *core.PendingOrder) error {
	if scope, _, ok := ledger.HoldOf(c.Subject); !ok || len(c.Subject) > 200 {
		return interlock.Errorf(interlock.CodeInvalid, "subject",
			"is no name of what can be held, such as ruleset:sha256:..., manifest:sha256:... or event:ID; this names %.20q", string(scope))
	}
	if _, stands := c.Standing.Others[ledger.Hold][c.Subject]; stands {
		return interlock.Errorf(interlock.CodeConflict, "subject", "this is held already")
	}
	return nil
}

// reportIncident holds what an operator says can't be trusted.
func (a *Containment) reportIncident(_ context.Context, c *core.PendingOrder) error {
	kept := a.OrderKept(c.Order)
	if err := a.Append(&c.Change, interlock.EventIncident, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: c.Subject, Cause: interlock.EventIncident, Why: kept.Reason, Order: &kept}); err != nil {
		return err
	}
	return a.haltBy(c, c.Subject)
}

// clearHold ends a hold. Whatever it was on is looked at again where it is used, and held again where it is still broken.
func (a *Containment) clearHold(_ context.Context, c *core.PendingOrder) error {
	h, _ := c.Standing.Others[ledger.Hold][c.Subject].(ledger.HoldBody)
	kept := a.OrderKept(c.Order)
	c.Change.Writes = []ledger.Row{ledger.Ended(ledger.Hold, h.Name())}
	return a.Append(&c.Change, interlock.EventHaltClear, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Event: h.Event, Order: &kept})
}
