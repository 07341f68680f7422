package sqlite

import (
	"context"

	"interlock/internal/ledger"
)

// remarkAll gives the rows of a kind the marks that it gives now and did not give when they were written. It runs in the
// transaction of a migration, a page of rows at a time.
func (s *Store) remarkAll(ctx context.Context, kind string) error {
	type marked struct {
		id  int64
		row ledger.Row
	}
	for from := int64(0); ; {
		var page []marked // read first: a statement that reads must not see what another writes
		err := s.writer.each(ctx, "SELECT id, key, version, body FROM rows WHERE kind = ? AND id > ? AND body IS NOT NULL "+
			"ORDER BY id LIMIT 1000", []any{kind, from}, func(scan func(...any) error) error {
			m := marked{row: ledger.Row{Kind: kind}}
			if err := scan(&m.id, &m.row.Key, &m.row.Version, &m.row.Body); err != nil {
				return err
			}
			page = append(page, m)
			return nil
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			about, err := s.book.About(m.row)
			if err != nil {
				return err
			}
			for _, mark := range about.Marks {
				if _, err := s.writer.exec(ctx, "INSERT OR IGNORE INTO marks (kind, mark, at, row) VALUES (?, ?, ?, ?)", kind,
					mark.Name, mark.At, m.id); err != nil {
					return err
				}
			}
			from = m.id
		}
	}
}
