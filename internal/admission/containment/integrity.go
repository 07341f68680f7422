package containment

import (
	"context"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// alertIntegrity is the code of the alarm that a check of the log found something wrong.
const alertIntegrity = "integrity"

// maxFailures bounds how many failures a check's event names.
const maxFailures = 20

// IntegrityChecked records what a check of the whole log has found, and, where it found something wrong, the failure and an alarm in the same
// commit (MACE 10). What is wrong with the log itself holds nothing: every decision rests on proofs that it looks at itself, and a
// replay refuses what does not verify.
func (a *Containment) IntegrityChecked(ctx context.Context, found auditlog.IntegritySummary) error {
	found.Failures = found.Failures[:min(len(found.Failures), maxFailures)]
	var change ledger.Change
	self := interlock.Requester{Agent: "interlock"}
	if err := a.Append(&change, interlock.EventIntegritySummary, self, "system", found); err != nil {
		return err
	}
	if len(found.Failures) > 0 {
		if err := a.Unsound(&change, found.Failures); err != nil {
			return err
		}
	}
	_, err := a.Config.Store.Commit(ctx, change)
	return err
}

// IntegrityFailed records a failure of integrity that somebody found who looked for it, and raises an alarm.
func (a *Containment) IntegrityFailed(ctx context.Context, failures []string) error {
	var change ledger.Change
	if err := a.Unsound(&change, failures); err != nil {
		return err
	}
	_, err := a.Config.Store.Commit(ctx, change)
	return err
}

func (a *Containment) Unsound(change *ledger.Change, failures []string) error {
	self := interlock.Requester{Agent: "interlock"}
	if err := a.Append(change, interlock.EventIntegrity, self, "system",
		auditlog.IntegrityRecord{Why: IntegrityWhy(failures)}); err != nil {
		return err
	}
	return a.Raise(change, self, alertIntegrity, IntegrityWhy(failures)+"; keep the store as evidence, and run `interlock "+
		"audit verify`")
}

// IntegrityWhy is what an event says of failures: the first ones.
func IntegrityWhy(failures []string) string {
	return strings.Join(failures[:min(len(failures), maxFailures)], "; ")
}
