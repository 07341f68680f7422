package sqlite

import (
	"context"
	"errors"

	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// What of the store proofs are made and checked by: a connection is a [proof.Mender].

var _ proof.Mender = (*conn)(nil)

// Head reads the head of the log and what proves the rest, in one go.
func (c *conn) Head(ctx context.Context) (ledger.Head, *proof.State, error) {
	p, head := &proof.State{}, ledger.Head{}
	var masked []byte
	found, err := c.row(ctx, "SELECT h.size, h.last, h.edge, h.checkpoint, h.version, h.revision, h.tag, h.passing, h.sums, p.tags "+
		"FROM head h LEFT JOIN proofs p ON p.one = 1 WHERE h.one = 1", nil, &head.Size, &head.Last, &head.Edge, &head.Checkpoint,
		&p.At.Version, &p.At.Revision, &p.Vouched, &p.Passing, &masked, &p.Tags)
	if err == nil && !found {
		_, _, err = readHead(ctx, c) // says what is wrong
	}
	if err != nil {
		return head, nil, err
	}
	c.store.prover.Judge(head, p, masked)
	return head, p, nil
}

// How rows of owners are read, of standing and of passing ones: with all that they say where they are one owner's, everybody's,
// or nobody's.
var standing, passes = ownersOf("rows", "version"), ownersOf("passing", "until")

func ownersOf(table, number string) [3]string {
	from := " FROM " + table + " WHERE owner BETWEEN ?2 AND ?3 ORDER BY owner, proof"
	return [...]string{"SELECT owner, proof, iif(owner = ?1, kind, NULL), iif(owner = ?1, key, NULL), iif(owner = ?1, " + number + ", NULL), " +
		"iif(owner = ?1, body, NULL)" + from, "SELECT owner, proof, kind, key, " + number + ", body" + from, "SELECT owner, proof" + from}
}

// Owners visits the rows of some owners; see [proof.Reader].
func (c *conn) Owners(ctx context.Context, span proof.Span, whole int64, visit func(*proof.Stored) error) error {
	queries := standing
	if span.Passing {
		queries = passes
	}
	query := queries[0]
	if whole < 0 {
		query = queries[-whole]
	}
	var r proof.Stored
	var kind, key *string
	var number *int64 // its version, or until when it counts
	return c.each(ctx, query, []any{whole, span.From, span.UpTo}, func(scan func(...any) error) (err error) {
		if whole == proof.Nobody {
			err = scan(&r.Owner, &r.Proof)
		} else {
			err = scan(&r.Owner, &r.Proof, &kind, &key, &number, &r.Body)
		}
		if r.Owned = true; err == nil && kind != nil {
			r.Kind, r.Key = *kind, *key
			if r.Version, r.Until = *number, 0; span.Passing {
				r.Version, r.Until = 0, *number
			}
		}
		if err != nil {
			return err
		}
		return visit(&r)
	})
}

// Row reads the standing row under a key.
func (c *conn) Row(ctx context.Context, kind, key string) (r proof.Stored, err error) {
	r.Row = ledger.Row{Kind: kind, Key: key}
	var owner *int64
	_, err = c.row(ctx, "SELECT id, version, body, owner, proof FROM rows WHERE kind = ? AND key = ?", []any{kind, key}, &r.ID, &r.Version,
		&r.Body, &owner, &r.Proof)
	if r.Owned = owner != nil; r.Owned {
		r.Owner = *owner
	}
	return r, err
}

// Marked reads the standing rows under a mark, in its order.
func (c *conn) Marked(ctx context.Context, kind, mark string) (rows []ledger.Row, err error) {
	err = c.each(ctx, "SELECT r.key, r.version, r.body FROM marks m CROSS JOIN rows r ON r.id = m.row WHERE m.kind = ? AND m.mark = ? "+
		"ORDER BY m.at, m.row", []any{kind, mark}, func(scan func(...any) error) error {
		r := ledger.Row{Kind: kind}
		err := scan(&r.Key, &r.Version, &r.Body)
		rows = append(rows, r)
		return err
	})
	return rows, err
}

// Steadily has step read in one transaction. One that can't be ended on the writer's connection would be everybody's.
func (c *conn) Steadily(ctx context.Context, step func() error) error {
	if _, err := c.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := step()
	ctx = context.WithoutCancel(ctx)
	_, ended := c.exec(ctx, "COMMIT")
	if ended == nil {
		return err
	}
	if _, undo := c.exec(ctx, "ROLLBACK"); undo != nil && c == c.store.writer {
		return c.store.fail(ended)
	}
	return errors.Join(err, ended)
}

// Standing visits all standing rows.
func (c *conn) Standing(ctx context.Context, visit func(*proof.Stored) error) error {
	return c.each(ctx, "SELECT id, kind, key, version, body, owner, proof FROM rows ORDER BY id", nil, func(scan func(...any) error) error {
		var r proof.Stored
		var owner *int64
		if err := scan(&r.ID, &r.Kind, &r.Key, &r.Version, &r.Body, &owner, &r.Proof); err != nil {
			return err
		}
		if r.Owned = owner != nil; r.Owned {
			r.Owner = *owner
		}
		return visit(&r)
	})
}

// Marks visits all marks.
func (c *conn) Marks(ctx context.Context, visit func(kind string, m ledger.Mark, row int64, there bool) error) error {
	return c.each(ctx, "SELECT m.kind, m.mark, m.at, m.row, r.body IS NOT NULL FROM marks m LEFT JOIN rows r ON r.id = m.row AND "+
		"r.kind = m.kind", nil, func(scan func(...any) error) error {
		var kind string
		var m ledger.Mark
		var row int64
		var there bool
		if err := scan(&kind, &m.Name, &m.At, &row, &there); err != nil {
			return err
		}
		return visit(kind, m, row, there)
	})
}

// Filed visits all calls.
func (c *conn) Filed(ctx context.Context, visit func(*proof.Filed) error) error {
	return c.each(ctx, filedColumns+"proof FROM calls ORDER BY id", nil, func(scan func(...any) error) error {
		f, err := filedOf(scan)
		if err != nil {
			return err
		}
		return visit(&f)
	})
}

// BlobRows visits what is kept beside every blob.
func (c *conn) BlobRows(ctx context.Context, visit func(*proof.Blob) error) error {
	return c.blobRows(ctx, "id IS NOT NULL ORDER BY id", nil, visit)
}

// Notes visits the lists by which events are found that are missing, too much, or not as Interlock wrote them.
func (c *conn) Notes(ctx context.Context, visit func(first int64) error) error {
	var size int64
	if _, err := c.row(ctx, "SELECT size FROM head WHERE one = 1", nil, &size); err != nil {
		return err
	}
	err := c.store.eachNotes(ctx, c, size, func(first int64, notes []byte) error {
		if notes == nil {
			return visit(first)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(ctx, "SELECT first FROM ids WHERE first < 0 OR first >= ? OR first % ? <> 0", []any{size - size%idBlock, idBlock},
		func(scan func(...any) error) error {
			var first int64
			if err := scan(&first); err != nil {
				return err
			}
			return visit(first)
		})
}

// done is the error of a statement where it does not matter how many rows it changed.
func (c *conn) done(ctx context.Context, query string, args ...any) error {
	_, err := c.exec(ctx, query, args...)
	return err
}

// RemoveRow deletes a standing row.
func (c *conn) RemoveRow(ctx context.Context, id int64) error {
	return c.done(ctx, "DELETE FROM rows WHERE id = ?", id)
}

// RemovePassing deletes rows that pass.
func (c *conn) RemovePassing(ctx context.Context, from, upTo int64) error {
	return c.done(ctx, "DELETE FROM passing WHERE owner BETWEEN ? AND ?", from, upTo)
}

// RemoveFiled deletes a call.
func (c *conn) RemoveFiled(ctx context.Context, id int64) error {
	return c.done(ctx, "DELETE FROM calls WHERE id = ?", id)
}

// PutBack writes a standing row.
func (c *conn) PutBack(ctx context.Context, r ledger.Row, one proof.Claim) error {
	return c.done(ctx, "INSERT OR REPLACE INTO rows (kind, key, version, body, owner, proof) VALUES (?, ?, ?, ?, ?, ?)", r.Kind, r.Key,
		r.Version, r.Body, one.Owner, one.Proof[:])
}

// ProveBlobs proves what is kept beside each blob.
func (c *conn) ProveBlobs(ctx context.Context) (total proof.Sum, err error) {
	var rows []proof.Blob // read first: a statement that reads must not see what another writes
	err = c.BlobRows(ctx, func(b *proof.Blob) error {
		rows = append(rows, *b)
		return nil
	})
	for i := range rows {
		if err == nil {
			proof, adds, _ := c.store.prover.Sum(&rows[i])
			total.Add(adds)
			err = c.done(ctx, "UPDATE blobs SET proof = ? WHERE digest = ?", proof[:], rows[i].Digest)
		}
	}
	return total, err
}

// Remark makes the marks of all rows.
func (c *conn) Remark(ctx context.Context) error {
	err := c.done(ctx, "DELETE FROM marks")
	for _, k := range ledger.Kinds() {
		if err == nil {
			err = c.store.remarkAll(ctx, k.Name)
		}
	}
	return err
}

// Renote notes all ids.
func (c *conn) Renote(ctx context.Context) error {
	if err := c.done(ctx, "DELETE FROM ids"); err != nil {
		return err
	}
	s := c.store
	for first := int64(0); first+idBlock <= s.newest.Size; first += idBlock {
		notes, err := madeNotes(ctx, c, first)
		if err == nil {
			err = c.done(ctx, "INSERT INTO ids (first, notes, proof) VALUES (?, ?, ?)", first, notes, s.prover.Notes(first, notes))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
