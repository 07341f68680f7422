package storagetest

import (
	"context"

	"interlock"
	"interlock/internal/ledger"
)

// Everything names every standing row of every kind. Only tests ask for that: what decides, shows or orders names what it
// needs.
func Everything() []ledger.Ref {
	var refs []ledger.Ref
	for _, kind := range ledger.Kinds() {
		refs = append(refs, ledger.Ref{Kind: kind.Name, Mark: ledger.All})
	}
	return refs
}

// Whole is all standing rows of a store.
func Whole(ctx context.Context, s interface {
	Load(ctx context.Context, refs ...ledger.Ref) ([]ledger.Row, int64, error)
}) (ledger.Standing, error) {
	return wholeBy(ctx, s.Load)
}

func wholeBy(ctx context.Context, load func(context.Context, ...ledger.Ref) ([]ledger.Row, int64, error)) (ledger.Standing,
	error) {
	rows, version, err := load(ctx, Everything()...)
	standing, book := ledger.Standing{Version: version,
		Agents:       map[string]interlock.AgentRecord{},
		Operators:    map[string]interlock.OperatorRecord{},
		Requests:     map[string]interlock.ApprovalRequest{},
		Suppressions: map[string]interlock.Suppression{},
		Settings:     map[string]string{},
		Challenges:   map[string]interlock.Challenge{},
		Grants:       map[string]interlock.Grant{},
		Attempts:     map[string]ledger.AttemptsBody{},
		Pins:         map[string]interlock.Pin{},
	}, ledger.NewBook()
	for _, row := range rows {
		if err == nil {
			err = book.Into(row, &standing)
		}
	}
	return standing, err
}
