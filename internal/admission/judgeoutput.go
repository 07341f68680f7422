package admission

import (
	"slices"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/question"
)

// From tier 2 on judges look at what a run puts out before it is committed outside, beside the objective that the run was registered with
// and that nothing changes since (EC-2.5). It leaves in two ways: by an action that reaches beyond the machine, and as the result of a
// run that nobody delegated, which ends the orchestration. What a run hands to the one that delegated it stays inside.

// outputTier is from which tier on outputs are looked at.
const outputTier = 2

// goesOut reports whether an action commits something outside.
func goesOut(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		return i.Reversibility != interlock.Readonly && (i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction)
	})
}

// objective is what the run of a case is for, where its outputs are looked at. Its own words for each action are no part of it.
func objective(p *Case, tier int, standing ledger.Standing) string {
	if tier < outputTier {
		return ""
	}
	run, _ := standing.Run(p.Requester.Agent, standing.RunOf(p.Requester))
	return run.Task
}

func (a *Admission) output(objective, text string) (interlock.JudgeQuestion, error) {
	payload, err := question.Output(objective, text, a.config.Redact)
	return interlock.JudgeQuestion{Subject: interlock.JudgeOutput, Payload: payload, Class: "output"}, err
}
