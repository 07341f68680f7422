package admission

import (
	"interlock/internal/admission/judging"
	"interlock/internal/ledger"
)

// From tier 2 on judges look at what a run puts out before it is committed outside, beside the objective that the run was registered with
// and that nothing changes since (EC-2.5). It leaves in two ways: by an action that reaches beyond the machine, and as the result of a
// run that nobody delegated, which ends the orchestration. What a run hands to the one that delegated it stays inside.

// objective is what the run of a case is for, where its outputs are looked at. Its own words for each action are no part of it.
func objective(p *Case, tier int, standing ledger.Standing) string {
	if tier < judging.OutputTier {
		return ""
	}
	run, _ := standing.Run(p.Requester.Agent, standing.RunOf(p.Requester))
	return run.Task
}
