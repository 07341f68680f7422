package sqlite

import (
	"context"
	"fmt"
	"slices"

	"interlock/internal/ledger"
)

// A written row is one that a transaction wrote, and where it was found before and is found now.
type written struct {
	row   ledger.Row
	marks []ledger.Mark
}

// readRow reads the row under a key in a store that may be one of before.
func readRow(ctx context.Context, c *conn, kind, key string) (ledger.Row, error) {
	r := ledger.Row{Kind: kind, Key: key}
	_, err := c.row(ctx, "SELECT version, body FROM rows WHERE kind = ? AND key = ?", []any{kind, key}, &r.Version, &r.Body)
	return r, err
}

// write puts a row into the ledger. One that has a version keeps it: it was spent from, which makes nobody decide again.
// The first row of a change that binds moves the version, for all of them.
func (b *batch) write(ctx context.Context, r ledger.Row, moved *bool) error {
	w := b.store.writer
	switch {
	case b.store.book.Swept(r.Kind):
		b.put(r)
		return nil
	case b.store.book.Filed(r.Kind):
		b.filed = append(b.filed, filed{len(b.drafts), r}) // its change's events come next
		return nil
	}
	before, err := b.proved.Read(ctx, r.Kind, r.Key)
	if err != nil {
		return err
	}
	if before.ID == 0 && r.Body == nil {
		return nil // nothing ends that never was
	}
	about, err := b.store.book.About(r)
	if err != nil {
		return err
	}
	var had ledger.About
	if before.Body != nil {
		if had, err = b.store.book.About(before.Row); err != nil && !before.Foreign {
			return err
		}
	}
	b.after.Revision++
	if r.Version == 0 {
		r.Version = before.Version
		if about.Binds {
			if !*moved {
				b.after.Version++
				*moved = true
			}
			r.Version = b.after.Version
		}
	}
	b.store.written += int64(len(r.Body) + 256)
	b.written = append(b.written, written{r, slices.Concat(had.Marks, about.Marks)})
	owner, proof, err := b.proved.Prove(before, r)
	if err != nil {
		return err
	}
	if before.ID == 0 {
		found, err := w.row(ctx, "INSERT INTO rows (kind, key, version, body, owner, proof) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
			[]any{r.Kind, r.Key, r.Version, nullable(r.Body), owner, proof}, &before.ID)
		if err == nil && !found {
			err = fmt.Errorf("a row has no place")
		}
		if err != nil {
			return err
		}
	} else if err := b.one(w.exec(ctx, "UPDATE rows SET version = ?, body = ?, owner = ?, proof = ? WHERE id = ?", r.Version,
		nullable(r.Body), owner, proof, before.ID)); err != nil {
		return err
	}
	return remark(ctx, w, r.Kind, before.ID, had.Marks, about.Marks)
}

// insertRow adds a row as it was before rows were proved, and returns its place.
func insertRow(ctx context.Context, w *conn, r ledger.Row) (id int64, err error) {
	found, err := w.row(ctx, "INSERT INTO rows (kind, key, version, body) VALUES (?, ?, ?, ?) RETURNING id",
		[]any{r.Kind, r.Key, r.Version, nullable(r.Body)}, &id)
	if err == nil && !found {
		err = fmt.Errorf("a row has no place")
	}
	return id, err
}

// remark moves a row from where it was found to where it is found now.
func remark(ctx context.Context, w *conn, kind string, id int64, had, has []ledger.Mark) error {
	for _, m := range had {
		if slices.Contains(has, m) {
			continue
		}
		if _, err := w.exec(ctx, "DELETE FROM marks WHERE kind = ? AND mark = ? AND at = ? AND row = ?", kind, m.Name, m.At,
			id); err != nil {
			return err
		}
	}
	for _, m := range has {
		if slices.Contains(had, m) {
			continue
		}
		if _, err := w.exec(ctx, "INSERT INTO marks (kind, mark, at, row) VALUES (?, ?, ?, ?)", kind, m.Name, m.At,
			id); err != nil {
			return err
		}
	}
	return nil
}

// checkReads refuses a change whose ground has moved: everything that binds, or what it names as read.
func (b *batch) checkReads(ctx context.Context, change *ledger.Change) (refusal, err error) {
	if change.Version == 0 || change.Version == b.after.Version {
		return nil, nil
	}
	moved := fmt.Errorf("store: computed from version %d, now %d: %w", change.Version, b.after.Version, ledger.ErrConflict)
	if change.Reads == nil || change.Version > b.after.Version {
		return moved, nil
	}
	changed := 0
	err = b.store.writer.each(ctx, "SELECT kind, key, version, body FROM rows WHERE version > ? ORDER BY version LIMIT ?",
		[]any{change.Version, maxMoved}, func(scan func(...any) error) error {
			var r ledger.Row
			if err := scan(&r.Kind, &r.Key, &r.Version, &r.Body); err != nil {
				return err
			}
			about, err := b.store.book.About(r)
			if err != nil {
				return err
			}
			changed++
			if changed == maxMoved || slices.ContainsFunc(change.Reads,
				func(ref ledger.Ref) bool { return concerns(ref, r, about) }) {
				refusal = moved
				return errEnough
			}
			return nil
		})
	if refusal != nil {
		err = nil
	}
	return refusal, err
}

// maxMoved bounds how many rows that have changed since a decision are held against what it read. A decision that took longer
// than that is made again.
const maxMoved = 512

// concerns reports whether a ref names a row.
func concerns(ref ledger.Ref, r ledger.Row, about ledger.About) bool {
	if ref.Kind != r.Kind {
		return false
	}
	if ref.Key != "" {
		return ref.Key == r.Key
	}
	return slices.ContainsFunc(about.Marks, func(m ledger.Mark) bool { return m.Name == ref.Mark })
}

// keyed is a change in which the rows are named that are called after its first event. That one's id is known by its place in its run.
func (b *batch) keyed(ctx context.Context, change *ledger.Change) (*ledger.Change, error) {
	named := func(r ledger.Row) bool { return r.Key != "" || b.store.book.Filed(r.Kind) } // what is filed is named when it is written
	if !slices.ContainsFunc(change.Writes, func(r ledger.Row) bool { return !named(r) }) || len(change.Events) == 0 {
		return change, nil
	}
	job, err := b.job(ctx, change.Events[0])
	if err != nil {
		return nil, err
	}
	own := *change
	own.Writes = slices.Clone(change.Writes)
	for n, r := range own.Writes {
		if named(r) {
			continue
		}
		if own.Writes[n], err = b.store.book.Keyed(r, ledger.EventID(job.seed, job.next, change.Events[0].Type)); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// apply writes the rows of a change, or says why it can't be made now.
func (b *batch) apply(ctx context.Context, c *commit) (refusal, err error) {
	change, err := b.keyed(ctx, &c.change)
	if err != nil {
		return nil, err
	}
	rows, refusal, err := b.store.book.Steps(change, b.store.at(change), func(kind, key string) (ledger.Row, error) {
		if b.store.book.Swept(kind) {
			return b.look(ctx, kind, key)
		}
		r, err := b.proved.Read(ctx, kind, key)
		if r.Foreign {
			return ledger.Row{Kind: kind, Key: key}, err
		}
		return r.Row, err
	})
	if refusal == nil && err == nil {
		refusal, err = b.proved.Ready(ctx, rows)
	}
	if refusal != nil || err != nil {
		return refusal, err
	}
	moved := false
	for _, r := range rows {
		if err := b.write(ctx, r, &moved); err != nil {
			return nil, err
		}
	}
	c.spent = rows[len(rows)-len(change.Spends):] // which come last
	return nil, nil
}
