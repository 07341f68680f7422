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
	}
	if change.Lift == "" {
		return nil
	}
	_, err := w.exec(ctx, "DELETE FROM suppressions WHERE id = ?", change.Lift)
	return err
}
