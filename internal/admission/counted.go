package admission

import (
	"context"

	"interlock/internal/ledger"
)

// Counted returns how much was used of what limits and budgets count, by keys as [ledger.TakenFrom] makes them. Of what is not there
// nothing was used.
func (a *Admission) Counted(ctx context.Context, keys ...string) (map[string]ledger.UsageBody, error) {
	refs := make([]ledger.Ref, len(keys))
	for n, name := range keys {
		refs[n] = key(ledger.Usage, name)
	}
	used := map[string]ledger.UsageBody{}
	if len(refs) == 0 {
		return used, nil
	}
	rows, _, err := a.config.Store.Load(ctx, refs...)
	for _, row := range rows {
		if u, is := row.Value.(ledger.UsageBody); is {
			used[row.Key] = u
		}
	}
	return used, err
}
