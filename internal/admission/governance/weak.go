package governance

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

func readWeakKeys(interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Setting, core.SettingWeakKeys), core.Key(ledger.Setting, core.SettingRegistry)}
}

// setWeakKeys says whether weak keys may sign from now on.
func (a *Governance) setWeakKeys(_ context.Context, c *core.PendingOrder) error {
	if c.Subject != core.WeakKeysSubject || c.Detail != core.WeakKeysMay && c.Detail != core.WeakKeysMayNot {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the order says neither that weak keys may sign nor that they may not")
	}
	text, err := json.Marshal(c.Order)
	if err != nil {
		return fmt.Errorf("encoding the order: %w", err)
	}
	return a.identified(c, auditlog.IdentityRecord{WeakKeys: true},
		ledger.Settings(map[string]string{core.SettingWeakKeys: string(text)}))
}
