package containment

import (
	"context"
	"math"
	"time"

	"interlock/internal/admission/core"
	"interlock/internal/anomaly"
	"interlock/internal/ledger"
)

// A Profiled is an agent or a type, with how unusual what it does is.
type Profiled struct {
	ledger.ProfileBody
	Score anomaly.Score
}

// maxProfiled bounds how many profiles are listed.
const maxProfiled = 1000

// Profiles lists how agents and types behave, as the log says up to its end, those that did something last first. It writes nothing.
func Profiles(ctx context.Context, store core.Store, log core.Log) ([]Profiled, error) {
	a, err := newActivity(ctx, store, log)
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		if more, err = a.read(ctx, func(*ledger.ProfileBody, time.Time) error { return nil }); err != nil {
			return nil, err
		}
	}
	span := ledger.Every(maxProfiled)
	span.Newest, span.UpTo = true, math.MaxInt64
	rows, _, err := store.Scan(ctx, core.Under(ledger.Profile, ledger.Until), span)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if body, ok := row.Value.(ledger.ProfileBody); ok && body.Name != ledger.ProfileCursor && a.names[body.Name] == nil {
			a.names[body.Name] = &body
		}
	}
	list := make([]Profiled, 0, len(a.names))
	for _, name := range sortedKeys(a.names) {
		p := a.names[name]
		list = append(list, Profiled{*p, p.Profile.Score(a.kindOf(p), p.Told(p.Last))})
	}
	return list, nil
}
