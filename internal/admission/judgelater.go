package admission

import (
	"interlock"
	"interlock/internal/ledger"
)

// Where an operator has said so of a class of actions, a judge is heard after the action was let through, or of a share of the class
// only (ASA 17.1, 17.2). Nothing that can't be undone for certain is: see [gate.JudgedBefore], which every decision holds it to. That it
// was so stands in the decision's record, as what the judge did not say, with what was drawn, so that the decision is made again alike.

// writeOwed adds to the change that lets an action through that its judge is owed an answer, where one is.
func (w *pendingDecision) writeOwed() error {
	a, p, d, now := w.a, w.Case, w.made.Decision, w.now
	j := &p.judging
	if j.Owes == nil || j.Owes.Key != j.Key || len(j.Said) != 1 || j.Said[0].Failure != interlock.JudgeOwed || !d.Answer.Allowed() {
		return nil
	}
	by, err := a.Self()
	if err != nil {
		return err
	}
	asks := j.Owes.Asks[0]
	w.change.Writes = append(w.change.Writes, ledger.Rows(ledger.OwedBody{Requester: p.Requester, Action: j.Owes.Action, Impacts: j.Owes.Impacts,
		Class: asks.Class, Payload: string(asks.Payload), Judge: j.Said[0].Judge, By: by, At: now, Until: now.Add(a.Config.JudgeLater.Within)})...)
	return nil
}
