package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"interlock"
)

// A memory is what this process knows of runs' recent actions without reading the file. It is exact while nobody else has
// written since size; whoever finds that somebody has, empties it.
type memory struct {
	guard  sync.Mutex
	runs   map[string][]interlock.PastAction // a run without anything recent is known too
	size   int64                             // of the log when this was known to be all
	epochs int                               // how often it was emptied
}

// forget empties the memory: it is not known what others wrote before the log had this size.
func (m *memory) forget(size int64) {
	m.guard.Lock()
	defer m.guard.Unlock()
	m.runs, m.size = map[string][]interlock.PastAction{}, size
	m.epochs++
}

// notice takes note of the size the log has, and forgets if it has grown by what this process did not write.
func (m *memory) notice(size int64) {
	m.guard.Lock()
	known := size <= m.size
	m.guard.Unlock()
	if !known {
		m.forget(size)
	}
}

// learn takes over what a transaction of this process has made of runs.
func (m *memory) learn(size int64, runs map[string][]interlock.PastAction) {
	m.guard.Lock()
	defer m.guard.Unlock()
	if size < m.size {
		return // somebody else has written since, and perhaps of the same runs
	}
	m.size = size
	if len(m.runs)+len(runs) > maxJobs {
		m.runs = map[string][]interlock.PastAction{}
		m.epochs++
	}
	for run, recent := range runs { // any order: the runs don't depend on each other
		m.runs[run] = recent
	}
}

// look returns what is known of a run, and when it was looked.
func (m *memory) look(run string) (recent []interlock.PastAction, known bool, epoch int) {
	m.guard.Lock()
	defer m.guard.Unlock()
	recent, known = m.runs[run]
	return recent, known, m.epochs
}

// keep takes over what was read of a run since it was looked for, unless a transaction has told it better.
func (m *memory) keep(run string, recent []interlock.PastAction, epoch int) {
	m.guard.Lock()
	defer m.guard.Unlock()
	if _, known := m.runs[run]; !known && epoch == m.epochs && len(m.runs) < maxJobs {
		m.runs[run] = recent
	}
}

// Past returns what commits have remembered of a run, oldest first. Callers change nothing of it. It comes from memory
// where this process has seen, within [knownFor], that nobody else wrote; see [Store.Known], which looks.
func (s *Store) Past(ctx context.Context, run string) ([]interlock.PastAction, error) {
	recent, known, epoch := s.recent.look(run)
	if known {
		return recent, nil
	}
	err := s.read(ctx, "read what a run did", func(c *conn) (err error) {
		recent, err = readRecent(ctx, c, run)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.recent.keep(run, recent, epoch)
	return recent, nil
}

func readRecent(ctx context.Context, c *conn, run string) ([]interlock.PastAction, error) {
	var body []byte
	found, err := c.row(ctx, "SELECT body FROM recent WHERE run = ?", []any{run}, &body)
	if err != nil || !found {
		return nil, err
	}
	var recent []interlock.PastAction
	if err := json.Unmarshal(body, &recent); err != nil {
		return nil, fmt.Errorf("decode what a run did: %w", err)
	}
	return recent, nil
}

// saveRecent adds to their runs what the transaction's changes remember.
func (b *batch) saveRecent(ctx context.Context) error {
	for _, c := range b.accepted {
		if c.change.Past == nil {
			continue
		}
		run := c.change.Events[0].Run
		recent, ok := b.recent[run]
		if !ok {
			var err error
			if recent, err = b.recentOf(ctx, run, *c.change.Past); err != nil {
				return err
			}
		}
		if b.recent == nil {
			b.recent = map[string][]interlock.PastAction{}
		}
		b.recent[run] = interlock.Remember(recent, *c.change.Past)
	}
	if len(b.recent) == 0 {
		return nil
	}
	for _, run := range slices.Sorted(maps.Keys(b.recent)) {
		recent := b.recent[run]
		body, err := json.Marshal(recent)
		if err != nil {
			return fmt.Errorf("encode what a run did: %w", err)
		}
		b.store.written += int64(len(body) + 64)
		if _, err := b.store.writer.exec(ctx, "INSERT OR REPLACE INTO recent (run, at, body) VALUES (?, ?, ?)",
			run, recent[len(recent)-1].At.UnixNano(), body); err != nil {
			return err
		}
	}
	return nil
}

// recentOf is what a run did before this transaction. A run that is new to the table sweeps out those that are over.
func (b *batch) recentOf(ctx context.Context, run string, next interlock.PastAction) ([]interlock.PastAction, error) {
	recent, known, _ := b.store.recent.look(run)
	if !known {
		var err error
		if recent, err = readRecent(ctx, b.store.writer, run); err != nil {
			return nil, err
		}
	}
	if len(recent) > 0 {
		return recent, nil
	}
	_, err := b.store.writer.exec(ctx, "DELETE FROM recent WHERE at < ?", next.At.Add(-interlock.RecentWindow).UnixNano())
	return nil, err
}
