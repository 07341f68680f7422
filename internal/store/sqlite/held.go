package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
)

// The kinds of rows in the table standing.
const (
	heldChallenge = "challenge"
	heldGrant     = "grant"
	heldAttempts  = "attempts"
)

// applyHeld records challenges, grants and attempts, and takes away those that have ended.
func (b *batch) applyHeld(ctx context.Context, change *interlock.Change) error {
	if c := change.Challenge; c != nil {
		if err := b.hold(ctx, heldChallenge, c.ID, c, c.Ended.IsZero()); err != nil {
			return err
		}
	}
	if g := change.Grant; g != nil {
		if err := b.hold(ctx, heldGrant, g.ID, g, g.Ended.IsZero() && g.Left > 0); err != nil {
			return err
		}
	}
	if a := change.Attempts; a != nil {
		return b.hold(ctx, heldAttempts, interlock.AttemptsKey(a.Agent, a.Principal), a, len(a.Failed) > 0 || !a.Until.IsZero())
	}
	return nil
}

// hold writes one row, or deletes it.
func (b *batch) hold(ctx context.Context, kind, id string, value any, stands bool) error {
	r := row{held: kind, id: id}
	if !stands {
		b.written = append(b.written, r)
		_, err := b.store.writer.exec(ctx, "DELETE FROM standing WHERE kind = ? AND id = ?", kind, id)
		return err
	}
	var err error
	if r.body, err = json.Marshal(value); err != nil {
		return fmt.Errorf("encode a %s: %w", kind, err)
	}
	b.written = append(b.written, r)
	_, err = b.store.writer.exec(ctx, "INSERT OR REPLACE INTO standing (kind, id, body) VALUES (?, ?, ?)", kind, id, r.body)
	return err
}

// checkDraw refuses to use a grant that is not there any more: it was used up, revoked or has expired since the decision.
func (b *batch) checkDraw(ctx context.Context, change *interlock.Change) (refusal, err error) {
	if change.Draw == "" {
		return nil, nil
	}
	g, found, err := b.grant(ctx, change.Draw)
	if err != nil {
		return nil, err
	}
	if !found || !g.InForce(b.store.at(change)) {
		return fmt.Errorf("store: the grant can't be drawn any more: %w", interlock.ErrConflict), nil
	}
	return nil, nil
}

// draw counts a grant down. Like spending an approval it moves the revision alone: what is left is looked at where it is drawn.
func (b *batch) draw(ctx context.Context, change *interlock.Change) error {
	if change.Draw == "" {
		return nil
	}
	g, _, err := b.grant(ctx, change.Draw)
	if err != nil {
		return err
	}
	b.after.revision++
	g.Left--
	return b.hold(ctx, heldGrant, g.ID, g, g.Left > 0)
}

func (b *batch) grant(ctx context.Context, id string) (g interlock.Grant, found bool, err error) {
	var body []byte
	found, err = b.store.writer.row(ctx, "SELECT body FROM standing WHERE kind = ? AND id = ?", []any{heldGrant, id}, &body)
	if err != nil || !found {
		return g, false, err
	}
	if err := json.Unmarshal(body, &g); err != nil {
		return g, false, fmt.Errorf("decode a grant: %w", err)
	}
	return g, true, nil
}

// loadHeld reads what applyHeld writes.
func loadHeld(ctx context.Context, c *conn, to *interlock.Standing) error {
	return c.each(ctx, "SELECT kind, id, body FROM standing", nil, func(scan func(...any) error) error {
		var r row
		if err := scan(&r.held, &r.id, &r.body); err != nil {
			return err
		}
		return r.applyHeld(to)
	})
}

// applyHeld changes a standing as reading it anew with the row in it would.
func (r row) applyHeld(to *interlock.Standing) error {
	switch r.held {
	case heldChallenge:
		return putOrDrop(to.Challenges, r.id, r.body)
	case heldGrant:
		return putOrDrop(to.Grants, r.id, r.body)
	case heldAttempts:
		return putOrDrop(to.Attempts, r.id, r.body)
	case heldPin:
		return put(to.Pins, r.id, r.body)
	}
	return nil // of a later version, which this one may not write: see migrate
}

func putOrDrop[T any](records map[string]T, name string, body []byte) error {
	if body == nil {
		delete(records, name)
		return nil
	}
	return put(records, name, body)
}
