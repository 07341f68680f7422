package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// RedteamReported records what came of attacks that were put to the gates (MACE 9.2). Where something passed that must not, people are
// told: no attack was carried out, and whoever finds the same one next may.
func (a *Admission) RedteamReported(ctx context.Context, record auditlog.RedteamRecord) error {
	system := interlock.Requester{Agent: "interlock"}
	var change ledger.Change
	if err := a.append(&change, interlock.EventRedteam, system, "system", record); err != nil {
		return err
	}
	if !record.Passed {
		if err := a.alarm(&change, system, "red-team",
			"a red-team run found attacks that pass or work that doesn't; `interlock audit list --type REDTEAM_REPORT` names its seed"); err != nil {
			return err
		}
	}
	_, err := a.config.Store.Commit(ctx, change)
	return err
}
