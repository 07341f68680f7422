package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
)

// heldPin is the kind under which a pin that was written is followed; pins have a table of their own.
const heldPin = "pin"

// applyPins records what is known of tools. The text that was seen stands beside the approved one until it is approved
// itself.
func (b *batch) applyPins(ctx context.Context, change *interlock.Change) error {
	for i := range change.Pins {
		p := &change.Pins[i].Pin
		body, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("encode a pin: %w", err)
		}
		if _, err := b.store.writer.exec(ctx, `INSERT INTO pins (server, tool, body, seen) VALUES (?, ?, ?, ?)
			ON CONFLICT (server, tool) DO UPDATE SET body = excluded.body, seen = coalesce(excluded.seen, seen)`,
			p.Server, p.Tool, body, nullable(change.Pins[i].Definition)); err != nil {
			return err
		}
		if p.Definition == p.Seen && p.Definition != "" {
			if _, err := b.store.writer.exec(ctx,
				"UPDATE pins SET approved = seen, seen = NULL WHERE server = ? AND tool = ? AND seen IS NOT NULL",
				p.Server, p.Tool); err != nil {
				return err
			}
		}
		b.store.written += int64(len(body) + len(change.Pins[i].Definition) + 128)
		b.written = append(b.written, row{held: heldPin, id: interlock.PinKey(p.Server, p.Tool), body: body})
	}
	return nil
}

// Definitions returns the two texts of a pin: the definition that was approved, if one ever was, and the one seen last. They
// are the same if what was seen last was approved.
func (s *Store) Definitions(ctx context.Context, server, tool string) (approved, seen json.RawMessage, err error) {
	err = s.read(ctx, "read a tool's definition", func(c *conn) error {
		var one, two []byte
		found, err := c.row(ctx, "SELECT approved, coalesce(seen, approved) FROM pins WHERE server = ? AND tool = ?",
			[]any{server, tool}, &one, &two)
		if err == nil && !found {
			return interlock.Errorf(interlock.CodeNotFound, "tool", "nothing is known of this tool")
		}
		approved, seen = one, two
		return err
	})
	return approved, seen, err
}

// loadPins reads what applyPins writes, without the texts.
func loadPins(ctx context.Context, c *conn, to *interlock.Standing) error {
	return bodies(ctx, c, "SELECT body FROM pins", func(p interlock.Pin) { to.Pins[interlock.PinKey(p.Server, p.Tool)] = p })
}
