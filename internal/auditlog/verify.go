package auditlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"

	"interlock"
	"interlock/internal/ledger"
)

// A Source is a log to be read: a live store or an exported copy.
type Source interface {
	// Head returns the log's head. A copy has no edge; its Checkpoint says how far it reaches.
	Head(ctx context.Context) (ledger.Head, error)
	// Walk calls visit for every entry, in stored order, as it is stored. The entry's bytes may be used again after visit. It
	// ends at the first error and returns it.
	Walk(ctx context.Context, visit func(interlock.Entry) error) error
}

// VerifyOptions add to what a log is held against.
type VerifyOptions struct {
	Earlier [][]byte // signed checkpoints of this log kept elsewhere, e.g. in receipts: the log must contain what they cover
	// as many entries from the beginning may have their hashes alone: what is verified is an archive that goes on from another
	Before int64
	// Sound is told of each entry that was found sound so far, with what its event says. Both are its own until it returns; may be
	// nil
	Sound func(e *interlock.Entry, event *Event) error
}

// A ProblemKind names what was done to a log.
type ProblemKind string

// The kinds of fault.
const (
	ProblemChanged    ProblemKind = "changed"
	ProblemRemoved    ProblemKind = "removed"
	ProblemReordered  ProblemKind = "reordered"
	ProblemInserted   ProblemKind = "inserted"
	ProblemDuplicated ProblemKind = "duplicated"
	ProblemCut        ProblemKind = "cut"        // the log ends before what was signed
	ProblemCheckpoint ProblemKind = "checkpoint" // the signed head is missing, damaged or of another log
)

// A Problem is the first thing found wrong with a log.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Index   int64       `json:"index"`              // the entry at fault; -1 if it is the head
	Event   string      `json:"event_id,omitempty"` // where it can be told
	Message string      `json:"message"`
}

// Error returns the fault as one sentence.
func (p *Problem) Error() string {
	if p.Index < 0 {
		return p.Message
	}
	if p.Event == "" {
		return fmt.Sprintf("entry %d: %s", p.Index, p.Message)
	}
	return fmt.Sprintf("entry %d (event %s): %s", p.Index, p.Event, p.Message)
}

// A Report is what verification found out. Without a Problem every entry up to Entries is what was sealed, in its place.
type Report struct {
	Entries    int64      `json:"entries"`
	Runs       int        `json:"runs"`
	Signed     int64      `json:"signed"`             // entries whose own signature was checked
	Heads      int64      `json:"heads"`              // signed heads that are stored with entries and were held against the tree
	Released   int64      `json:"archived,omitempty"` // entries with only their hashes here: the rest is archived
	Checkpoint Checkpoint `json:"-"`
	Problem    *Problem   `json:"problem,omitempty"`
}

// errFound ends a walk at the first problem.
var errFound = errors.New("found")

// Verify reads a whole log and checks all of it: form, ids, content hashes, chain, sequence per run, own signatures,
// stored tree hashes, tree, and the signed heads. It names the first entry at fault. An error means that the log could
// not be read, not that it is wrong.
func Verify(ctx context.Context, source Source, key *PublicKey, options VerifyOptions) (Report, error) {
	if key == nil {
		return Report{}, errors.New("auditlog: Verify needs the log's public key")
	}
	v := &verification{key: key, previous: noPrevious, sequences: map[string]int64{}, archived: options.Before}
	if err := v.keep(options.Earlier); err != nil {
		return v.report(nil), err
	}
	head, err := source.Head(ctx)
	if err != nil {
		return v.report(nil), fmt.Errorf("auditlog: read the head: %w", err)
	}
	v.covered = head.Size
	var found *finding
	err = source.Walk(ctx, func(e interlock.Entry) error {
		if found = v.entry(&e); found != nil {
			found.entry.Body, found.entry.Hashes, found.entry.Checkpoint = bytes.Clone(e.Body), bytes.Clone(e.Hashes),
				bytes.Clone(e.Checkpoint)
			return errFound
		}
		if options.Sound != nil && !Released(&e) {
			return options.Sound(&e, &v.event)
		}
		return nil
	})
	switch {
	case found != nil:
		named, err := diagnose(ctx, source, v, found)
		return v.report(named), err
	case err != nil:
		return v.report(nil), fmt.Errorf("auditlog: read entry %d: %w", v.tree.size, err)
	}
	if head, err = v.since(ctx, source, head); err != nil {
		return v.report(nil), err
	}
	problem := v.head(head)
	if problem == nil {
		problem, err = v.undeclared(ctx, source)
		return v.report(problem), err
	}
	problem, err = v.locate(ctx, source, problem)
	return v.report(problem), err
}

