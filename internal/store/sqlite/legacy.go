package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// inputsSince is the version from which there are inputs and the texts they name, rowsSince that from which standing rows are in
// the ledger, and ordersSince that from which the orders among them are of one kind.
const (
	inputsSince = 5
	rowsSince   = 6
	ordersSince = 8
)

// legacy reports whether rows of a kind are those of an older version, which they may be where nobody may write.
func (s *Store) legacy(ctx context.Context, c *conn, kind string) (version int64, old bool, err error) {
	if !s.options.ReadOnly {
		return schemaVersion, false, nil
	}
	_, err = c.row(ctx, "PRAGMA user_version", nil, &version)
	return version, err == nil && (version < rowsSince || version < ordersSince && kind == ledger.Order), err
}

// legacyFetch reads the rows of one ref from the old tables, whole: nobody decides from these.
func (s *Store) legacyFetch(ctx context.Context, c *conn, version int64, ref ledger.Ref) (rows []ledger.Row, err error) {
	if ref.Key == "" {
		rows, _, err = s.legacyScan(ctx, c, version, ref, ledger.Every(math.MaxInt))
		return rows, err
	}
	err = legacyRows(ctx, c, version, func(r ledger.Row) (err error) {
		if r.Kind == ref.Kind && r.Key == ref.Key {
			r.Value, err = s.book.Value(r)
			rows = append(rows, r)
		}
		return err
	})
	return rows, err
}

// legacyScan is Scan of the old tables.
func (s *Store) legacyScan(ctx context.Context, c *conn, version int64, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	type found struct {
		ledger.Place
		row ledger.Row
	}
	var all []found
	read := int64(0)
	err = legacyRows(ctx, c, version, func(r ledger.Row) (err error) {
		read++
		if r.Kind != mark.Kind {
			return nil
		}
		if r.Value, err = s.book.Value(r); err != nil {
			return err
		}
		about, err := s.book.About(r)
		for _, m := range about.Marks {
			if m.Name == mark.Mark && m.At >= span.From && m.At <= span.UpTo {
				all = append(all, found{ledger.Place{At: m.At, Row: read}, r})
			}
		}
		return err
	})
	order := func(a, b ledger.Place) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Row, b.Row)) }
	if span.Newest {
		order = func(a, b ledger.Place) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.Row, a.Row)) }
	}
	slices.SortFunc(all, func(a, b found) int { return order(a.Place, b.Place) })
	for _, f := range all {
		if span.After != (ledger.Place{}) && order(f.Place, span.After) <= 0 {
			continue
		}
		if rows = append(rows, f.row); len(rows) == span.Limit {
			return rows, f.Place, err
		}
	}
	return rows, next, err
}

