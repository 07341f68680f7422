package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/internal/ledger"
)

// rowsSince is the version from which what stands is rows of the ledger.
const rowsSince = 6

// legacyRows calls take for everything that stands in the tables of an older version, as rows of the ledger.
func legacyRows(ctx context.Context, c *conn, version int64, take func(interlock.Row) error) error {
	type table struct {
		since int64
		query string
		row   func(scan func(...any) error) ([]interlock.Row, error)
	}
	bodies := func(kind string) func(scan func(...any) error) ([]interlock.Row, error) {
		return func(scan func(...any) error) ([]interlock.Row, error) {
			r := interlock.Row{Kind: kind}
			err := scan(&r.Key, &r.Body)
			return []interlock.Row{r}, err
		}
	}
	for _, t := range []table{
		{1, "SELECT id, body FROM agents", bodies(ledger.Agent)},
		{1, "SELECT name, body FROM operators", bodies(ledger.Operator)},
		{1, "SELECT id, status, body FROM requests", legacyRequest},
		{1, "SELECT name, value FROM settings", legacySetting},
		{2, "SELECT id, body FROM suppressions", bodies(ledger.Suppression)},
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
func legacyRequest(scan func(...any) error) ([]interlock.Row, error) {
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
	return []interlock.Row{row}, err
}

func legacySetting(scan func(...any) error) ([]interlock.Row, error) {
	var name, value string
	if err := scan(&name, &value); err != nil {
		return nil, err
	}
	row := ledger.Settings(map[string]string{name: value})[0]
	row, err := ledger.Put(row.Kind, row.Key, row.Value)
	return []interlock.Row{row}, err
}

// legacyHeld reads challenges, grants and attempts, whose kinds had the same names.
func legacyHeld(scan func(...any) error) ([]interlock.Row, error) {
	var r interlock.Row
	err := scan(&r.Kind, &r.Key, &r.Body)
	return []interlock.Row{r}, err
}

func legacyPin(scan func(...any) error) ([]interlock.Row, error) {
	var server, tool string
	var body, approved, seen []byte
	if err := scan(&server, &tool, &body, &approved, &seen); err != nil {
		return nil, err
	}
	rows := []interlock.Row{{Kind: ledger.Pin, Key: interlock.PinKey(server, tool), Body: body}}
	var pin interlock.Pin
	if err := json.Unmarshal(body, &pin); err != nil {
		return nil, fmt.Errorf("decode a pin: %w", err)
	}
	if approved != nil {
		rows = append(rows, interlock.Row{Kind: ledger.Definition, Key: ledger.DefinitionOf(server, tool, pin.Definition).Key,
			Body: approved})
	}
	if seen != nil && pin.Seen != pin.Definition {
		rows = append(rows, interlock.Row{Kind: ledger.Definition,
			Key: ledger.DefinitionOf(server, tool, pin.Seen).Key, Body: seen})
	}
	return rows, nil
}

// moveRows fills the tables of version 6 from those of the version before, and drops these. It runs in the transaction of the
// migration: either all that stood stands again, or nothing has happened.
func (s *Store) moveRows(ctx context.Context) error {
	_, now, err := s.soundHead(ctx)
	if err != nil {
		return err
	}
	var rows []interlock.Row // read first: a statement that reads must not see what another writes
	err = legacyRows(ctx, s.writer, rowsSince-1, func(r interlock.Row) error {
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
			r.Version = now.version
		}
		id, err := insertRow(ctx, s.writer, r)
		if err != nil {
			return err
		}
		if err := remark(ctx, s.writer, r.Kind, id, nil, about.Marks); err != nil {
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

// soundHead reads the head of the log and holds it against the key and the number of entries.
func (s *Store) soundHead(ctx context.Context) (interlock.Head, stamp, error) {
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
