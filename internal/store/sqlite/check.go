package sqlite

import (
	"context"
	"errors"
	"fmt"

	"interlock/internal/ledger"
)

// CheckStanding calls visit for everything beside the log that is not as Interlock wrote it, in every table. It needs the log's private
// key.
func (s *Store) CheckStanding(ctx context.Context, visit func(*ledger.Tampered) error) error {
	if s.options.Sealer == nil {
		return errors.New("sqlite: Options.Sealer is missing")
	}
	return s.alone(ctx, "check what stands", func(c *conn) error {
		version, err := s.version(ctx, c)
		if err != nil || version < besideSince {
			if err == nil && s.reached() > version {
				err = visit(older(version, s.reached()))
			}
			return err
		}
		return c.Steadily(ctx, func() error { return s.prover.Check(ctx, c, visit) })
	})
}

// older says of a store that it was of a newer version.
func older(version, reached int64) *ledger.Tampered {
	return &ledger.Tampered{What: fmt.Sprintf("the store says that it is of version %d, and was of version %d already: somebody has "+
		"changed its tables, or an older copy was put in its place", version, reached)}
}

// Repairs is what mending would do, and does nothing.
func (s *Store) Repairs(ctx context.Context, said []ledger.Row) (plan []ledger.Repair, err error) {
	if s.options.ReadOnly {
		return nil, errors.New("sqlite: the store is open for reading only")
	}
	err = s.alone(ctx, "look at what is to be mended", func(c *conn) error {
		return c.Steadily(ctx, func() (err error) {
			plan, err = s.prover.Repairs(ctx, c, said)
			return err
		})
	})
	return plan, err
}