// since returns the head that the entries which were read end at. The log may have grown between reading its head and reading
// its entries, and grow on: then that is the signed head in the last entry, as long as the log's own has gone past it since.
func (v *verification) since(ctx context.Context, source Source, head ledger.Head) (ledger.Head, error) {
	if head.Size >= v.tree.size {
		return head, nil
	}
	now, err := source.Head(ctx)
	if err != nil {
		return head, fmt.Errorf("auditlog: read the head again: %w", err)
	}
	switch {
	case now.Size == v.tree.size:
		return now, nil
	case now.Size < v.tree.size, v.signedAt != v.tree.size:
		return head, nil // entries that no head covers
	}
	if _, err := v.key.OpenCheckpoint(now.Checkpoint); err != nil {
		return now, nil // and is told so
	}
	return ledger.Head{Size: v.tree.size, Checkpoint: v.stored}, nil
}

// A verification is one reading of a log.
type verification struct {
	key       *PublicKey
	tree      edge
	previous  string           // record hash of the entry before
	before    string           // and of the one before that
	lastID    string           // event id of the entry before
	sequences map[string]int64 // newest number of each job seed
	signed    int64
	known     []Checkpoint // kept elsewhere, verified, smallest first
	newest    Checkpoint
	covered   int64  // entries under the stored head, as it says itself: good for wording only
	stands    int64  // signed heads that are stored with entries, held against the tree
	stored    []byte // the newest signed head that is stored with an entry
	signedAt  int64  // and how many entries there were then
	released  int64  // entries whose content is in an archive
	bare      int64  // the index after the last one of them
	archived  int64  // entries that events say are archived

	event   Event // scratch
	scratch []byte
	hashes  []byte
}

func (v *verification) report(problem *Problem) Report {
	return Report{Entries: v.tree.size, Runs: len(v.sequences), Signed: v.signed, Heads: v.stands, Released: v.released,
		Checkpoint: v.newest, Problem: problem}
}

// keep verifies the checkpoints kept elsewhere. One that is not this log's is the caller's mistake, not the log's.
func (v *verification) keep(earlier [][]byte) error {
	for _, signed := range earlier {
		c, err := v.key.OpenCheckpoint(signed)
		if err != nil {
			return err
		}
		v.known = append(v.known, c)
	}
	sort.SliceStable(v.known, func(i, j int) bool { return v.known[i].Size < v.known[j].Size })
	return nil
}

// A finding is a fault before it is told apart what was done: where it showed, and whether it may be the neighbour's.
type finding struct {
	Problem
	entry interlock.Entry
	chain bool // the entry itself is sound but does not follow the one before
}

func changed(e *interlock.Entry, format string, args ...any) *finding {
	return &finding{Problem: Problem{Kind: ProblemChanged, Index: e.Index, Event: e.ID, Message: "it was changed: " +
		fmt.Sprintf(format, args...)}, entry: *e}
}

// entry checks the next entry.
func (v *verification) entry(e *interlock.Entry) *finding {
	place := v.tree.size
	switch {
	case e.Index > place && place > 0 && place == v.covered:
		return &finding{Problem: Problem{Kind: ProblemInserted, Index: e.Index, Event: e.ID, Message: fmt.Sprintf(
			"it was inserted: the log's head covers %d entries", place)}, entry: *e}
	case e.Index > place && place == 0:
		return &finding{Problem: Problem{Kind: ProblemRemoved, Index: place, Message: fmt.Sprintf(
			"it was removed: the log begins with entry %d", e.Index)}, entry: *e}
	case e.Index > place:
		return &finding{Problem: Problem{Kind: ProblemRemoved, Index: place, Message: fmt.Sprintf(
			"it was removed: the log goes from entry %d to entry %d", place-1, e.Index)}, entry: *e}
	}
	if e.Index == place && Released(e) {
		return v.bareEntry(e)
	}
	var err error
	if v.scratch, err = parseEvent(&v.event, e.Body, v.scratch); err != nil {
		return changed(e, "%s", err)
	}
	event := &v.event
	if e.Index < place {
		return &finding{Problem: Problem{Kind: ProblemDuplicated, Index: e.Index, Event: event.ID, Message: fmt.Sprintf(
			"it stands in the log a second time, after entry %d", place-1)}, entry: *e}
	}
	if fault := v.content(e, event); fault != nil {
		return fault
	}
	leaf := leafHash(e.Body)
	if len(e.Hashes) < hashSize || !bytes.Equal(e.Hashes[:hashSize], leaf[:]) {
		return changed(e, "its bytes do not give the hash it was sealed with")
	}
	if event.Previous != v.previous {
		return &finding{Problem: Problem{Kind: ProblemChanged, Index: place, Event: event.ID,
			Message: "it does not follow the entry before it"}, entry: *e, chain: true}
	}
	if want := v.sequences[event.Seed] + 1; event.Sequence != want && (v.released == 0 || event.Sequence < want) {
		return changed(e, "it is number %d of its run, and %d comes next", event.Sequence, want)
	}
	if signed(event.Type) && !(signedLately(event.Type) && event.Algorithm == "" && event.Key == "" && event.Signature == "") {
		if err := v.key.verifyEvent(event); err != nil {
			return changed(e, "%s", err)
		}
		v.signed++
	}
	if event.Type == interlock.EventArchive {
		record, err := archiveIn(event.Payload)
		if err != nil || record.Size > place {
			return changed(e, "it tells of an archive that can't be")
		}
		v.archived = max(v.archived, record.Size)
	}
	v.hashes = v.tree.add(v.hashes[:0], leaf)
	if !bytes.Equal(e.Hashes, v.hashes) {
		v.tree.size-- // the report counts what is sound
		return changed(e, "the tree hashes stored with it are not those of the log before it")
	}
	v.sequences[event.Seed] = event.Sequence
	v.before, v.previous, v.lastID = v.previous, hashText(leaf), event.ID
	return v.heads(e)
}

