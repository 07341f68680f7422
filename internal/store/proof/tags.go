// Package proof is how a store proves what it keeps beside the log, whichever backend keeps it: the tags, what is believed by them,
// what a commit makes of them, what a check names and what can be mended. A backend reads and writes, see [Reader] and [Mender].
//
// What is beside the log is believed as far as the log's key proves it. Three things together do that:
//
//   - A row has a proof, a tag over what it says: nobody without the key can make a row, or change one.
//   - A part, one of 1,024 of standing rows and one of 256 of passing ones, has a tag over the proofs of all rows of the owners
//     in it: nobody can take one away, or bring one back.
//   - The head has a tag over the parts, the sums of what is only added up (see [Sums]), the versions and the size of the log: nobody
//     can put all of it back without putting the log back.
//
// A decision reads the standing rows of its owners, each owner whole, with the proofs of its part, and remembers it, so that the
// next one costs nothing. A commit checks the parts it changes before it writes them: what somebody else has done is never signed
// for.
//
// Passing rows are proved as standing rows are, with one difference: each row is its own owner, so that its place says which it
// is, and that none is there is proved as well. A row that is over is forgotten, with its claim.
//
// Accepted: those who can read the log's private key can write rows that are believed; then operators' signatures are what holds.
// Those who can write the store can make an owner's standing unbelievable, which refuses what rests on it.
package proof

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"interlock/internal/ledger"
)

// How many parts there are, of standing rows and, numbered after those, passing rows; and the bytes of a part's tag and a proof.
const (
	Parts     = 1024
	PassParts = 256
	TagSize   = 8
	Size      = 16

	partShift = 63 - 10
	passShift = 63 - 8
)

// A Key makes tags.
type Key interface {
	// Tag is a digest of some texts that only a holder of the log's key can make.
	Tag(texts ...[]byte) [32]byte
}

// A Prover makes and checks proofs, and remembers what it has found to be so. It is safe for concurrent use.
type Prover struct {
	key     Key
	book    ledger.Book
	brief   bool
	noticed func(*ledger.Tampered)
	told    sync.Map // names of [ledger.Tampered]
	known   memory
	room    sync.Pool // what tags of parts are made of
}

// New returns a prover. A brief one remembers no more than it has to read; noticed is told once of whatever is not believed, and may be
// nil.
func New(key Key, book ledger.Book, brief bool, noticed func(*ledger.Tampered)) *Prover {
	return &Prover{key: key, book: book, brief: brief, noticed: noticed, room: sync.Pool{New: func() any { return new([]byte) }}}
}

