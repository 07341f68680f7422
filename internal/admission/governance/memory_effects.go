package governance

import (
	"context"
	"errors"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/quorum"
)

// factEffects are what Interlock does itself of requests about stable facts, where agents keep facts here. Nothing else writes or
// deletes one (MACE 2).
func factEffects() map[string]func(*Governance, context.Context, *core.PendingOrder, *interlock.ActionRequest) error {
	return map[string]func(*Governance, context.Context, *core.PendingOrder, *interlock.ActionRequest) error{
		quorum.ActStable:       (*Governance).putStable,
		quorum.ActPromotion:    (*Governance).putStable,
		quorum.ActStableDelete: (*Governance).deleteStable,
	}
}

// putStable makes what waits for a request a stable fact: what was shown to those who voted, because nothing else waits for that request.
func (a *Governance) putStable(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	holder, key, ok := memory.ParseTarget(r.Action.Target)
	if !ok {
		return unstable(memory.InvalidKey, memory.KeyForm)
	}
	waits, there := c.Standing.Fact(memory.Waiting, holder, key)
	v := waits.Newest()
	switch {
	case !there || v.Request != r.ID:
		return unstable(memory.StableFailed, "no fact waits for this request: an agent asks for one with its value, or has asked for another since")
	case hiddenIn(&c.Standing)(v):
		return unstable(memory.StableFailed, "what it derives from was quarantined or taken back since it was asked for")
	}
	if why := a.unpermitted(&c.Standing, v, true); why != "" {
		return unstable(memory.PrivacyBlocked, why)
	}
	f, known := c.Standing.Fact(memory.Semantic, holder, key)
	if !known {
		full, err := a.full(ctx, &c.Change, memory.Semantic, holder, v.About)
		if err != nil {
			return err
		}
		if full != "" {
			return unstable(memory.StorageFull, full)
		}
	}
	f.Store, f.Holder, f.Key = memory.Semantic, holder, key
	v.At, v.Until = c.Now.Truncate(time.Microsecond), time.Time{}
	c.Change.Writes = append(c.Change.Writes, append(ledger.Rows(f.With(v)), ledger.Ended(ledger.Memory, waits.Place()))...)
	if err := a.told(&c.Change, interlock.EventSemPut, inRequest(*r, c.Operator), "operator", auditlog.FactStable, memory.Semantic, holder,
		key, v); err != nil {
		return err
	}
	return a.remembered(ctx, c)
}

// deleteStable deletes a stable fact, or takes back all that derives from a source and was written until now: what was written under
// those keys before it is answered again.
func (a *Governance) deleteStable(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	in := inRequest(*r, c.Operator)
	if source, is := strings.CutPrefix(r.Action.Target, string(ledger.HoldMemory)+":"); is {
		if !memory.ValidSource(source) {
			return interlock.Errorf(interlock.CodeInvalid, "target", "is no source: memory:agent:NAME, memory:run:ID or memory:source:NAME")
		}
		h := ledger.HoldBody{Scope: ledger.HoldCut, Key: source, Cause: interlock.EventSemDelete, Why: r.Justification,
			Since: c.Now.Truncate(time.Microsecond), Order: r.ID}
		c.Change.Writes = append(c.Change.Writes, h.Row())
		if err := a.told(&c.Change, interlock.EventSemDelete, in, "operator", auditlog.FactCut, "", "", source,
			memory.Version{Request: r.ID}); err != nil {
			return err
		}
		return a.remembered(ctx, c)
	}
	holder, key, ok := memory.ParseTarget(r.Action.Target)
	if !ok {
		return unstable(memory.InvalidKey, memory.KeyForm)
	}
	f, there := c.Standing.Fact(memory.Semantic, holder, key)
	if !there {
		return unstable(memory.NotFound, "no stable fact is kept under this key")
	}
	v := f.Newest()
	v.Request = r.ID
	c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Memory, f.Place()))
	if err := a.told(&c.Change, interlock.EventSemDelete, in, "operator", auditlog.FactDeleted, memory.Semantic, holder, key, v); err != nil {
		return err
	}
	return a.remembered(ctx, c)
}

func unstable(outcome, why string) error {
	return interlock.Errorf(interlock.CodeConflict, "target", "%s: %s", outcome, why)
}

// EndFacts lets go of facts that are over. Nobody is answered them before it either.
func (a *Governance) EndFacts(ctx context.Context, now time.Time) (int, error) {
	if !a.Config.Memory.Enabled {
		return 0, nil
	}
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Memory, ledger.FactsDue), ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var refs []ledger.Ref
	for _, row := range rows {
		refs = append(refs, core.Key(ledger.Memory, row.Key))
	}
	ended := 0
	_, err = a.Commit(ctx, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		ended = 0
		for _, ref := range refs {
			f, there := standing.Others[ledger.Memory][ref.Key].(memory.Fact)
			if over := f.Over(); !there || over.IsZero() || now.Before(over) {
				continue
			}
			ended++
			change.Writes = append(change.Writes, ledger.Ended(ledger.Memory, ref.Key))
			if err := a.told(&change, interlock.EventMemory, interlock.Requester{Agent: "interlock"}, "system", auditlog.FactOver, f.Store,
				f.Holder, f.Key, memory.Version{ID: f.Newest().ID}); err != nil {
				return change, err
			}
		}
		if ended == 0 {
			return change, core.ErrUnchanged
		}
		return change, nil
	})
	if errors.Is(err, core.ErrUnchanged) {
		return 0, nil
	}
	return ended, err
}
