package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"interlock"
	"interlock/internal/pack"
)

const (
	callWindow = 10 * time.Minute // how long a call waits for its second event when the harness gives no ids
	callLife   = 24 * time.Hour   // how long a call is kept at all
)

// digest8 is the value of a by_ column: the first eight bytes of a hash over the parts.
func digest8(parts ...string) int64 {
	h := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// FindCall finds how a call was decided. Where the harness gives ids, it is the newest call of this agent and run with
// that id, of whatever age and outcome; the caller judges both. Otherwise, or if the id was not seen, it is the newest
// call of this agent and run for the action within ten minutes that has no outcome yet. Where the caller names an action,
// only a call for that action is found: one id does not stand for two actions.
func (s *Store) FindCall(ctx context.Context, r interlock.Requester, action interlock.Digest) (interlock.Call, bool, error) {
	var found interlock.Call
	var ok bool
	err := s.read(ctx, "find a call", func(c *conn) (err error) {
		if r.Call != "" {
			found, ok, err = newest(ctx, c, "by_call", digest8(r.Agent, r.Run, r.Call), func(call *interlock.Call) bool {
				return sameRun(call.Requester, r) && call.Requester.Call == r.Call && (action == "" || call.Action == action)
			})
			if ok || err != nil {
				return err
			}
		}
		if action == "" {
			return nil
		}
		after := s.options.Now().Add(-callWindow)
		found, ok, err = newest(ctx, c, "by_action", digest8(r.Agent, r.Run, string(action)), func(call *interlock.Call) bool {
			return sameRun(call.Requester, r) && call.Action == action && call.Outcome == "" && call.At.After(after) &&
				(r.Call == "" || call.Requester.Call == "")
		})
		return err
	})
	return found, ok, err
}

// CallByEvent finds the call whose decision is the event.
func (s *Store) CallByEvent(ctx context.Context, eventID string) (interlock.Call, bool, error) {
	var found interlock.Call
	var ok bool
	err := s.read(ctx, "find a call", func(c *conn) (err error) {
		found, ok, err = newest(ctx, c, "by_event", digest8(eventID), func(call *interlock.Call) bool {
			return call.EventID == eventID
		})
		return err
	})
	return found, ok, err
}

func sameRun(a, b interlock.Requester) bool { return a.Agent == b.Agent && a.Run == b.Run }

// errEnough ends a query early.
var errEnough = errors.New("enough")

// newest returns the newest call under a hash that fits.
func newest(ctx context.Context, c *conn, column string, hash int64,
	fits func(*interlock.Call) bool) (interlock.Call, bool, error) {
	var found interlock.Call
	err := c.each(ctx, "SELECT body FROM calls WHERE "+column+" = ? ORDER BY id DESC LIMIT 64", []any{hash},
		func(scan func(...any) error) error {
			var body []byte
			if err := scan(&body); err != nil {
				return err
			}
			var call interlock.Call
			if err := unpackCall(body, &call); err != nil {
				return err
			}
			if !fits(&call) {
				return nil
			}
			found = call
			return errEnough
		})
	if errors.Is(err, errEnough) {
		return found, true, nil
	}
	return interlock.Call{}, false, err
}

func packCall(call *interlock.Call) ([]byte, error) {
	body, err := json.Marshal(call)
	if err != nil {
		return nil, fmt.Errorf("encode a call: %w", err)
	}
	return pack.Pack(body), nil
}

func unpackCall(body []byte, call *interlock.Call) error {
	text, err := pack.Unpack(body, maxBody)
	if err == nil {
		err = json.Unmarshal(text, call)
	}
	if err != nil {
		return fmt.Errorf("decode a call: %w", err)
	}
	return nil
}

// saveCall remembers a call, or replaces the one whose decision the call names.
func (b *batch) saveCall(ctx context.Context, call interlock.Call, eventID string) error {
	w := b.store.writer
	known := call.EventID != ""
	if !known {
		call.EventID = eventID
	}
	body, err := packCall(&call)
	if err != nil {
		return err
	}
	byEvent := digest8(call.EventID)
	if known {
		if _, err := w.exec(ctx, "DELETE FROM calls WHERE by_event = ?", byEvent); err != nil {
			return err
		}
	}
	var byCall any
	if r := call.Requester; r.Call != "" {
		byCall = digest8(r.Agent, r.Run, r.Call)
	}
	b.store.written += int64(len(body) + 256)
	_, err = w.exec(ctx, "INSERT INTO calls (by_event, by_action, by_call, at, body) VALUES (?, ?, ?, ?, ?)", byEvent,
		digest8(call.Requester.Agent, call.Requester.Run, string(call.Action)), byCall, call.At.UnixNano(), body)
	return err
}

// SeeCall remembers that another harness event has seen a call. It is a note beside the log, not an event: losing it
// costs a repeated decision, never a lost one.
func (s *Store) SeeCall(ctx context.Context, eventID, event string) error {
	call, found, err := s.CallByEvent(ctx, eventID)
	if err != nil {
		return err
	}
	if !found {
		return interlock.Errorf(interlock.CodeNotFound, "event_id", "no call was decided by the event %.80q", eventID)
	}
	if slices.Contains(call.Events, event) {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	// Read again under the write lock of all processes, so that two events seen at once are both kept.
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.classify("remember an event", err)
	}
	err = s.see(context.WithoutCancel(ctx), eventID, event)
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, failure := s.writer.exec(context.WithoutCancel(ctx), end); failure != nil {
		return s.fail(explain("remember an event", failure))
	}
	return s.classify("remember an event", err)
}

func (s *Store) see(ctx context.Context, eventID, event string) error {
	call, found, err := newest(ctx, s.writer, "by_event", digest8(eventID), func(call *interlock.Call) bool {
		return call.EventID == eventID
	})
	if err != nil || !found || slices.Contains(call.Events, event) {
		return err
	}
	call.Events = append(call.Events, event)
	body, err := packCall(&call)
	if err != nil {
		return err
	}
	_, err = s.writer.exec(ctx, "UPDATE calls SET body = ? WHERE by_event = ?", body, digest8(eventID))
	return err
}

// Calls returns the newest calls, newest first: as they were decided, or as they ended, whichever came last.
func (s *Store) Calls(ctx context.Context, limit int) ([]interlock.Call, error) {
	var calls []interlock.Call
	err := s.read(ctx, "read the newest calls", func(c *conn) error {
		return c.each(ctx, "SELECT body FROM calls ORDER BY id DESC LIMIT ?", []any{limit}, func(scan func(...any) error) error {
			var body []byte
			if err := scan(&body); err != nil {
				return err
			}
			var call interlock.Call
			if err := unpackCall(body, &call); err != nil {
				return err
			}
			calls = append(calls, call)
			return nil
		})
	})
	return calls, err
}
