package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// findMend refuses an order to mend anything else than what is beside the log.
func (a *Admission) findMend(c *carrying) error {
	if c.Subject != interlock.MendSubject || c.Detail == "" {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "what is mended is the %s, as `interlock audit mend` shows it",
			interlock.MendSubject)
	}
	return nil
}

// mend has what somebody else did beside the log put right, as far as that was shown to who signed.
func (a *Admission) mend(ctx context.Context, c *carrying) error {
	mend := &ledger.Mend{Plan: interlock.Digest(c.Detail)}
	if a.config.Said != nil {
		said, err := a.config.Said(ctx)
		if err != nil {
			return err
		}
		mend.Said = said
	}
	c.change.Mend = mend
	return a.append(&c.change, interlock.EventMended, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.MendRecord{Plan: mend.Plan, Order: a.orderKept(c.Order)})
}
