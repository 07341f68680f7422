package admission

import (
	"context"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// BeginReplay records that recorded decisions are to be made again in a mode, on signed orders, or that the orders are not
// enough. Nothing is made again before it has returned without an error. forced says that a divergence need not stop it.
func (a *Admission) BeginReplay(ctx context.Context, mode quorum.ReplayMode, what string,
	orders []interlock.Order) (receipt ledger.Receipt, forced bool, err error) {
	var operators names
	for _, order := range orders {
		operators.add(order.Operator)
	}
	halted := ledger.HoldName(ledger.HoldReplays, ledger.HoldAll)
	reads := []ledger.Ref{key(ledger.Hold, halted)}
	for _, name := range operators {
		reads = append(reads, key(ledger.Operator, name))
	}
	receipt, err = a.commitOn(ctx, false, a.rows(reads...), func(standing ledger.Standing) (ledger.Change, error) {
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
			if err := a.mayBeWeak(ctx, order.Weak); err != nil {
				return change, err
			}
			record.Orders = append(record.Orders, a.orderKept(order))
			change.Writes = append(change.Writes, ledger.Once(order))
		}
		var err error
		if forced, err = quorum.CheckReplay(mode, what, orders, standing.Operators, standing.Agents, a.config.Verify,
			a.config.Now().UTC()); err != nil {
			return change, err
		}
		err = a.append(&change, interlock.EventReplayRequest, replayRun(orders), "operator", record)
		return change, err
	})
	return receipt, forced, a.refusedOrder(ctx, strings.Join(operators[:min(len(operators), 1)], ""), what, err)
}

// EndReplay records what came of a replay that BeginReplay has recorded on the same orders.
func (a *Admission) EndReplay(ctx context.Context, orders []interlock.Order,
	result auditlog.ReplayResultRecord) (ledger.Receipt, error) {
	return a.event(ctx, interlock.EventReplayResult, replayRun(orders), "system", result)
}

// replayRun is the run that the events of one replay are in: one of its own, so that nothing of it falls into the runs it
// is about.
func replayRun(orders []interlock.Order) interlock.Requester {
	return interlock.Requester{Agent: orders[0].Operator, Run: "replay:" + orders[0].ID}
}
