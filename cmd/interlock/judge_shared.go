package main

import (
	"time"

	"interlock"
	"interlock/internal/judgments"
	"interlock/internal/ledger"
)

// How far doctor looks back for agents that reason with a judge's model.
const (
	sharedWithin = 7 * 24 * time.Hour
	sharedReads  = 1000 // alerts
)

// sharedModels says which agents were reported to reason with the model of a judge lately.
func (d *diagnosis) sharedModels() {
	backend, err := d.program.openUnder(d.settings)
	if err != nil {
		return // the check of the store says so
	}
	defer backend.Close()
	entries, err := backend.Store.Entries(d.program.ctx, interlock.EventAlert, ledger.Before(-1, sharedReads))
	if err != nil {
		return // likewise
	}
	told := map[string]bool{}
	for _, e := range entries {
		seen, tells := judgments.Of(e)
		if !tells || !seen.Shared || told[seen.Agent] || d.program.now().Sub(seen.At) > sharedWithin {
			continue
		}
		told[seen.Agent] = true
		d.note("judge", "", statusWarn, "%s was reported to reason with the model of a judge, which then shares its mistakes: give the judge "+
			"another model in judge.judges, and name the agent's under judge.reasoning", seen.Agent)
	}
}
