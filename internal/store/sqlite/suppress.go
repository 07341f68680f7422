package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
)

// applySuppression records an order to keep a rule silent, or ends one.
func (b *batch) applySuppression(ctx context.Context, change *interlock.Change) error {
	w := b.store.writer
	if s := change.Suppress; s != nil {
		body, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode a suppression: %w", err)
		}
		if _, err := w.exec(ctx, "INSERT OR REPLACE INTO suppressions (id, body) VALUES (?, ?)", s.ID, body); err != nil {
			return err
		}
		b.written = append(b.written, row{suppression: s.ID, body: body})
	}
	if change.Lift == "" {
		return nil
	}
	b.written = append(b.written, row{suppression: change.Lift})
	_, err := w.exec(ctx, "DELETE FROM suppressions WHERE id = ?", change.Lift)
	return err
}
