package containment

import (
	"context"
	"strconv"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// judgeFull is how much of its context window one question with its answer may take of a judge, in percent, before its layer of control
// moves (EC-2.17). A judge keeps nothing from one question to the next, so that no conversation fills it: what fills it is how much
// ground rules and question have grown beside its window.
const judgeFull = 85

// JudgesFilled moves the judge's layer of control, and nothing of the agent's, where a judge's own context is nearly full. It is
// done before the decision is made once more, which then reads the layer's phase. An error is not the decision's: what could not
// be written is found again by the next question.
func (a *Containment) JudgesFilled(ctx context.Context, said []interlock.Judgment) {
	if a.Tier() < 2 {
		return
	}
	for n := range said {
		j := &said[n]
		if j.Context < judgeFull {
			continue
		}
		err := a.Tighten(ctx, Tightening{Scope: ledger.HoldLayer, Key: phase.LayerJudge, To: phase.Alternate, Trigger: phase.TriggerContext,
			Why: "the judge " + j.Judge + " has so much of its own context window taken by one question, in percent: " + strconv.Itoa(j.Context)})
		if err == nil {
			err = a.contextsTogether(ctx)
		}
		if err != nil && a.Config.Alert != nil {
			a.Config.Alert("judge-context", err.Error())
		}
		return
	}
}

// contextsTogether moves agents further whose own context is nearly full while the judge's layer is in a stricter phase: what they do is
// then looked at least well when they know least of what they were told (EC-T2.20). Either alone leads to alternate.
func (a *Containment) contextsTogether(ctx context.Context) error {
	if a.Tier() < 2 {
		return nil
	}
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Hold, ledger.All), ledger.Every(core.MaxAtOnce))
	if err != nil {
		return err
	}
	now := a.Config.Now().UTC()
	var full []string
	judge := false
	for _, row := range rows {
		h, ok := row.Value.(ledger.HoldBody)
		switch {
		case !ok || h.Breaker != nil:
		case h.Scope == ledger.HoldLayer && h.Key == phase.LayerJudge:
			judge = h.AsOf(now).Phase.Compare(phase.Alternate) >= 0
		case h.Scope == ledger.HoldAgent && h.Trigger == phase.TriggerContext:
			full = append(full, h.Key)
		}
	}
	if !judge {
		return nil
	}
	for _, agent := range full {
		err := a.Tighten(ctx, Tightening{Scope: ledger.HoldAgent, Key: agent, To: phase.Contingency, Trigger: phase.TriggerContext,
			Why: "its own context is nearly full while the judge's layer of control is in a stricter phase"})
		if err != nil {
			return err
		}
	}
	return nil
}
