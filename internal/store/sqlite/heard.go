package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"interlock"
)

// What runs have heard stands in the table of recent actions, a row a run, under a key that no run has: agents have names, and
// this one begins with a NUL. A row's time is when it is swept out less what the sweep leaves to runs, as that of files is.
const (
	heardBegin = "\x00heard\x00"
	heardEnd   = "\x00heard\x01"
)

// maxHeard bounds how many runs are remembered so. Whichever heard nothing for the longest goes first.
const maxHeard = 256

// heardBody is how it is written: the values, of which there may be thousands, as bytes, ten a value.
type heardBody struct {
	interlock.Heard
	Values []byte `json:"values,omitempty"`
}

const heardValue = 10 // digest, voices, source

func encodeHeard(h interlock.Heard) ([]byte, error) {
	body := heardBody{Heard: h}
	for _, v := range h.Values {
		body.Values = binary.BigEndian.AppendUint64(body.Values, v.Sum)
		body.Values = append(body.Values, byte(v.By), byte(v.Source))
	}
	return json.Marshal(body)
}

func decodeHeard(data []byte) (interlock.Heard, error) {
	var body heardBody
	if err := json.Unmarshal(data, &body); err != nil {
		return interlock.Heard{}, fmt.Errorf("decode what a run heard: %w", err)
	}
	h := body.Heard
	if n := len(body.Values) / heardValue; n > 0 {
		h.Values = make([]interlock.Value, n)
	}
	for n := range h.Values {
		at := body.Values[n*heardValue:]
		h.Values[n] = interlock.Value{Sum: binary.BigEndian.Uint64(at), By: interlock.Voice(at[8]), Source: int(at[9])}
	}
	return h, nil
}

func rawHeard(ctx context.Context, c *conn, run string) (body []byte, err error) {
	_, err = c.row(ctx, "SELECT body FROM recent WHERE run = ?", []any{heardBegin + run}, &body)
	return body, err
}

// Heard returns what a run has heard; nothing if that is not known. That nothing was heard through another process may be
// [knownFor] old.
func (s *Store) Heard(ctx context.Context, run string) (interlock.Heard, error) {
	if s.unheard.knows(run) {
		return interlock.Heard{}, nil
	}
	looked := time.Now()
	body, err := s.rawHeard(ctx, run)
	if err != nil {
		return interlock.Heard{}, err
	}
	if body == nil {
		s.unheard.keep(run, looked)
		return interlock.Heard{}, nil
	}
	return decodeHeard(body)
}

// silence is which runs had heard nothing within [knownFor], so that a run of many calls is not looked up for each of them.
type silence struct {
	guard sync.Mutex
	runs  map[string]time.Time
	ended time.Time // when a run of this process last heard something
}

func (s *silence) knows(run string) bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	at, known := s.runs[run]
	return known && time.Since(at) < knownFor
}

func (s *silence) keep(run string, looked time.Time) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.runs == nil || len(s.runs) >= maxHeard {
		s.runs = map[string]time.Time{}
	}
	if looked.After(s.ended) { // else it may have been read before what was heard meanwhile
		s.runs[run] = looked
	}
}

func (s *silence) ends(run string) {
	s.guard.Lock()
	defer s.guard.Unlock()
	delete(s.runs, run)
	s.ended = time.Now()
}

func (s *Store) rawHeard(ctx context.Context, run string) (body []byte, err error) {
	err = s.read(ctx, "read what a run heard", func(c *conn) (err error) {
		body, err = rawHeard(ctx, c, run)
		return err
	})
	return body, err
}

// Hear has add make of what a run has heard what it has heard now, and keeps it, unless add says that nothing is new. Like what
// [Store.SeeCall] keeps it is a note beside the log and no event. add may be called twice, if others write of the run meanwhile.
func (s *Store) Hear(ctx context.Context, run string, add func(interlock.Heard) (interlock.Heard, bool)) error {
	before, err := s.rawHeard(ctx, run)
	if err != nil {
		return err
	}
	after, heard, err := addHeard(before, add)
	if err != nil || after == nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	const doing = "remember what a run heard"
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.classify(doing, err)
	}
	sure := context.WithoutCancel(ctx)
	now, err := rawHeard(sure, s.writer, run)
	if err == nil && !bytes.Equal(now, before) {
		after, heard, err = addHeard(now, add)
	}
	if err == nil && after != nil {
		err = s.saveHeard(sure, run, after, heard.At, now == nil)
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	_, failure := s.writer.exec(sure, end)
	s.unheard.ends(run)
	if failure != nil {
		return s.fail(explain(doing, failure))
	}
	return s.classify(doing, err)
}

// addHeard returns the row that add makes of one, or none if it stays as it is.
func addHeard(before []byte, add func(interlock.Heard) (interlock.Heard, bool)) ([]byte, interlock.Heard, error) {
	var heard interlock.Heard
	if before != nil {
		var err error
		if heard, err = decodeHeard(before); err != nil {
			heard = interlock.Heard{} // a row that can't be read says nothing, and is written anew
		}
	}
	heard, changed := add(heard)
	if !changed {
		return nil, heard, nil
	}
	after, err := encodeHeard(heard)
	return after, heard, err
}

// saveHeard writes a row. One that is new to the table sweeps out those that are over, and the oldest if there are too many.
func (s *Store) saveHeard(ctx context.Context, run string, body []byte, at time.Time, fresh bool) error {
	if fresh {
		if _, err := s.writer.exec(ctx, "DELETE FROM recent WHERE at < ?",
			at.Add(-interlock.RecentWindow).UnixNano()); err != nil {
			return err
		}
		if _, err := s.writer.exec(ctx, "DELETE FROM recent WHERE run > ? AND run < ? AND run NOT IN "+
			"(SELECT run FROM recent WHERE run > ? AND run < ? ORDER BY at DESC LIMIT ?)",
			heardBegin, heardEnd, heardBegin, heardEnd, maxHeard-1); err != nil {
			return err
		}
	}
	s.written += int64(len(body) + 64)
	_, err := s.writer.exec(ctx, "INSERT OR REPLACE INTO recent (run, at, body) VALUES (?, ?, ?)", heardBegin+run,
		at.Add(interlock.HeardWindow-interlock.RecentWindow).UnixNano(), body)
	return err
}
