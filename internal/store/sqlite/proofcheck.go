package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/ledger"
)

// CheckStanding calls visit for everything beside the log that is not as Interlock wrote it, in every table: rows, the proofs of what
// there is of them, the marks by which they are found, and the tables themselves. It needs the log's private key.
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
		n := &snapshot{store: s, conn: c}
		return n.steadily(ctx, func() error { return n.check(ctx, visit) })
	})
}

// older says of a store that it was of a newer version.
func older(version, reached int64) *ledger.Tampered {
	return &ledger.Tampered{What: fmt.Sprintf("the store says that it is of version %d, and was of version %d already: somebody has "+
		"changed its tables, or an older copy was put in its place", version, reached)}
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
	for _, look := range []func(context.Context, func(*ledger.Tampered) error) error{n.checkTables,
		func(ctx context.Context, visit func(*ledger.Tampered) error) error {
			return n.checkRows(ctx, wrong, visit)
		},
		func(ctx context.Context, visit func(*ledger.Tampered) error) error {
			return n.checkPassing(ctx, wrong, visit)
		},
		func(ctx context.Context, visit func(*ledger.Tampered) error) error {
			return n.checkParts(ctx, wrong, visit)
		},
		n.checkMarks, n.checkCalls, n.checkBlobs, n.checkNotes} {
		if err := look(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

// checkRows looks at every row of what stands, and at its marks.
func (n *snapshot) checkRows(ctx context.Context, wrong map[int]bool, visit func(*ledger.Tampered) error) error {
	s := n.store
	marks := map[int64]sum{}
	err := n.conn.each(ctx, "SELECT kind, mark, at, row FROM marks", nil, func(scan func(...any) error) error {
		var kind string
		var row int64
		var m ledger.Mark
		err := scan(&kind, &m.Name, &m.At, &row)
		total := marks[row]
		total.add(markSum(kind, m))
		marks[row] = total
		return err
	})
	if err != nil {
		return err
	}
	return n.conn.each(ctx, "SELECT id, kind, key, version, body, owner, proof FROM rows ORDER BY id", nil,
		func(scan func(...any) error) error {
			var id int64
			var number *int64
			var proof []byte
			r := ledger.Row{}
			if err := scan(&id, &r.Kind, &r.Key, &r.Version, &r.Body, &number, &proof); err != nil {
				return err
			}
			genuine := s.proofOf(r)
			r.Value, _ = s.book.Value(r) // once for both; what is wrong with it shows below
			owner, err := s.book.Owner(r)
			about, aboutErr := s.book.About(r)
			var found sum
			for _, m := range about.Marks {
				found.add(markSum(r.Kind, m))
			}
			what := ""
			switch {
			case err != nil || aboutErr != nil || !s.book.Proved(r.Kind) || !bytes.Equal(proof, genuine[:]):
				what = "was not written by Interlock as it is"
			case (owner == "") != (number == nil) || owner != "" && *number != ownerNumber(owner):
				what = "has lost its place among what stands"
			case found != marks[id]:
				what = notFound
			default:
				return nil
			}
			if number != nil {
				wrong[int(*number>>partShift)%proofParts] = true
			}
			if owner != "" {
				wrong[int(ownerNumber(owner)>>partShift)] = true
			}
			return visit(&ledger.Tampered{Table: "rows", Kind: r.Kind, Key: r.Key, What: what})
		})
}

// notFound is said of a row that has other marks than it should.
const notFound = "is not found where it should be"

// markSum is a mark as a number that can be added up in any order.
func markSum(kind string, m ledger.Mark) sum {
	return sum{low: uint64(digest8(kind, m.Name)), high: uint64(digest8(kind, m.Name, fmt.Sprint(m.At)))}
}

// checkPassing looks at every row of what passes.
func (n *snapshot) checkPassing(ctx context.Context, wrong map[int]bool, visit func(*ledger.Tampered) error) error {
	s := n.store
	return n.conn.each(ctx, "SELECT owner, kind, key, until, proof, body FROM passing ORDER BY owner", nil,
		func(scan func(...any) error) error {
			r, owner, until, proof := ledger.Row{}, int64(0), int64(0), []byte(nil)
			if err := scan(&owner, &r.Kind, &r.Key, &until, &proof, &r.Body); err != nil {
				return err
			}
			if genuine := s.passProof(r, until); bytes.Equal(proof, genuine[:]) && owner == passNumber(r.Kind, r.Key) {
				return nil
			}
			if owner >= 0 {
				wrong[passPart(owner)] = true
			}
			wrong[passPart(passNumber(r.Kind, r.Key))] = true
			return visit(&ledger.Tampered{Table: "passing", Kind: r.Kind, Key: r.Key, What: "was not written by Interlock as it is"})
		})
}

// checkParts looks whether anything that was there is gone, or has come back.
func (n *snapshot) checkParts(ctx context.Context, wrong map[int]bool, visit func(*ledger.Tampered) error) error {
	for part := range proofParts + passParts {
		if !n.proofs.sound {
			return nil
		}
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

// checkMarks looks for marks of nothing.
func (n *snapshot) checkMarks(ctx context.Context, visit func(*ledger.Tampered) error) error {
	return n.conn.each(ctx, "SELECT m.kind, m.mark FROM marks m LEFT JOIN rows r ON r.id = m.row AND r.kind = m.kind "+
		"WHERE r.body IS NULL", nil, func(scan func(...any) error) error {
		t := &ledger.Tampered{Table: "marks", What: "is a mark of nothing that is there"}
		if err := scan(&t.Kind, &t.Key); err != nil {
			return err
		}
		return visit(t)
	})
}

// checkCalls looks at every call, and whether one is gone.
func (n *snapshot) checkCalls(ctx context.Context, visit func(*ledger.Tampered) error) error {
	s, total, foreign := n.store, sum{}, false
	query := strings.Replace(s.filedQuery("id IS NOT NULL ORDER BY id"), "NULL FROM", "proof FROM", 1)
	err := n.conn.each(ctx, query, nil, func(scan func(...any) error) error {
		var f filedRow
		genuine, err := f.scan(s, scan)
		if err != nil {
			return err
		}
		if genuine {
			total.add(f.adds)
			return nil
		}
		foreign = true
		return visit(&ledger.Tampered{Table: "calls", Kind: ledger.Call, Key: fmt.Sprint(f.id), What: "was not written by Interlock as it is"})
	})
	if err != nil || !n.proofs.sound || foreign || total == n.proofs.sums[calls] {
		return err
	}
	return visit(&ledger.Tampered{Table: "calls", What: "how a call was decided was taken away, or put back to what it was"})
}

// checkBlobs looks at what stands beside every blob, and whether one is gone. What they hold is for who knows what their digests mean.
func (n *snapshot) checkBlobs(ctx context.Context, visit func(*ledger.Tampered) error) error {
	s, total, foreign := n.store, sum{}, false
	err := n.conn.each(ctx, "SELECT digest, at, used, proof FROM blobs ORDER BY id", nil, func(scan func(...any) error) error {
		var r blobRow
		if err := scan(&r.digest, &r.at, &r.used, &r.proof); err != nil {
			return err
		}
		proof, adds := r.tagged(s)
		if bytes.Equal(proof[:], r.proof) {
			total.add(adds)
			return nil
		}
		foreign = true
		return visit(&ledger.Tampered{Table: "blobs", Kind: "text", Key: r.digest, What: "was not stored by Interlock as it is"})
	})
	if err != nil || !n.proofs.sound || foreign || total == n.proofs.sums[blobs] {
		return err
	}
	return visit(&ledger.Tampered{Table: "blobs", What: "a text that decisions were made from was taken away, or put back to what it was"})
}

// checkNotes looks whether ids are noted as they should be.
func (n *snapshot) checkNotes(ctx context.Context, visit func(*ledger.Tampered) error) error {
	var size int64
	if _, err := n.conn.row(ctx, "SELECT size FROM head WHERE one = 1", nil, &size); err != nil {
		return err
	}
	name := func(first int64) *ledger.Tampered {
		return &ledger.Tampered{Table: "ids", Kind: "list of ids", Key: fmt.Sprint("from entry ", first),
			What: "is missing or was not written by Interlock as it is"}
	}
	err := n.store.eachNotes(ctx, n.conn, size, func(first int64, notes []byte) error {
		if notes == nil {
			return visit(name(first))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return n.conn.each(ctx, "SELECT first FROM ids WHERE first < 0 OR first >= ? OR first % ? <> 0", []any{size - size%idBlock, idBlock},
		func(scan func(...any) error) error {
			var first int64
			if err := scan(&first); err != nil {
				return err
			}
			return visit(name(first))
		})
}
