package core

import (
	"context"
	"math"

	"interlock/internal/ledger"
	"interlock/internal/meter"
)

// A Source gets what was used under many keys at once and sets it with a change. Limits, budgets and judges' budgets are read and written
// by nothing else: a new kind of limit says what its keys and its bound are.
type Source struct{ Load LoadRows }

// Meters is the source that the store is.
func (a *Core) Meters() Source { return Source{a.Config.Store.Load} }

// Get returns what was used under each of some keys, as [ledger.UsageKey] makes them. Under one that is not there nothing was used.
func (s Source) Get(ctx context.Context, keys ...string) ([]meter.Count, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	refs := make([]ledger.Ref, len(keys))
	for n, name := range keys {
		refs[n] = Key(ledger.Usage, name)
	}
	rows, _, err := s.Load(ctx, refs...)
	found := DecisionRows{Rows: rows}
	counts := make([]meter.Count, len(keys))
	for n, ref := range refs {
		counts[n] = Used(&found, ref)
	}
	return counts, err
}

// Used is what was used by a row of a ground.
func Used(g *DecisionRows, ref ledger.Ref) meter.Count { return Found[ledger.UsageBody](g, ref).Count }

// Set adds to a change what is used: in the store's transaction all of it is taken, or nothing is; what was taken before is put right.
func (s Source) Set(change *ledger.Change, take []ledger.Spend, right ...ledger.Settling) {
	change.Spends = append(change.Spends, take...)
	for _, one := range right {
		change.Writes = append(change.Writes, ledger.Rows(one)...)
	}
}

// Counted returns what was used under each of some keys, for pages.
func (a *Core) Counted(ctx context.Context, keys ...string) ([]meter.Count, error) {
	return a.Meters().Get(ctx, keys...)
}

// EachUse visits what was used of everything that is counted, that which counts for longest first, until so many were looked at. It says
// how many those were, and whether they are all.
func EachUse(ctx context.Context, from Scanner, most int, visit func(ledger.CountedFor)) (looked int, all bool, err error) {
	span := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	for looked < most && !all {
		rows, next, err := from.Scan(ctx, Under(ledger.Usage, ledger.Until), span)
		if err != nil {
			return looked, false, err
		}
		for _, row := range rows {
			if use, is := ledger.ForWhom(row); is {
				visit(use)
			}
		}
		looked, span.After, all = looked+len(rows), next, next == (ledger.Place{})
	}
	return looked, all, nil
}
