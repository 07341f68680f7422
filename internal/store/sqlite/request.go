package sqlite

import (
	"context"
	"fmt"
	"time"

	"interlock"
)

// checkOpen refuses to create a request that exists or was never pending.
func (b *batch) checkOpen(ctx context.Context, change *interlock.Change) (refusal, err error) {
	if change.Open == nil {
		return nil, nil
	}
	if change.Open.ID == "" || change.Open.Status != interlock.RequestPending || change.Open.Approval != nil {
		return interlock.Errorf(interlock.CodeInvalid, "request", "a new request has an id and is pending"), nil
	}
	_, found, err := readRequest(ctx, b.store.writer, change.Open.ID)
	if err == nil && found {
		return fmt.Errorf("store: the request exists already: %w", interlock.ErrConflict), nil
	}
	return nil, err
}

// ambiguous refuses a change that does two things to one request.
func ambiguous(change *interlock.Change) string {
	ids := map[string]bool{}
	for _, id := range []string{change.Spend, resolved(change), change.Expire} {
		if id != "" && ids[id] {
			return "the change does two things to one request"
		}
		ids[id] = true
	}
	if change.Open != nil && ids[change.Open.ID] {
		return "the change does two things to one request"
	}
	if change.Resolve != nil && change.Resolve.Verdict != interlock.Allow && change.Resolve.Verdict != interlock.Deny {
		return "an approval says allow or deny"
	}
	return ""
}

func resolved(change *interlock.Change) string {
	if change.Resolve == nil {
		return ""
	}
	return change.Resolve.Request
}

// Asked counts the requests an agent has opened since a time, whatever has become of them.
func (s *Store) Asked(ctx context.Context, r interlock.Requester, since time.Time) (n int, err error) {
	err = s.read(ctx, "counting requests", func(c *conn) error {
		_, err := c.row(ctx, "SELECT count(*) FROM requests WHERE agent = ? AND principal = ? AND created > ?",
			[]any{r.Agent, r.Principal, since.UnixNano()}, &n)
		return err
	})
	return n, err
}
