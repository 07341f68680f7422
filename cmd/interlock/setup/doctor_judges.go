package setup

import (
	"fmt"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/prove"
	"interlock/embedded"
	"interlock/internal/judgments"
	"interlock/internal/ledger"
)

// How far doctor looks back for agents that reason with a judge's model.
const (
	sharedWithin = 7 * 24 * time.Hour
	sharedReads  = 1000 // alerts
)

// sharedModels says which agents were reported to reason with the model of a judge lately.
func (d *Diagnosis) sharedModels() {
	backend, err := d.Program.OpenUnder(d.Settings)
	if err != nil {
		return // the check of the store says so
	}
	defer backend.Close()
	entries, err := backend.Store.Entries(d.Program.Ctx, interlock.EventAlert, ledger.Before(-1, sharedReads))
	if err != nil {
		return // likewise
	}
	told := map[string]bool{}
	for _, e := range entries {
		seen, tells := judgments.Of(e)
		if !tells || !seen.Shared || told[seen.Agent] || d.Program.Now().Sub(seen.At) > sharedWithin {
			continue
		}
		told[seen.Agent] = true
		d.note("judge", "", statusWarn, "%s was reported to reason with the model of a judge, which then shares its mistakes: give the judge "+
			"another model in judge.judges, and name the agent's under judge.reasoning", seen.Agent)
	}
}

// judges proves every judge of the settings, as a question to each would.
func (d *Diagnosis) judges() {
	d.owed()
	if !d.Settings.Judge.IsSet() {
		return
	}
	clients, _, err := prove.JudgePick{}.Those(d.Program)
	if err != nil {
		d.note("judge", "", statusFail, "%s", err)
		return
	}
	for _, one := range clients {
		switch trial := one.Test(d.Program.Ctx); {
		case trial.Passed:
			d.note("judge", "", statusOK, "%s %s", trial.Judge, prove.JudgeTrial(trial))
		default:
			d.note("judge", "", statusFail, "%s %s; what needs it is denied: %s", trial.Judge, prove.JudgeTrial(trial),
				prove.FailureFix(trial, "judge.judges."+trial.Judge))
		}
	}
	d.sharedModels()
	ground, err := embedded.GroundRulesNow(d.Program.Ctx, d.Settings)
	if err != nil {
		d.note("ground rules", "", statusFail, "%s", err)
		return
	}
	status, said := statusOK, fmt.Sprintf("%d rules, %s, %s", len(ground.Rules.Rules()), ground.Rules.Digest(),
		prove.GroundOrigin(ground))
	if standing := prove.GroundStanding(ground); standing != "" {
		status, said = statusWarn, standing
	}
	d.note("ground rules", "", status, "%s", said)
}

// owed says of judgments that are overdue: no server runs that could ask for them, or none can record what it hears.
func (d *Diagnosis) owed() {
	opened, _, err := d.Program.AuditStore()
	if err != nil {
		return // other checks say what is wrong with the store
	}
	defer opened.Close()
	rows, _, err := opened.Scan(d.Program.Ctx, ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(cli.MaxListed))
	if err != nil {
		d.note("judge", "", statusFail, "what is owed a judgment can't be read: %s", err)
		return
	}
	overdue := 0
	for _, row := range rows {
		if o, is := row.Value.(ledger.OwedBody); is && d.Program.Now().After(o.Until) {
			overdue++
		}
	}
	if overdue > 0 {
		d.note("judge", "", statusFail, "%d actions were let through and their judge was not heard in time; run `interlock up`, which takes back "+
			"what can be taken back", overdue)
	}
}