// OwnerNumber is an owner as a store has it. Two owners may share one.
func OwnerNumber(owner string) int64 {
	sum := sha256.Sum256([]byte(owner))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// PassNumber is the owner of the row that passes under a key.
func PassNumber(kind, key string) int64 { return OwnerNumber(kind + "\x00" + key) }

// PartOf is the part of an owner of standing rows, PassPart that of one of passing rows.
func PartOf(owner int64) int   { return int(owner >> partShift) }
func PassPart(owner int64) int { return Parts + int(owner>>passShift) }

// A Span is owners from one number to another, of standing rows or of passing rows.
type Span struct {
	Passing    bool
	From, UpTo int64
}

// SpanOf is the owners of a part.
func SpanOf(part int) Span {
	if part >= Parts {
		from := int64(part-Parts) << passShift
		return Span{true, from, from + 1<<passShift - 1}
	}
	from := int64(part) << partShift
	return Span{false, from, from + 1<<partShift - 1}
}

// A Claim is that a row is there: whose, and its proof.
type Claim struct {
	Owner int64
	Proof [Size]byte
}

// Compare orders claims as a part's tag has them.
func (c Claim) Compare(o Claim) int {
	if c.Owner != o.Owner {
		return cmp.Compare(c.Owner, o.Owner)
	}
	return bytes.Compare(c.Proof[:], o.Proof[:])
}

// A Stamp is the versions that are kept beside the log: of what binds, and of every change.
type Stamp struct{ Version, Revision int64 }

// A State is what proves all that is beside the log, at one state of it. What it says is never changed, but for the next state's.
type State struct {
	Tags    []byte // of the parts of standing rows
	Passing []byte // of the parts of passing rows
	Sums    Sums
	Size    int64  // of the log
	At      Stamp  // the versions beside it
	Vouched []byte // the head's tag: as long as the store has this one, all of this is so
	Sound   bool   // it is the tag of this

	tags, passing [sha256.Size]byte // of the tags of the parts
}

// NewState is the state where nothing is proved yet.
func NewState() *State {
	s := &State{Tags: make([]byte, Parts*TagSize), Passing: make([]byte, PassParts*TagSize), Sound: true}
	s.Summarize(true, true)
	return s
}

// Summarize is due when tags of parts were set: of standing rows, of passing rows.
func (s *State) Summarize(stands, passes bool) {
	if stands {
		s.tags = sha256.Sum256(s.Tags)
	}
	if passes {
		s.passing = sha256.Sum256(s.Passing)
	}
}

// Tag is the tag of a part.
func (s *State) Tag(part int) []byte {
	if part >= Parts {
		part -= Parts
		return s.Passing[part*TagSize : (part+1)*TagSize]
	}
	return s.Tags[part*TagSize : (part+1)*TagSize]
}

// Judge finds out whether a state that was read beside a head, with its sums under their mask, is that of this head.
func (p *Prover) Judge(head ledger.Head, s *State, masked []byte) {
	s.Summarize(true, true)
	s.Size = head.Size
	s.Sums, s.Sound = p.Unmask(s.Vouched, masked)
	s.Sound = s.Sound && len(s.Tags) == Parts*TagSize && len(s.Passing) == PassParts*TagSize
	s.Sound = s.Sound && bytes.Equal(s.Vouched, p.head(head, s))
}

// head binds the proofs to a head. Where they were not sound before they never are again by themselves: what is written then is
// no tag, and differs from commit to commit.
func (p *Prover) head(head ledger.Head, s *State) []byte {
	number := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	if !s.Sound {
		return number(head.Size)
	}
	tag := p.key.Tag([]byte("head 10"), number(head.Size), []byte(head.Last), number(s.At.Version), number(s.At.Revision),
		s.tags[:], s.passing[:], s.Sums.text())
	return tag[:]
}

// Row is the proof of a standing row, of one that has ended too.
func (p *Prover) Row(r ledger.Row) (proof [Size]byte) {
	version := binary.BigEndian.AppendUint64(nil, uint64(r.Version))
	tag := p.key.Tag([]byte("row 10"), []byte(r.Kind), []byte(r.Key), version, r.Body)
	copy(proof[:], tag[:])
	return proof
}

// Pass is the proof of a row that passes.
func (p *Prover) Pass(r ledger.Row, until int64) (proof [Size]byte) {
	tag := p.key.Tag([]byte("passing 10"), []byte(r.Kind), []byte(r.Key), binary.BigEndian.AppendUint64(nil, uint64(until)), r.Body)
	copy(proof[:], tag[:])
	return proof
}

// Notes is the proof of a list of what the events from an entry on are called, by which they are found.
func (p *Prover) Notes(first int64, notes []byte) []byte {
	tag := p.key.Tag([]byte("ids 10"), binary.BigEndian.AppendUint64(nil, uint64(first)), notes)
	return tag[:Size]
}

// Part is the tag of a part. Nobody's claims have none.
func (p *Prover) Part(part int, claims []Claim) (tag [TagSize]byte) {
	if len(claims) == 0 {
		return tag
	}
	room := p.room.Get().(*[]byte)
	text := binary.BigEndian.AppendUint64(slices.Grow((*room)[:0], 8+len(claims)*(8+Size)), uint64(part))
	for _, c := range claims {
		text = append(binary.BigEndian.AppendUint64(text, uint64(c.Owner)), c.Proof[:]...)
	}
	sum := p.key.Tag([]byte("part"), text)
	copy(tag[:], sum[:])
	*room = text
	p.room.Put(room)
	return tag
}

// fits reports whether some claims are all that a state has of a part.
func (p *Prover) fits(s *State, part int, claims []Claim) bool {
	tag := p.Part(part, claims)
	return bytes.Equal(tag[:], s.Tag(part))
}

// Notice tells of what is not believed, each once.
func (p *Prover) Notice(foreign []*ledger.Tampered, err error) {
	if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
		foreign = append(foreign, tampered)
	}
	for _, t := range foreign {
		if _, told := p.told.LoadOrStore(t.Name(), true); !told && p.noticed != nil {
			p.noticed(t)
		}
	}
}

// foreign is said of what Interlock has not written so.
const foreign = "was not written by Interlock as it is"

func notWritten(table string, r ledger.Row) *ledger.Tampered {
	return &ledger.Tampered{Table: table, Kind: r.Kind, Key: r.Key, What: foreign}
}

func unsound() *ledger.Tampered {
	return &ledger.Tampered{What: "the proofs of what stands are not those of this log as it is", Table: "head or proofs"}
}

// gone says of a part that it lacks something, or has something that was.
func gone(part int) *ledger.Tampered {
	if part >= Parts {
		return &ledger.Tampered{What: "something of what runs did or heard was taken away, or put back to what it was", Table: "passing", Part: part}
	}
	return &ledger.Tampered{What: "something that stood was taken away, or put back to what it was", Table: "rows", Part: part}
}
