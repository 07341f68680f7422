package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/proof"
)

// A job is where a run is in its sequence.
type job struct {
	seed string
	next int64
}

// readHead reads the head row.
func readHead(ctx context.Context, c *conn) (ledger.Head, proof.Stamp, error) {
	var head ledger.Head
	var now proof.Stamp
	found, err := c.row(ctx, "SELECT size, last, edge, checkpoint, version, revision FROM head WHERE one = 1", nil,
		&head.Size, &head.Last, &head.Edge, &head.Checkpoint, &now.Version, &now.Revision)
	if err == nil && !found {
		err = interlock.Errorf(interlock.CodeUnavailable, "store",
			"the store has lost the head of its log; stop Interlock, keep the file as evidence and restore a backup")
	}
	return head, now, err
}

// A batch is the state of a transaction under way.
type batch struct {
	store     *Store
	drafts    []ledger.Draft
	prepared  []*draft // what was made of each before it was queued
	sequences []int64
	touched   map[string]job // runs whose next number moved
	passing   map[ledger.Ref]*passing
	filed     []filed
	accepted  []*commit
	written   []written
	proved    *proof.Change
	next      *proof.State // what it leaves
	before    proof.Stamp
	after     proof.Stamp
}

// fill does the work of a transaction between BEGIN and COMMIT. written is false if no commit was valid.
func (s *Store) fill(ctx context.Context, commits []*commit) (written bool, err error) {
	b, head, err := s.beginBatch(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range commits {
		if err := b.take(ctx, c); err != nil {
			return false, err
		}
	}
	s.drafts, s.prepared, s.sequences = b.drafts, b.prepared, b.sequences
	if len(b.accepted) == 0 {
		return false, nil
	}
	entries, next, err := s.options.Sealer.Seal(head, b.drafts, b.sequences, s.sealingRoom(b.drafts))
	if err != nil {
		return false, fmt.Errorf("seal: %w", err)
	}
	if err := b.save(ctx, entries, next); err != nil {
		return false, err
	}
	for _, c := range b.accepted {
		c.receipt = receipt(c, entries, next)
	}
	s.sealed, s.filled = next, b
	return true, nil
}

// beginBatch begins what a transaction does, from the head it found.
func (s *Store) beginBatch(ctx context.Context) (*batch, ledger.Head, error) {
	head, now, vouched, err := s.expectedHead(ctx)
	if err != nil {
		return nil, head, err
	}
	b := &batch{store: s, touched: map[string]job{}, before: now, after: now,
		drafts: s.drafts[:0], prepared: s.prepared[:0], sequences: s.sequences[:0]}
	return b, head, b.begin(ctx, vouched)
}

// expectedHead returns the head to go on from, and its tag. SQLite compares the one in the file with the newest this process knows,
// which costs half of reading it; any other is read and held against what is known.
func (s *Store) expectedHead(ctx context.Context) (ledger.Head, proof.Stamp, []byte, error) {
	var now proof.Stamp
	var vouched []byte
	k := &s.newest
	same, err := s.writer.row(ctx, "SELECT version, revision, tag FROM head WHERE one = 1 AND size = ? AND last = ? AND edge = ? AND "+
		"checkpoint = ?", []any{k.Size, k.Last, k.Edge, k.Checkpoint}, &now.Version, &now.Revision, &vouched)
	if err != nil || same {
		return *k, now, vouched, err
	}
	head, now, err := readHead(ctx, s.writer)
	if err == nil {
		_, err = s.writer.row(ctx, "SELECT tag FROM head WHERE one = 1", nil, &vouched)
	}
	if err != nil {
		return head, now, nil, err
	}
	return head, now, vouched, s.trust(head)
}

// Entries are sealed into memory that is used again, up to keptRoom bytes; envelope is more than an event adds to its
// payload.
const (
	keptRoom = 1 << 20
	envelope = 1 << 10
)

// sealingRoom returns room for the entries of so many drafts. SQLite copies what it is given, so that it is free again
// after each transaction.
func (s *Store) sealingRoom(drafts []ledger.Draft) []byte {
	size := 0
	for i := range drafts {
		size += len(drafts[i].Payload) + envelope
	}
	if size > cap(s.room) && size <= keptRoom {
		s.room = make([]byte, 0, size+size/4)
	}
	return s.room
}

// errForged marks a head that can't be the log's: going on would sign what somebody made of it.
var errForged = errors.New("the head of the log was changed")

// trust holds the head found in the file against the one this process wrote or verified last. Nobody may shorten the log
// or change its head behind a running Interlock, which would then sign over the gap.
func (s *Store) trust(head ledger.Head) error {
	if head.Size == s.newest.Size && head.Last == s.newest.Last && bytes.Equal(head.Edge, s.newest.Edge) &&
		bytes.Equal(head.Checkpoint, s.newest.Checkpoint) {
		return nil
	}
	s.forget() // somebody else has written in between
	s.passing.forget(head.Size)
	var cause error
	if head.Size > s.newest.Size {
		if cause = s.options.Sealer.CheckHead(head); cause == nil {
			s.newest = head
			return nil
		}
	}
	if cause == nil {
		cause = fmt.Errorf("%d entries were written and there are %d", s.newest.Size, head.Size)
	}
	return fmt.Errorf("%w (%w: %w)", interlock.Errorf(interlock.CodeUnavailable, "store",
		"the log was cut or changed while Interlock was running; stop it, keep the file as evidence, and run "+
			"`interlock audit verify` with a checkpoint kept elsewhere"), errForged, cause)
}

// begin gets the proofs that the transaction goes on from: those of the head it found, which has this tag.
func (b *batch) begin(ctx context.Context, vouched []byte) (err error) {
	from, s := b.store.proofs, b.store
	if from == nil || from.At != b.before || !bytes.Equal(from.Vouched, vouched) {
		_, from, err = s.writer.Head(ctx)
	}
	if err == nil {
		b.proved = s.prover.Change(s.writer, from)
	}
	return err
}

// mend carries a plan out, if it is the one that was signed. It comes before anything else of its change.
func (b *batch) mend(ctx context.Context, mend *ledger.Mend) (refusal, err error) {
	if mend == nil {
		return nil, nil
	}
	if refusal, err = b.proved.Mend(ctx, b.store.writer, mend); refusal == nil && err == nil {
		b.after.Revision++ // nobody goes on from what was remembered
		b.store.passing.forget(b.store.newest.Size)
	}
	return refusal, err
}

// saveProofs makes what proves all that the transaction leaves, and writes the tags of the parts of standing rows, if they have
// changed; the others are the head's to write.
func (b *batch) saveProofs(ctx context.Context, head ledger.Head) error {
	next, stands := b.proved.End(head, b.after)
	if b.next = next; !stands {
		return nil
	}
	return b.one(b.store.writer.exec(ctx, "UPDATE proofs SET tags = ? WHERE one = 1", next.Tags))
}

// receipt names a commit's events.
func receipt(c *commit, entries []interlock.Entry, head ledger.Head) ledger.Receipt {
	mine := entries[c.first : c.first+len(c.change.Events)]
	ids := make([]string, len(mine))
	for i := range mine {
		ids[i] = mine[i].ID
	}
	return ledger.Receipt{First: mine[0].Index, Events: ids, Checkpoint: head.Checkpoint, Left: c.spent}
}

// take validates one commit against everything before it, applies its state changes and queues its events. A refusal is
// the commit's own and is made before anything of it is applied; an error returned ends the transaction.
func (b *batch) take(ctx context.Context, c *commit) error {
	refusal, err := b.checkReads(ctx, &c.change)
	if err == nil && refusal == nil {
		refusal, err = b.mend(ctx, c.change.Mend)
	}
	if err == nil && refusal == nil {
		refusal, err = b.apply(ctx, c)
	}
	if err == nil && refusal != nil && c.change.Mend != nil && b.proved.Mended() {
		err = refusal // what was mended must not stay without its event
	}
	if err != nil {
		return err
	}
	if refusal != nil {
		c.err = refusal
		return nil
	}
	c.first = len(b.drafts)
	for i := range c.drafts {
		d := c.drafts[i].Draft
		j, err := b.job(ctx, d)
		if err != nil {
			return err
		}
		d.Seed = j.seed
		b.drafts, b.prepared = append(b.drafts, d), append(b.prepared, &c.drafts[i])
		b.sequences = append(b.sequences, j.next)
		b.touched[d.Run] = job{seed: j.seed, next: j.next + 1}
	}
	b.accepted = append(b.accepted, c)
	return nil
}

// job finds where a draft's run is in its sequence.
func (b *batch) job(ctx context.Context, d ledger.Draft) (job, error) {
	if j, ok := b.touched[d.Run]; ok {
		return j, nil
	}
	if j, ok := b.store.jobs[d.Run]; ok {
		return j, nil
	}
	r, err := b.proved.Passed(ctx, runKind, d.Run)
	if tampered := (*ledger.Tampered)(nil); !b.proved.Sound() || errors.As(err, &tampered) {
		// Where it is can't be known. It goes on as another, whose seed is none that was used.
		tag := b.store.options.Sealer.Tag([]byte("seed"), []byte(d.Seed), []byte(d.Run), []byte(b.store.newest.Last))
		return job{seed: hex.EncodeToString(tag[:16]), next: 1}, nil
	}
	if err != nil {
		return job{}, err
	}
	if r.Body == nil {
		return job{seed: d.Seed, next: 1}, nil
	}
	return jobOf(r.Body)
}

// at is the time of a change: that of its first event, so that callers and tests have one clock.
func (s *Store) at(change *ledger.Change) time.Time {
	if at := change.Events[0].Recorded; !at.IsZero() {
		return at
	}
	return s.options.Now()
}

// one holds an UPDATE to having changed exactly one row. The checks before make this certain; if it is not so, the
// transaction must not happen.
func (b *batch) one(changed int64, err error) error {
	if err == nil && changed != 1 {
		return errors.New("a row changed under its own transaction")
	}
	return err
}

// save writes the sealed entries, what depends on their ids, and the new head.
func (b *batch) save(ctx context.Context, entries []interlock.Entry, next ledger.Head) error {
	w := b.store.writer
	if err := b.saveEntries(ctx, entries); err != nil {
		return err
	}
	if err := b.saveBlobs(ctx); err != nil {
		return err
	}
	if err := b.noteIDs(ctx, entries); err != nil {
		return err
	}
	if err := b.saveFiled(ctx, entries); err != nil {
		return err
	}
	if err := b.savePassing(ctx); err != nil {
		return err
	}
	if err := b.saveProofs(ctx, next); err != nil {
		return err
	}
	changed, err := w.exec(ctx, "UPDATE head SET size = ?, last = ?, edge = ?, checkpoint = ?, version = ?, revision = ?, "+
		"tag = ?, passing = ?, sums = ? WHERE one = 1", next.Size, next.Last, next.Edge, next.Checkpoint, b.after.Version, b.after.Revision,
		b.next.Vouched, notNull(b.next.Passing), b.store.prover.Mask(b.next.Vouched, b.next.Sums))
	return b.one(changed, err)
}

// saveBeside writes what the transaction leaves where it writes no entry.
func (b *batch) saveBeside(ctx context.Context, head ledger.Head) error {
	if err := b.saveProofs(ctx, head); err != nil {
		return err
	}
	return b.one(b.store.writer.exec(ctx, "UPDATE head SET tag = ?, passing = ?, sums = ? WHERE one = 1", b.next.Vouched, notNull(b.next.Passing),
		b.store.prover.Mask(b.next.Vouched, b.next.Sums)))
}

func (b *batch) saveEntries(ctx context.Context, entries []interlock.Entry) error {
	s := b.store
	if s.packed = s.packed[:0]; cap(s.packed) > keptRoom { // SQLite copies what it is given
		s.packed = nil
	}
	return b.insert(ctx, insertEntries, len(entries), func(to []any, i int) []any {
		e := &entries[i]
		from := len(s.packed)
		s.packed = pack.AppendSealed(s.packed, e.Body)
		body, inputs := s.packed[from:len(s.packed):len(s.packed)], b.prepared[i].packed(e.Body)
		s.written += int64(len(body) + len(inputs) + len(e.Hashes) + 256)
		return append(to, e.Index, storedID(e.ID), string(e.Type), body, e.Hashes, nullable(e.Checkpoint), nullable(inputs))
	})
}

var insertEntries = insertions("entries", "idx, id, type, body, hashes, checkpoint, inputs", "")

// nullable makes an empty value NULL.
func nullable(value []byte) any {
	if len(value) == 0 {
		return nil
	}
	return value
}

// notNull makes no bytes an empty text: it is what there is where somebody has emptied it.
func notNull(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}
