package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/driver"
)

const (
	maxBatch   = 1024      // commits in one transaction
	maxReaders = 8         // reading connections
	maxJobs    = 4096      // runs remembered between transactions
	pagesEach  = 4         // pages a transaction writes besides those of its entries, about
	leaveWAL   = 512 << 10 // bytes of write-ahead log a brief process leaves behind
)

// A commit is one caller's change on its way through the writer.
type commit struct {
	change  ledger.Change
	state   atomic.Int32 // waiting, then taken by the writer or left by the caller
	answer  chan struct{}
	receipt ledger.Receipt
	err     error

	drafts []draft      // its events
	first  int          // position of its first event in the batch
	spent  []ledger.Row // what its spends left
}

// A draft is an event of a change, with what was made of it before it was queued, where nobody else waited for it.
type draft struct {
	ledger.Draft
	inputs []byte // packed beside the payload where [ledger.Checked] says that it will stand; nil: there are none
}

// prepare checks an event and does with it what needs nothing of what comes before it in the log.
func (d *draft) prepare(sealer driver.Sealer, event ledger.Draft) (err error) {
	if event.Seed == "" {
		return errors.New("sqlite: an event without a job seed")
	}
	d.Draft = event
	if d.Checked, err = sealer.Check(&d.Draft); err == nil && len(d.Inputs) > 0 {
		d.inputs = pack.AppendBeside(nil, d.Inputs, d.Payload, d.Checked.At)
	}
	return err
}

// packed is its inputs as they are stored beside the text of the event that it has become.
func (d *draft) packed(event []byte) []byte {
	if at := d.Checked.At; d.inputs == nil || at <= len(event) && bytes.HasPrefix(event[at:], d.Payload) {
		return d.inputs
	}
	return pack.AppendBeside(nil, d.Inputs, event, 0) // its run's seed is of another length
}

const (
	waiting int32 = iota
	taken
	left
)

// Commit makes one change durable: all of it or nothing. It returns after the sync. [ledger.ErrConflict] is wrapped in
// the error if the change was computed from a standing that has moved or spends what is no longer there; then, and only
// then, it is known that nothing was written and that trying again from a new Standing makes sense.
func (s *Store) Commit(ctx context.Context, change ledger.Change) (ledger.Receipt, error) {
	if s.options.ReadOnly {
		return ledger.Receipt{}, errors.New("sqlite: the store is open for reading only")
	}
	if len(change.Events) == 0 {
		return ledger.Receipt{}, errors.New("sqlite: a change without an event")
	}
	c := &commit{change: change, answer: make(chan struct{}), drafts: make([]draft, len(change.Events))}
	for i := range change.Events {
		if err := c.drafts[i].prepare(s.options.Sealer, change.Events[i]); err != nil {
			return ledger.Receipt{}, err
		}
	}
	if err := s.enqueue(ctx, c); err != nil {
		return ledger.Receipt{}, err
	}
	select {
	case <-c.answer:
		return c.receipt, c.err
	case <-ctx.Done():
		if c.state.CompareAndSwap(waiting, left) {
			return ledger.Receipt{}, fmt.Errorf("store: not recorded: %w", ctx.Err())
		}
		return ledger.Receipt{}, fmt.Errorf("store: not known to be recorded: %w", ctx.Err())
	}
}

func (s *Store) enqueue(ctx context.Context, c *commit) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if err := s.failed(); err != nil {
		return err
	}
	if s.closed {
		return errClosed
	}
	select {
	case s.queue <- c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("store: not recorded: %w", ctx.Err())
	}
}

// write is the writer goroutine.
func (s *Store) write() {
	defer close(s.done)
	batch := make([]*commit, 0, maxBatch)
	for first := range s.queue {
		// Those who were answered a moment ago are about to come again; letting them run first makes fewer, fuller transactions.
		// A lone caller is not made to wait for others.
		if len(batch) > 1 || len(s.queue) > 0 {
			runtime.Gosched()
		}
		batch = append(batch[:0], first)
		for more := true; more && len(batch) < maxBatch; {
			select {
			case next, open := <-s.queue:
				if more = open; open {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		s.commitAll(batch)
		clear(batch) // what was written is not kept until as many come again
	}
}

// commitAll takes the waiting commits through one transaction and answers each.
func (s *Store) commitAll(batch []*commit) {
	kept := batch[:0]
	for _, c := range batch {
		if c.state.CompareAndSwap(waiting, taken) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.failed()
	if err == nil {
		err = s.transaction(kept)
	}
	for _, c := range kept {
		if c.err == nil && err != nil {
			c.receipt, c.err = ledger.Receipt{}, err
		}
		close(c.answer)
	}
	clear(s.drafts)
	clear(s.prepared)
	if err == nil {
		s.checkpointSoon()
	}
}

// transaction writes the commits that are valid. Those that aren't get their own error; the error returned is everybody
// else's.
func (s *Store) transaction(batch []*commit) error {
	ctx := context.Background() // a transaction serves many callers; none of them may cut it short
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.classify("begin to write", err)
	}
	written, err := s.fill(ctx, batch)
	if err != nil || !written {
		_, undo := s.writer.exec(ctx, "ROLLBACK")
		if undo != nil && s.unfinished(ctx) {
			return s.fail(explain("undo", undo))
		}
		s.forget()
		return s.classify("write", err)
	}
	at := time.Now() // nobody else can write until the commit is done
	if _, err := s.writer.exec(ctx, "COMMIT"); err != nil {
		s.forget()
		if code(err) == codes.SQLITE_FULL {
			// The pages did not fit, so there is no commit record, and SQLite has undone the transaction.
			_, _ = s.writer.exec(ctx, "ROLLBACK")
			return explain("write", err)
		}
		// Whether the commit is on the disk is not known. Nothing may be answered from this store any more.
		return s.fail(explain("commit", err))
	}
	s.newest = s.sealed
	s.vouchedFor(s.filled.next)
	s.written += pagesEach * 4096
	done := s.filled
	s.filled = nil
	s.passing.learn(s.newest.Size, done.passing)
	for ref, p := range done.passing { // any order: they don't depend on each other
		if p.noted && p.wrote {
			s.unheard.ends(ref)
		}
	}
	for _, f := range done.filed {
		if f.row.Key != "" {
			s.unheard.ends(ledger.Ref{Kind: f.row.Kind, Key: f.row.Key})
		}
	}
	s.follow(done.written, done.before, done.after)
	s.saw(done.after.Revision, at)
	s.wrote(done)
	return nil
}

// unfinished reports whether a transaction is still open after a failed ROLLBACK; SQLite undoes some transactions by itself,
// and then there is nothing to undo.
func (s *Store) unfinished(ctx context.Context) bool {
	_, err := s.writer.sql.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		return true
	}
	_, err = s.writer.sql.ExecContext(ctx, "ROLLBACK")
	return err != nil
}

// classify explains an error and stops the store if going on would be wrong.
func (s *Store) classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errForged) {
		return s.fail(err)
	}
	switch code(err) {
	case codes.SQLITE_IOERR, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return s.fail(explain(doing, err))
	default:
		return explain(doing, err)
	}
}

// forget drops what was remembered of a transaction that did not happen.
func (s *Store) forget() {
	s.jobs = map[string]job{}
	s.filled = nil
	s.noted = -1
	s.proofs = nil
	s.blobs = map[interlock.Digest]int64{}
}
