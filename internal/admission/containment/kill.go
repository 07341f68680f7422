package containment

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// KilledIn is the stop that has come furthest, of the row and the file, if there is any.
func (a *Containment) KilledIn(standing *ledger.Standing, now time.Time) (h ledger.HoldBody, any bool) {
	if h, any = standing.Killed(); any && h.Step(now) == ledger.KillNone { // an observer asks for it
		h, any = ledger.HoldBody{}, false
	}
	if a.Config.Kill == nil {
		return h, any
	}
	if file, thrown := a.Config.Kill.Thrown(); thrown {
		h, any = ledger.Stricter(h, file, now), true
	}
	return h, any
}

// Stopping objects to an action while everything is stopped. begins says that it would begin something that outlives its call.
func Stopping(h ledger.HoldBody, begins bool, now time.Time) []interlock.Finding {
	step, says := h.Step(now), ""
	switch {
	case step == ledger.KillStopped:
		says = "everything is stopped"
	case step == ledger.KillFrozen:
		says = "everything is being stopped: nothing new is let through, and what is under way may end"
	case step == ledger.KillClosing && begins:
		says = "everything is being stopped: nothing new is begun"
	default:
		return nil
	}
	if h.Why != "" {
		says += " (" + h.Why + ")"
	}
	return []interlock.Finding{{Gate: gate.NameKill, Rule: "kill." + string(step), Layer: 1, Verdict: interlock.Halt,
		Reason: says, Suggestion: "end here; an admin lets things go on with: interlock kill release"}}
}

// Stopped returns an error while no agent may do anything, which says why; nil otherwise. It looks at the row and at the file.
func (a *Containment) Stopped(ctx context.Context) error {
	h, any, err := a.Killed(ctx)
	if err != nil {
		return err
	}
	if any && h.Step(a.Config.Now()) == ledger.KillStopped {
		return interlock.Errorf(interlock.CodeUnauthorized, "", "everything is stopped; an admin lets things go on with: interlock kill release")
	}
	return nil
}

// Killed is the stop that is recorded, if any: also one that an observer asks for, which has stopped nothing yet.
func (a *Containment) Killed(ctx context.Context) (h ledger.HoldBody, any bool, err error) {
	g, err := a.Rows(core.KillRef())(ctx, a.Config.Store.Recall)
	if err != nil {
		return h, false, err
	}
	if h, any = a.KilledIn(&g.Standing, a.Config.Now()); !any {
		h, any = g.Killed()
	}
	return h, any, nil
}

// Kill stops everything, by the word of a machine that watches, or of somebody who has no key at hand: stopping needs no proof. The
// file is written first, so that it holds whatever becomes of the store.
func (a *Containment) Kill(ctx context.Context, mode ledger.KillMode, why, by string) (ledger.HoldBody, error) {
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	h := ledger.Kill(mode, a.Redact(why), a.Redact(by), now)
	thrown := a.throw(h, now)
	h, err := a.writeKill(ctx, h)
	if err != nil && thrown == nil && a.Config.Kill != nil {
		err = interlock.Errorf(interlock.CodeUnavailable, "", "everything is stopped, and that could not be recorded: %s",
			core.Reason(err))
	}
	return h, errors.Join(thrown, err)
}

func (a *Containment) throw(h ledger.HoldBody, now time.Time) error {
	if a.Config.Kill == nil {
		return nil
	}
	if err := a.Config.Kill.Throw(h, now); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "the file that stops everything could not be written: %v",
			core.Reason(err))
	}
	return nil
}

// settingReleased names the stop that was ended last, so that its file is known for what it is where it is still there.
const settingReleased = "kill_released"

// writeKill has the ledger say what the file says. A stop that is recorded and has come as far stays as it is.
func (a *Containment) writeKill(ctx context.Context, h ledger.HoldBody) (ledger.HoldBody, error) {
	stands := h
	_, err := a.CommitOn(ctx, false, a.Rows(core.KillRef(), core.Key(ledger.Setting, settingReleased)), func(
		standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if standing.Settings[settingReleased] == KillID(h) {
			return change, errReleased
		}
		now := a.Config.Now().UTC()
		if was, there := standing.Killed(); there {
			stronger := was.Mode == ledger.KillProposed && h.Mode != ledger.KillProposed || !ledger.Stricter(was, h, now).Since.Equal(was.Since)
			if stands = was; !stronger {
				return change, core.ErrUnchanged
			}
			stands = h
		}
		evidence := a.evidence(ctx, &change, now)
		change.Writes = []ledger.Row{h.Row()}
		if err := a.Append(&change, interlock.EventKill, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.KillRecord{Mode: string(h.Mode), Why: h.Why, By: h.By, Since: h.Since, Until: h.Deadline,
				Snapshot: evidence}); err != nil {
			return change, err
		}
		named(&change, evidence)
		if h.Mode == ledger.KillProposed {
			return change, a.Raise(&change, interlock.Requester{Agent: "interlock"}, "kill-proposed",
				"an observer asks to stop everything, which happens at "+
					h.Deadline.Format(time.RFC3339)+" unless an admin declines it (interlock kill release): "+h.Why)
		}
		return change, a.Raise(&change, interlock.Requester{Agent: "interlock"}, "kill", "everything is stopped: "+h.Why)
	})
	switch {
	case errors.Is(err, core.ErrUnchanged):
		err = nil
	case errors.Is(err, errReleased) && a.Config.Kill != nil: // its order was carried out, and the file not yet removed
		err = a.Config.Kill.Clear()
	}
	return stands, err
}

