package sqlite

import (
	"context"
	"strings"
	"time"

	"interlock"
)

// Which files agents wrote lately stands in the table of recent actions, a row a file, under a key that no run has. A row's
// time is when it is swept out less what the sweep leaves to runs, so that the same sweep serves both.

// sweptAfter is the time a row is given so that it outlives [interlock.RecentWindow] by the rest of [interlock.WrittenWindow].
func sweptAfter(at time.Time) int64 {
	return at.Add(interlock.WrittenWindow - interlock.RecentWindow).UnixNano()
}

// Wrote returns those of the keys under which commits have remembered something since a time.
func (s *Store) Wrote(ctx context.Context, keys []string, since time.Time) (found []string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	query := "SELECT run FROM recent WHERE at >= ? AND run IN (?" + strings.Repeat(", ?", len(keys)-1) + ")"
	arguments := make([]any, 0, len(keys)+1)
	arguments = append(arguments, sweptAfter(since))
	for _, key := range keys {
		arguments = append(arguments, writtenKey(key))
	}
	err = s.read(ctx, "read what an agent wrote", func(c *conn) error {
		known := map[string]bool{}
		err := c.each(ctx, query, arguments, func(scan func(...any) error) error {
			var row string
			err := scan(&row)
			known[row] = true
			return err
		})
		found = nil
		for _, key := range keys {
			if known[writtenKey(key)] {
				found = append(found, key)
			}
		}
		return err
	})
	return found, err
}

func writtenKey(key string) string { return "written\x00" + key }

// saveWrote remembers what the transaction's changes say was written.
func (b *batch) saveWrote(ctx context.Context) error {
	for _, c := range b.accepted {
		for _, key := range c.change.Wrote {
			if _, err := b.store.writer.exec(ctx, "INSERT OR REPLACE INTO recent (run, at, body) VALUES (?, ?, ?)",
				writtenKey(key), sweptAfter(c.change.Events[0].Recorded), []byte("null")); err != nil {
				return err
			}
			b.store.written += int64(len(key) + 64)
		}
	}
	return nil
}
