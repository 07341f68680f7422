// Package ship sends every entry of the log, in order and at least once, to places that other systems read: a file, an HTTPS
// address, a syslog server. Each place has its own position, kept in the home, so that one that fails holds up no other and misses
// nothing. Sending never holds up a decision.
//
// What it must never do: count an entry as sent before the receiver has said so, or send what an archive has released as if it
// were whole.
//
// Open ship.go, then target.go.
package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
)

// How much is sent at once, and how long is waited after a failure.
const (
	batchEntries = 200
	batchBytes   = 1 << 20
	firstPause   = time.Second
	longestPause = time.Minute
)

// A Log is what is sent.
type Log interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}

// A Shipper sends one log to one target.
type Shipper struct {
	Log    Log
	Origin string // of the log
	Target Target
	Dir    string // where the position is kept
	Logger *slog.Logger
	Pause  time.Duration // after a failure, at first; 0 means a second
}

// A position is how far a target is: the index of the entry that is sent next.
type position struct {
	Target string `json:"target"`
	Next   int64  `json:"next"`
}

func (s *Shipper) path() string {
	sum := sha256.Sum256([]byte(s.Target.Name()))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8])+".json")
}

// Next is the index of the entry that is sent next. A position that can't be read is none: everything is sent again, rather than
// anything missed.
func (s *Shipper) Next() (int64, error) {
	text, err := fileio.Plain(s.path(), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var p position
	if json.Unmarshal(text, &p) != nil || p.Next < 0 || p.Target != s.Target.Name() {
		return 0, nil
	}
	return p.Next, nil
}

// remember writes the position, whole or not at all.
func (s *Shipper) remember(next int64) error {
	text, err := json.Marshal(position{s.Target.Name(), next})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(s.Dir, ".position-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already if all went well
	_, err = temporary.Write(append(text, '\n'))
	if err == nil {
		err = temporary.Sync()
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary.Name(), s.path())
	}
	return err
}

// Some sends what is new, up to a batch, and reports whether there was anything. What is sent is sent again where the position can't be
// kept.
func (s *Shipper) Some(ctx context.Context) (sent bool, err error) {
	next, err := s.Next()
	if err != nil {
		return false, fmt.Errorf("reading the position: %s", fileio.Reason(err))
	}
	entries, err := s.Log.Entries(ctx, "", ledger.From(next, batchEntries))
	if err != nil {
		return false, fmt.Errorf("reading the log: %w", err)
	}
	if len(entries) == 0 {
		return false, nil
	}
	var batch []Message
	size := 0
	for n := range entries {
		if size > batchBytes {
			break
		}
		next = entries[n].Index + 1
		if auditlog.Released(&entries[n]) {
			s.Logger.Warn("an entry was archived before it could be sent", "target", s.Target.Name(), "index", entries[n].Index)
			continue
		}
		m, err := s.message(&entries[n])
		if err != nil {
			return false, err
		}
		batch, size = append(batch, m), size+len(m.Text)
	}
	if len(batch) > 0 {
		if err := s.Target.Send(ctx, batch); err != nil {
			return false, err
		}
	}
	if err := s.remember(next); err != nil {
		return false, fmt.Errorf("keeping the position: %s", fileio.Reason(err))
	}
	return true, nil
}

// message is an entry in the target's format.
func (s *Shipper) message(e *interlock.Entry) (m Message, err error) {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return m, fmt.Errorf("entry %d can't be read: %w", e.Index, err)
	}
	m = Message{ID: event.ID, Type: event.Type, At: event.Recorded}
	switch s.Target.Format() {
	case OCSF:
		m.Text, err = auditlog.OCSF(*e, s.Origin)
	case JSONL:
		m.Text = e.Body
	default:
		m.Text, err = auditlog.CloudEvent(*e, s.Origin)
	}
	return m, err
}

// Run sends whatever is new until ctx ends. changed tells that there may be something; a failure is tried again, after longer and
// longer pauses.
func (s *Shipper) Run(ctx context.Context, changed <-chan struct{}) {
	pause := s.Pause
	if pause <= 0 {
		pause = firstPause
	}
	first := pause
	for {
		sent, err := s.Some(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Logger.Warn("the log could not be sent on; it is tried again", "target", s.Target.Name(), "error", err.Error(), "in", pause.String())
			if !wait(ctx, time.After(pause)) {
				return
			}
			pause = min(2*pause, longestPause)
			continue
		}
		if pause = first; sent {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
		}
	}
}

func wait(ctx context.Context, until <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-until:
		return true
	}
}