// errReleased ends a commit of a stop that an admin's order has ended.
var errReleased = errors.New("admission: this stop was ended")

// BothKilled puts right what is in one place only: the file without its row, as where somebody made it by hand, or the row
// without its file. It tightens, so it needs nobody's word.
func (a *Containment) BothKilled(ctx context.Context) error {
	if a.Config.Kill == nil {
		return nil
	}
	g, err := a.Rows(core.KillRef())(ctx, a.Config.Store.Load)
	if err != nil {
		return err
	}
	row, there := g.Killed()
	file, thrown := a.Config.Kill.Thrown()
	switch {
	case there && row.Step(a.Config.Now()) == ledger.KillNone && !thrown: // it waits for people
	case there && row.Mode == ledger.KillProposed && !thrown:
		return a.unanswered(ctx, row)
	case there && !thrown:
		return a.throw(row, a.Config.Now())
	case thrown && (!there || row.Mode == ledger.KillProposed):
		_, err = a.writeKill(ctx, ledger.Kill(file.Mode, a.Redact(file.Why), a.Redact(file.By), file.Since))
	}
	return err
}

func readKill(interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.KillRef(), core.Key(ledger.Setting, settingReleased)}
}

// findKill refuses orders about something else than everything, to stop in a way that nobody knows, or to end what does not stand.
func (a *Containment) findKill(c *core.PendingOrder) error {
	if c.Subject != interlock.KillSubject {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "only %s is stopped; this names %.40q", interlock.KillSubject, c.Subject)
	}
	if c.Verb == interlock.VerbKill {
		modes := []ledger.KillMode{ledger.KillHard, ledger.KillGraduated}
		if !slices.Contains(modes, ledger.KillMode(c.Detail)) {
			return interlock.Errorf(interlock.CodeInvalid, "detail", "stop hard or graduated, not %.40q", c.Detail)
		}
		return nil
	}
	h, there := c.Standing.Killed()
	if !there {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is stopped")
	}
	if c.Detail != KillID(h) { // another stop than the one that was looked at
		return interlock.Errorf(interlock.CodeConflict, "detail", "another stop stands than the one this order ends; look at it first")
	}
	return nil
}

// KillID tells one stop from another.
func KillID(h ledger.HoldBody) string { return h.Since.UTC().Format(time.RFC3339Nano) }

// orderKill stops everything by order.
func (a *Containment) orderKill(ctx context.Context, c *core.PendingOrder) error {
	kept := a.OrderKept(c.Order)
	h := ledger.Kill(ledger.KillMode(c.Detail), kept.Reason, c.Operator, c.Now.Truncate(time.Microsecond))
	// what was found, or has begun, goes on under the order's name
	if was, there := c.Standing.Killed(); there && was.Mode != ledger.KillProposed {
		further := ledger.Stricter(was, h, c.Now)
		h.Mode, h.Since = further.Mode, further.Since
	}
	h.Order = c.ID
	evidence := a.evidence(ctx, &c.Change, c.Now)
	c.Change.Writes = []ledger.Row{h.Row()}
	if err := a.throw(h, c.Now); err != nil { // the row stops everything as well
		if err := a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "kill", core.Reason(err)); err != nil {
			return err
		}
	}
	if err := a.Append(&c.Change, interlock.EventKill, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.KillRecord{Mode: string(h.Mode), Why: h.Why, Since: h.Since, Order: &kept,
			Snapshot: evidence}); err != nil {
		return err
	}
	named(&c.Change, evidence)
	return a.Raise(&c.Change, interlock.Requester{Agent: "interlock"}, "kill", "everything is stopped by order of "+c.Operator+": "+
		h.Why)
}

// releaseKill ends a stop. The file goes when the order is durable, see killReleased.
func (a *Containment) releaseKill(_ context.Context, c *core.PendingOrder) error {
	h, _ := c.Standing.Killed()
	kept := a.OrderKept(c.Order)
	c.Change.Writes = append([]ledger.Row{ledger.Ended(ledger.Hold, ledger.KillName)},
		ledger.Settings(map[string]string{settingReleased: KillID(h)})...)
	return a.Append(&c.Change, interlock.EventKillRelease, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.KillRecord{Mode: string(h.Mode), Why: h.Why, By: h.By, Since: h.Since, Order: &kept})
}

// killReleased removes the file of a stop that an order has ended.
func (a *Containment) killReleased(context.Context, *core.PendingOrder) error {
	if a.Config.Kill == nil {
		return nil
	}
	if err := a.Config.Kill.Clear(); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "home",
			"the order is recorded, and the file that stops everything could not be removed (%v): remove the file `killed` in the home",
			core.Reason(err))
	}
	return nil
}
