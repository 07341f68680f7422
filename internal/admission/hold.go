package admission

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// maxHeld is how many holds one finding makes: what is broken in more places than that is held by the first of them.
const maxHeld = 20

// holdable names the holds that would keep this process from deciding: those on the ruleset and on the snapshots in force.
func (a *Admission) holdable() []ledger.Ref {
	now := a.force.Load()
	refs := []ledger.Ref{killRef(), key(ledger.Hold, ledger.HoldName(ledger.HoldRuleset, string(now.Rules.Digest())))}
	if now.manifest != "" {
		refs = append(refs, key(ledger.Hold, ledger.HoldName(ledger.HoldManifest, string(now.manifest))))
	}
	return refs
}

// held objects to every action where a hold is on what it is decided under. Nothing lowers a denial of layer 1.
func held(standing ledger.Standing) (found []interlock.Finding) {
	if len(standing.Others) == 0 {
		return nil
	}
	for _, h := range standing.Holds() {
		if h.Scope != ledger.HoldRuleset && h.Scope != ledger.HoldManifest {
			continue
		}
		found = append(found, interlock.Finding{Gate: "hold", Rule: "hold." + string(h.Scope), Layer: 1, Verdict: interlock.Deny,
			Reason: string(h.Cause) + ": nothing is decided under the " + heldWhat(h.Scope) + " in force until an admin clears the hold " +
				h.Name(),
			Suggestion: "tell an operator: `interlock hold list` says what was found, `interlock hold clear` ends it"})
	}
	return found
}

func heldWhat(scope ledger.HoldScope) string {
	switch scope {
	case ledger.HoldRuleset:
		return "ruleset"
	case ledger.HoldManifest:
		return "snapshots"
	}
	return "record"
}

// Holds lists the holds that stand, oldest first.
func (a *Admission) Holds(ctx context.Context) (list []ledger.HoldBody, err error) {
	rows, _, err := a.config.Store.Load(ctx, under(ledger.Hold, ledger.All))
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
func (a *Admission) Hold(ctx context.Context, found ...ledger.HoldBody) error {
	var refs []ledger.Ref
	for n := range found[:min(len(found), maxHeld)] {
		refs = append(refs, key(ledger.Hold, found[n].Name()))
	}
	rows, _, err := a.config.Store.Load(ctx, refs...)
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
	receipt, err := a.event(ctx, interlock.EventIntegrity, interlock.Requester{Agent: "interlock"}, "system", record)
	if err != nil {
		return err
	}
	return a.hold(ctx, fresh, refs, receipt.Events[0])
}

// hold writes holds that rest on an event.
func (a *Admission) hold(ctx context.Context, fresh []ledger.HoldBody, refs []ledger.Ref, event string) error {
	_, err := a.commitOn(ctx, false, a.rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		for _, h := range fresh {
			if _, stands := standing.Others[ledger.Hold][h.Name()]; stands {
				continue // another process has found it meanwhile
			}
			h.Cause, h.Since, h.Event, h.Order = interlock.EventIntegrity, a.config.Now().UTC(), event, ""
			change.Writes = append(change.Writes, h.Row())
			if err := a.append(&change, interlock.EventHalt, interlock.Requester{Agent: "interlock"}, "system",
				auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Event: event}); err != nil {
				return change, err
			}
		}
		if len(change.Writes) == 0 {
			return change, errUnchanged
		}
		return change, a.alarm(&change, interlock.Requester{Agent: "interlock"}, "hold",
			"nothing is decided or made again under "+fresh[0].Name()+": "+fresh[0].Why+"; `interlock hold list` says more")
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

func readHold(o interlock.Order) []ledger.Ref { return []ledger.Ref{key(ledger.Hold, o.Subject)} }

// findHold finds the hold that an order is to clear.
func findHold(c *carrying) error {
	if c.Subject == ledger.KillName {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "a stop of everything ends by: interlock kill release")
	}
	h, stands := c.standing.Others[ledger.Hold][c.Subject].(ledger.HoldBody)
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
	if h.OnActors() {
		return interlock.Errorf(interlock.CodeInvalid, "subject",
			"this is a phase or a breaker, which goes back one step at a time: `interlock phase set` and `interlock breaker reset` do that")
	}
	return nil
}

// findHoldable refuses an order to hold what is none of what can be held, or is held already.
func findHoldable(c *carrying) error {
	if scope, _, ok := ledger.HoldOf(c.Subject); !ok || len(c.Subject) > 200 {
		return interlock.Errorf(interlock.CodeInvalid, "subject",
			"is no name of what can be held, such as ruleset:sha256:..., manifest:sha256:... or event:ID; this names %.20q", string(scope))
	}
	if _, stands := c.standing.Others[ledger.Hold][c.Subject]; stands {
		return interlock.Errorf(interlock.CodeConflict, "subject", "this is held already")
	}
	return nil
}

// reportIncident holds what an operator says can't be trusted.
func (a *Admission) reportIncident(_ context.Context, c *carrying) error {
	scope, about, _ := ledger.HoldOf(c.Subject)
	kept := a.orderKept(c.Order)
	h := ledger.HoldBody{Scope: scope, Key: about, Cause: interlock.EventIncident, Why: kept.Reason,
		Since: c.now.Truncate(time.Microsecond), Order: c.ID}
	c.change.Writes = []ledger.Row{h.Row()}
	for _, kind := range []interlock.EventType{interlock.EventIncident, interlock.EventHalt} {
		if err := a.append(&c.change, kind, interlock.Requester{Agent: c.Operator}, "operator",
			auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Order: &kept}); err != nil {
			return err
		}
	}
	return a.alarm(&c.change, interlock.Requester{Agent: "interlock"}, "hold",
		"nothing is decided or made again under "+h.Name()+", by order of "+c.Operator+"; `interlock hold list` says more")
}

// clearHold ends a hold. Whatever it was on is looked at again where it is used, and held again where it is still broken.
func (a *Admission) clearHold(_ context.Context, c *carrying) error {
	h, _ := c.standing.Others[ledger.Hold][c.Subject].(ledger.HoldBody)
	kept := a.orderKept(c.Order)
	c.change.Writes = []ledger.Row{ledger.Ended(ledger.Hold, h.Name())}
	return a.append(&c.change, interlock.EventHaltClear, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why, Event: h.Event, Order: &kept})
}
