package identity

import (
	"context"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// stopped refuses what an agent shows while the agent, its type, a layer of control or the whole system is in emergency: it may not
// even ask. The system's and its own holds are found by their marks, whatever else there is.
func stopped(ctx context.Context, ground func(context.Context, ...ledger.Ref) (ledger.Standing, error), record interlock.AgentRecord,
	now time.Time) error {
	refs := []ledger.Ref{{Kind: ledger.Hold, Mark: ledger.OverAll},
		{Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldAgent, record.ID)}}
	if record.Type != "" {
		refs = append(refs, ledger.Ref{Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldType, record.Type)})
	}
	standing, err := ground(ctx, refs...)
	if err != nil {
		return fmt.Errorf("reading what is stopped: %w", err)
	}
	for _, h := range standing.Holds() {
		over := h.Scope == ledger.HoldSystem || h.Scope == ledger.HoldLayer || h.Scope == ledger.HoldAgent && h.Key == record.ID ||
			h.Scope == ledger.HoldType && h.Key == record.Type
		if over && h.At(now).Phase.Compare(phase.Emergency) >= 0 {
			return unauthorized(h.Name() + " is in phase " + phase.Emergency.Title() + " since " +
				h.Since.UTC().Format(time.RFC3339) + ", so no agent's credential is taken; an operator's order ends that")
		}
	}
	return nil
}
