package sqlite

import (
	"bytes"
	"context"
	"errors"

	"interlock/internal/ledger"
)

// CheckStanding calls visit for everything that stands beside the log and is not as Interlock wrote it: rows, the proofs of what
// there is of them, and the marks by which they are found. It needs the log's private key.
func (s *Store) CheckStanding(ctx context.Context, visit func(*ledger.Tampered) error) error {
	if s.options.Sealer == nil {
		return errors.New("sqlite: Options.Sealer is missing")
	}
	return s.alone(ctx, "check what stands", func(c *conn) error {
		version, err := s.version(ctx, c)
		if err != nil || version < provedSince {
			return err
		}
		n := &snapshot{store: s, conn: c}
		return n.steadily(ctx, func() error { return n.check(ctx, visit) })
	})
}

// check is CheckStanding of one reading.
func (n *snapshot) check(ctx context.Context, visit func(*ledger.Tampered) error) error {
	if err := n.begin(ctx); err != nil {
		return err
	}
	if !n.proofs.sound {
		if err := visit(unsound()); err != nil {
			return err
		}
	}
	wrong := map[int]bool{} // parts in which a row was named
	if err := n.checkRows(ctx, wrong, visit); err != nil {
		return err
	}
	if n.proofs.sound {
		if err := n.checkParts(ctx, wrong, visit); err != nil {
			return err
		}
	}
	return n.conn.each(ctx, "SELECT m.kind, m.mark FROM marks m LEFT JOIN rows r ON r.id = m.row AND r.kind = m.kind "+
		"WHERE r.body IS NULL", nil, func(scan func(...any) error) error {
		t := &ledger.Tampered{What: "is a mark of nothing that is there"}
		if err := scan(&t.Kind, &t.Key); err != nil {
			return err
		}
		return visit(t)
	})
}

// checkRows looks at every row of a kind that is proved, and at its marks.
func (n *snapshot) checkRows(ctx context.Context, wrong map[int]bool, visit func(*ledger.Tampered) error) error {
	s := n.store
	query := "SELECT id, kind, key, body, owner, proof, (SELECT count(*) FROM marks m WHERE m.row = r.id AND m.kind = r.kind) FROM rows r " +
		"ORDER BY id"
	return n.conn.each(ctx, query, nil, func(scan func(...any) error) error {
		var id int64
		var number *int64
		var proof []byte
		var marks int
		r := ledger.Row{}
		if err := scan(&id, &r.Kind, &r.Key, &r.Body, &number, &proof, &marks); err != nil {
			return err
		}
		if !s.book.Proved(r.Kind) {
			return nil
		}
		genuine := s.proofOf(r)
		owner, err := s.book.Owner(r)
		about, aboutErr := s.book.About(r)
		what := ""
		switch {
		case err != nil || aboutErr != nil || !bytes.Equal(proof, genuine[:]):
			what = "was not written by Interlock as it is"
		case (owner == "") != (number == nil) || owner != "" && *number != ownerNumber(owner):
			what = "has lost its place among what stands"
		case len(about.Marks) != marks:
			what = "is not found where it should be"
		default:
			return nil
		}
		if number != nil {
			wrong[int(*number>>partShift)%proofParts] = true
		}
		if owner != "" {
			wrong[int(ownerNumber(owner)>>partShift)] = true
		}
		return visit(&ledger.Tampered{Kind: r.Kind, Key: r.Key, What: what})
	})
}

// checkParts looks whether anything that stood is gone, or has come back.
func (n *snapshot) checkParts(ctx context.Context, wrong map[int]bool, visit func(*ledger.Tampered) error) error {
	for part := range proofParts {
		_, foreign, err := n.store.readPart(ctx, n.conn, n.proofs, part)
		tampered := (*ledger.Tampered)(nil)
		switch {
		case err == nil && len(foreign) == 0:
			continue
		case err != nil && !errors.As(err, &tampered):
			return err
		case wrong[part]:
			continue // and was named
		}
		if tampered == nil {
			tampered = foreign[0]
		}
		if err := visit(tampered); err != nil {
			return err
		}
	}
	return nil
}
