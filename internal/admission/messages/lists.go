package messages

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// WaitsFor says why a message waits for a person, for one who is asked; nothing where it does not. Whether its receiver's type
// takes what nobody could look into is not known here.
func WaitsFor(ctx context.Context, from interface {
	Load(context.Context, ...ledger.Ref) ([]ledger.Row, int64, error)
}, m ledger.MessageBody, now time.Time) (why []string, err error) {
	if m.Status != interlock.MessageWaiting {
		return nil, nil
	}
	p := &MessageCheck{M: m}
	rows, _, err := from.Load(ctx, p.Refs()...)
	if err != nil {
		return nil, err
	}
	var standing ledger.Standing
	book := ledger.NewBook()
	for _, row := range rows {
		if err := book.Into(row, &standing); err != nil {
			return nil, err
		}
	}
	for _, f := range p.waits(&ruleset.Type{}, &standing, now) {
		why = append(why, f.Reason)
	}
	return why, nil
}
