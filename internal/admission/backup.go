package admission

import (
	"context"
	"errors"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/ledger"
)

// servedBy tells the hold of a backup that its agent has acted: while nothing is refused it, the time runs after which it may write.
func servedBy(m *containment.HoldTransition, over []ledger.HoldBody, p *Case, d interlock.Decision, handed bool) {
	refused := containment.WantsWhatItMayNot(d) || len(p.limited) > 0 && !d.Answer.Allowed()
	if !refused && (handed || !d.Answer.Allowed()) {
		return
	}
	for _, h := range over {
		after, changed := h.Acted(m.A.Healing(), refused, m.Now)
		if !changed {
			continue
		}
		h.Hold = after
		m.Holds[h.Name()] = h
		m.Change.Writes = append(m.Change.Writes, h.Row())
	}
}

// healed looks, once for each decision, at what may have healed, and reports whether the decision is to be made again.
func (a *Admission) healed(ctx context.Context, p *Case, err error) bool {
	if !errors.Is(err, containment.ErrHeals) {
		return false
	}
	p.healed = true
	_, _ = a.HealDue(ctx, a.Config.Now().UTC()) // what fails here stays as strict as it is, and is tried again
	return true
}
