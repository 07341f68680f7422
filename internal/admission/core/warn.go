package core

import (
	"context"

	"interlock"
	"interlock/internal/ledger"
)

func (a *Core) Warned(ctx context.Context, r interlock.Requester, limit, share string) {
	var change ledger.Change
	err := a.Raise(&change, r, "limit-warning", "the limit "+limit+" is used to "+share+"; interlock limits says by whom")
	if err == nil {
		_, err = a.Config.Store.Commit(ctx, change)
	}
	if err != nil && a.Config.Alert != nil {
		a.Config.Alert("limit-warning", "not recorded: "+Reason(err))
	}
}