// legacyRows calls take for everything that is in the tables of an older version, as rows of the ledger of now; of a version
// with a ledger, for what has changed since: the orders.
func legacyRows(ctx context.Context, c *conn, version int64, take func(ledger.Row) error) error {
	if version >= rowsSince {
		return c.each(ctx, "SELECT kind, key, version, body FROM rows WHERE kind IN (?, ?)",
			[]any{ledger.FormerGrant, ledger.FormerSuppression}, func(scan func(...any) error) error {
				var r ledger.Row
				if err := scan(&r.Kind, &r.Key, &r.Version, &r.Body); err != nil {
					return err
				}
				r, err := ledger.Formerly(r)
				if err == nil && r.Body != nil {
					err = take(r)
				}
				return err
			})
	}
	type table struct {
		since int64
		query string
		row   func(scan func(...any) error) ([]ledger.Row, error)
	}
	bodies := func(kind string) func(scan func(...any) error) ([]ledger.Row, error) {
		return func(scan func(...any) error) ([]ledger.Row, error) {
			r := ledger.Row{Kind: kind}
			err := scan(&r.Key, &r.Body)
			return []ledger.Row{r}, err
		}
	}
	for _, t := range []table{
		{1, "SELECT id, body FROM agents", bodies(ledger.Agent)},
		{1, "SELECT name, body FROM operators", bodies(ledger.Operator)},
		{1, "SELECT id, status, body FROM requests", legacyRequest},
		{1, "SELECT name, value FROM settings", legacySetting},
		{2, "SELECT id, body FROM suppressions", bodies(ledger.FormerSuppression)},
		{3, "SELECT kind, id, body FROM standing", legacyHeld},
		{4, "SELECT server, tool, body, approved, seen FROM pins", legacyPin},
	} {
		if version < t.since {
			continue
		}
		err := c.each(ctx, t.query, nil, func(scan func(...any) error) error {
			rows, err := t.row(scan)
			for _, r := range rows {
				if err == nil {
					r, err = ledger.Formerly(r)
				}
				if err == nil {
					err = take(r)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// legacyRequest reads a request, whose status stood beside its body and was the truth.
func legacyRequest(scan func(...any) error) ([]ledger.Row, error) {
	var id, status string
	var body []byte
	if err := scan(&id, &status, &body); err != nil {
		return nil, err
	}
	var r interlock.ApprovalRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("decode a request: %w", err)
	}
	r.Status = interlock.RequestStatus(status)
	row, err := ledger.Put(ledger.Request, id, r)
	return []ledger.Row{row}, err
}

func legacySetting(scan func(...any) error) ([]ledger.Row, error) {
	var name, value string
	if err := scan(&name, &value); err != nil {
		return nil, err
	}
	row := ledger.Settings(map[string]string{name: value})[0]
	row, err := ledger.Put(row.Kind, row.Key, row.Value)
	return []ledger.Row{row}, err
}

// legacyHeld reads challenges, grants and attempts, whose kinds had the same names.
func legacyHeld(scan func(...any) error) ([]ledger.Row, error) {
	var r ledger.Row
	err := scan(&r.Kind, &r.Key, &r.Body)
	return []ledger.Row{r}, err
}

func legacyPin(scan func(...any) error) ([]ledger.Row, error) {
	var server, tool string
	var body, approved, seen []byte
	if err := scan(&server, &tool, &body, &approved, &seen); err != nil {
		return nil, err
	}
	rows := []ledger.Row{{Kind: ledger.Pin, Key: ledger.PinKey(server, tool), Body: body}}
	var pin interlock.Pin
	if err := json.Unmarshal(body, &pin); err != nil {
		return nil, fmt.Errorf("decode a pin: %w", err)
	}
	if approved != nil {
		rows = append(rows, ledger.Row{Kind: ledger.Definition, Key: ledger.DefinitionOf(server, tool, pin.Definition).Key,
			Body: approved})
	}
	if seen != nil && pin.Seen != pin.Definition {
		rows = append(rows, ledger.Row{Kind: ledger.Definition,
			Key: ledger.DefinitionOf(server, tool, pin.Seen).Key, Body: seen})
	}
	return rows, nil
}

// moveRows fills the tables of version 6 from those of the version before, and drops these. It runs in the transaction of the
// migration: either all that was there is there again, or nothing has happened.
func (s *Store) moveRows(ctx context.Context) error {
	_, now, err := s.soundHead(ctx)
	if err != nil {
		return err
	}
	var rows []ledger.Row // read first: a statement that reads must not see what another writes
	err = legacyRows(ctx, s.writer, rowsSince-1, func(r ledger.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		about, err := s.book.About(r)
		if err != nil {
			return err
		}
		if r.Version = 0; about.Binds {
			r.Version = now.Version
		}
		if err := s.moveIn(ctx, r); err != nil {
			return err
		}
	}
	for _, table := range []string{"agents", "operators", "requests", "settings", "suppressions", "standing", "pins"} {
		if _, err := s.writer.sql.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return err
		}
	}
	_, _, err = s.soundHead(ctx)
	return err
}

// moveOrders makes one kind of the orders that stand in a ledger of before version 8, in the transaction of the migration. Each
// leaves its name as well, so that it can't be carried out again once it has ended.
func (s *Store) moveOrders(ctx context.Context) error {
	if _, _, err := s.soundHead(ctx); err != nil {
		return err
	}
	var rows []ledger.Row // read first: a statement that reads must not see what another writes
	err := legacyRows(ctx, s.writer, ordersSince-1, func(r ledger.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return err
	}
	for _, kind := range []string{ledger.FormerGrant, ledger.FormerSuppression} {
		for _, table := range []string{"marks", "rows"} {
			if _, err := s.writer.exec(ctx, "DELETE FROM "+table+" WHERE kind = ?", kind); err != nil {
				return err
			}
		}
	}
	for _, r := range rows {
		if err := s.moveIn(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// moveIn writes a row as it comes out of an older version, and with a signed order that it can't be carried out again.
func (s *Store) moveIn(ctx context.Context, r ledger.Row) error {
	if once, signed, err := ledger.OnceOf(r); err != nil || signed {
		if err == nil {
			err = s.moveIn(ctx, once)
		}
		if err != nil {
			return err
		}
	}
	about, err := s.book.About(r)
	if err != nil {
		return err
	}
	id, err := insertRow(ctx, s.writer, r)
	if err != nil {
		return err
	}
	return remark(ctx, s.writer, r.Kind, id, nil, about.Marks)
}

// soundHead reads the head of the log and holds it against the key and the number of entries.
func (s *Store) soundHead(ctx context.Context) (ledger.Head, proof.Stamp, error) {
	head, now, err := readHead(ctx, s.writer)
	if err != nil {
		return head, now, err
	}
	if err := s.options.Sealer.CheckHead(head); err != nil {
		return head, now, foreignKey(err)
	}
	var entries int64
	if _, err := s.writer.row(ctx, "SELECT coalesce(max(idx) + 1, 0) FROM entries", nil, &entries); err != nil {
		return head, now, err
	}
	if entries != head.Size {
		return head, now, interlock.Errorf(interlock.CodeUnavailable, "store",
			"the log has %d entries and its head says %d; keep "+
				"the file as evidence and run `interlock audit verify` before anything else", entries, head.Size)
	}
	return head, now, nil
}