// content checks what an event says of itself.
func (v *verification) content(e *interlock.Entry, event *Event) *finding {
	if e.ID != event.ID || e.Type != event.Type {
		return changed(e, "the id or type stored beside it is not the event's own (%s, %s)", event.ID, event.Type)
	}
	if !isEventID(event) {
		return changed(e, "its event id is not that of its run, number and type")
	}
	sum := sha256.Sum256(event.Payload)
	if !isHash(event.Content, sum) {
		return changed(e, "its payload does not give its content hash")
	}
	if !event.Seeded.Equal(seededAt(event.Sequence)) {
		return changed(e, "its logical time is not that of its number")
	}
	if !signed(event.Type) && (event.Key != "" || event.Algorithm != "" || event.Signature != "") {
		return changed(e, "it carries a signature, which events of its type do not")
	}
	return nil
}

// heads holds the tree against the signed heads that end here: the one stored with the entry and those kept elsewhere.
// A stored head's signature is not checked here: the newest head's is, and it binds every tree before it.
func (v *verification) heads(e *interlock.Entry) *finding {
	if len(e.Checkpoint) > 0 {
		c, err := unverified(e.Checkpoint)
		if err != nil || c.Size != v.tree.size || c.Root != v.tree.root() || c.Origin != v.key.Origin() {
			return &finding{Problem: Problem{Kind: ProblemChanged, Index: e.Index, Event: e.ID,
				Message: "the signed head stored with it is not that of the log up to here"}, entry: *e}
		}
		v.stored, v.signedAt = append(v.stored[:0], e.Checkpoint...), v.tree.size
		v.stands++
	}
	for len(v.known) > 0 && v.known[0].Size <= v.tree.size {
		c := v.known[0]
		v.known = v.known[1:]
		if c.Size == v.tree.size && c.Root != v.tree.root() {
			return &finding{Problem: Problem{Kind: ProblemChanged, Index: e.Index, Event: e.ID, Message: fmt.Sprintf(
				"the checkpoint of %d entries kept elsewhere was signed over another history", c.Size)}, entry: *e}
		}
	}
	return nil
}

// head checks the end of the log against its newest signed head and the checkpoints kept elsewhere that reach further.
func (v *verification) head(head ledger.Head) *Problem {
	count := v.tree.size
	for _, c := range v.known {
		if c.Size > count {
			return &Problem{Kind: ProblemCut, Index: count, Message: fmt.Sprintf("it is missing: the log ends after %d entries, "+
				"and a checkpoint kept elsewhere was signed over %d; the tail was cut", count, c.Size)}
		}
	}
	if len(head.Checkpoint) == 0 {
		if count == 0 {
			return nil
		}
		return &Problem{Kind: ProblemCheckpoint, Index: -1, Message: "the log has entries and no signed head"}
	}
	c, err := v.key.OpenCheckpoint(head.Checkpoint)
	if err != nil {
		return &Problem{Kind: ProblemCheckpoint, Index: -1, Message: err.Error()}
	}
	v.newest = c
	switch {
	case c.Size > count:
		return &Problem{Kind: ProblemCut, Index: count, Message: fmt.Sprintf(
			"it was removed: the log ends after %d entries, and its signed head covers %d", count, c.Size)}
	case c.Size < count:
		return &Problem{Kind: ProblemInserted, Index: c.Size, Message: fmt.Sprintf(
			"it was inserted: the log has %d entries, and its signed head covers %d", count, c.Size)}
	case c.Root != v.tree.root():
		return &Problem{Kind: ProblemChanged, Index: -1, Message: "the log is not the one its head was signed over"}
	}
	if len(head.Edge) > 0 && (head.Size != count || !bytes.Equal(head.Edge, v.tree.bytes()) || head.Last != v.previous) {
		return &Problem{Kind: ProblemCheckpoint, Index: -1, Message: "the stored head does not match the log it was signed over"}
	}
	return nil
}

// isEventID reports whether an event's id is the one its seed, number and type give.
func isEventID(e *Event) bool { return e.ID == EventID(e.Seed, e.Sequence, e.Type) }

// isHash reports whether text is the rendering of a hash.
func isHash(text string, sum [32]byte) bool {
	if len(text) != len(noPrevious) || text[:7] != noPrevious[:7] {
		return false
	}
	var digits [64]byte
	hex.Encode(digits[:], sum[:])
	return text[7:] == string(digits[:])
}

// leafHash is RFC 6962's hash of a leaf.
func leafHash(body []byte) [hashSize]byte {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(body)
	var sum [hashSize]byte
	h.Sum(sum[:0])
	return sum
}
