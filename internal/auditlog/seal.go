package auditlog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/witness"
)

// A Sealer turns drafts into entries and signs the head that covers them. It holds the log's private key and nothing else;
// it is safe for concurrent use.
type Sealer struct {
	public *PublicKey
	id     string // key_id of signed events
	answer witness.Key
	sign   func(text []byte) ([]byte, error)
	tag    []byte    // the key of [Sealer.Tag]
	macs   sync.Pool // of hash.Hash, under that key
}

// NewSealer returns a sealer for a private key made by GenerateKey.
func NewSealer(private string) (*Sealer, error) {
	private = strings.TrimSpace(private)
	parsed, err := note.NewSigner(private)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "log.key", "this is not a log's private key")
	}
	fields := strings.SplitN(private, "+", 5) // "PRIVATE", "KEY", name, hash, key; only the key may hold a plus sign
	raw, err := base64.StdEncoding.DecodeString(fields[len(fields)-1])
	if err != nil || len(raw) != 1+ed25519.SeedSize || raw[0] != algorithmEd25519 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "log.key", "the private key is not an Ed25519 key")
	}
	key := ed25519.NewKeyFromSeed(raw[1:])
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("auditlog: an Ed25519 key without a public half") // unreachable
	}
	name := parsed.Name()
	text, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		return nil, fmt.Errorf("auditlog: derive the public key: %w", err)
	}
	answer, err := witness.ParseKey(private)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "log.key", "%s", err)
	}
	verifier := &PublicKey{text: text, name: name, hash: keyHash(name, public), key: public}
	return &Sealer{
		public: verifier,
		id:     verifier.ID(),
		answer: answer,
		sign:   func(text []byte) ([]byte, error) { return ed25519.Sign(key, text), nil },
		tag:    tagKey(raw[1:]),
	}, nil
}

// tagKey is the key of tags: nobody who has seen a tag learns anything of what signs.
func tagKey(seed []byte) []byte {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte("interlock standing v1"))
	return mac.Sum(nil)
}

// Tag is a digest of some texts, in their order, that only a holder of the log's private key can make. It is how rows beside the
// log are told from rows that somebody else has written.
func (s *Sealer) Tag(texts ...[]byte) [32]byte {
	mac, used := s.macs.Get().(hash.Hash)
	if used {
		mac.Reset()
	} else {
		mac = hmac.New(sha256.New, s.tag)
	}
	defer s.macs.Put(mac)
	var size [8]byte
	for _, text := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		mac.Write(size[:])
		mac.Write(text)
	}
	var sum [32]byte
	mac.Sum(sum[:0])
	return sum
}

// Answers is the key under which the server that keeps this log answers its hooks.
func (s *Sealer) Answers() witness.Key { return s.answer }

// Public returns the key that checks what this sealer signs.
func (s *Sealer) Public() *PublicKey { return s.public }

// Check says whether a draft can be sealed, and what is known of it before it is. A store calls it before it queues a draft, so
// that a bad one is refused alone and hashing a payload keeps nobody else waiting.
func (s *Sealer) Check(d *ledger.Draft) (ledger.Checked, error) {
	if err := checkDraft(d); err != nil {
		return ledger.Checked{}, err
	}
	if err := checkPayload(d.Payload); err != nil {
		return ledger.Checked{}, err
	}
	e := Event{Actor: d.Actor, Content: contentHash(d.Payload), ID: noPrevious[len("sha256:"):], Type: d.Type, Seed: d.Seed}
	if signed(d.Type) {
		e.Key = s.id
	}
	var scratch [1024]byte
	return ledger.Checked{Content: e.Content, At: len(e.opening(scratch[:0]))}, nil
}

// CheckHead verifies that a head was signed by this sealer's key and that its edge is what was signed. The head of an
// empty log is good.
func (s *Sealer) CheckHead(head ledger.Head) error {
	tree, err := newEdge(head)
	if err != nil {
		return err
	}
	if head.Size == 0 && len(head.Checkpoint) == 0 && head.Last == "" {
		return nil
	}
	// What this key signs again to the same bytes it has signed: Ed25519 draws nothing, and verifying costs a short process more.
	root := tree.root()
	if again, err := s.checkpoint(Checkpoint{s.public.name, head.Size, root}); err == nil && bytes.Equal(again, head.Checkpoint) {
		return nil
	}
	signed, err := s.public.OpenCheckpoint(head.Checkpoint)
	if err != nil {
		return err
	}
	if signed.Size != head.Size || signed.Root != root {
		return interlock.Errorf(interlock.CodeInvalid, "head",
			"the log's head says %d entries and does not match its signed checkpoint of %d", head.Size, signed.Size)
	}
	return nil
}

// Seal places drafts after head, in order: ids, hashes, chain, tree and one signed checkpoint for all of them. Each
// draft's Seed is the job seed of its run and sequences[i] its number in that run. Nothing is returned with an error, and
// a signature that can't be made is one: a log that can't be signed must not grow. The entries' bodies stand in room, which
// may be nil, where they fit into its capacity.
func (s *Sealer) Seal(head ledger.Head, drafts []ledger.Draft, sequences []int64,
	room []byte) ([]interlock.Entry, ledger.Head, error) {
	if len(drafts) == 0 || len(drafts) != len(sequences) {
		return nil, ledger.Head{}, errors.New("auditlog: nothing to seal, or no sequence for each draft")
	}
	tree, err := newEdge(head)
	if err != nil {
		return nil, ledger.Head{}, err
	}
	previous := head.Last
	if head.Size == 0 {
		previous = noPrevious
	}
	batch := room[:0]
	if size := batchSize(drafts); cap(batch) < size {
		batch = make([]byte, 0, size)
	}
	entries := make([]interlock.Entry, len(drafts))
	// So many leaves complete fewer than twice as many hashes, and those of the nodes that were half full before.
	hashes := make([]byte, 0, hashSize*(2*len(drafts)+len(tree.roots)))
	for i := range drafts {
		event, err := s.event(&drafts[i], sequences[i], previous)
		if err != nil {
			return nil, ledger.Head{}, err
		}
		// The leaf is hashed with RFC 6962's prefix byte in front, so it is written there once.
		start := len(batch) + 1
		batch = event.append(append(batch, 0))
		if len(batch)-start > MaxEntry {
			return nil, ledger.Head{}, fmt.Errorf("auditlog: an event of %d bytes is over the bound", len(batch)-start)
		}
		leaf := sha256.Sum256(batch[start-1:])
		index := tree.size // taken before add moves it: the order of operands and calls in one expression is the compiler's
		entries[i] = interlock.Entry{
			Index: index, ID: event.ID, Type: event.Type, Body: batch[start:len(batch):len(batch)],
		}
		from := len(hashes)
		hashes = tree.add(hashes, leaf)
		entries[i].Hashes = hashes[from:len(hashes):len(hashes)]
		previous = hashText(leaf)
	}
	next := ledger.Head{Size: tree.size, Last: previous, Edge: tree.bytes()}
	if next.Checkpoint, err = s.checkpoint(Checkpoint{Origin: s.public.name, Size: tree.size, Root: tree.root()}); err != nil {
		return nil, ledger.Head{}, err
	}
	entries[len(entries)-1].Checkpoint = next.Checkpoint
	return entries, next, nil
}

// batchSize is enough room for the drafts' events.
func batchSize(drafts []ledger.Draft) int {
	size := 0
	for i := range drafts {
		size += len(drafts[i].Payload) + 1024
	}
	return size
}

// event places one draft.
func (s *Sealer) event(d *ledger.Draft, sequence int64, previous string) (Event, error) {
	if sequence < 1 {
		return Event{}, fmt.Errorf("auditlog: %d is not a sequence index", sequence)
	}
	if err := checkDraft(d); err != nil {
		return Event{}, err
	}
	content := d.Checked.Content
	if content == "" {
		content = contentHash(d.Payload)
	}
	e := Event{
		Actor: d.Actor, Content: content, ID: EventID(d.Seed, sequence, d.Type), Type: d.Type,
		Seed: d.Seed, Payload: d.Payload, Previous: previous, Role: d.Role, Schema: Schema, Sequence: sequence,
		Snapshots: d.Snapshots, Trace: d.Trace, Recorded: d.Recorded, Seeded: seededAt(sequence),
	}
	if !signed(d.Type) {
		return e, nil
	}
	e.Key, e.Algorithm = s.id, SignatureAlgorithm
	sig, err := s.sign(signedText(&e))
	if err != nil {
		return Event{}, fmt.Errorf("auditlog: sign the event: %w", err)
	}
	e.Signature = encodeSignature(sig)
	return e, nil
}

// SignPrefix signs the head of the first entries of this log, for a copy that ends there. The caller has verified that the log
// begins with them.
func (s *Sealer) SignPrefix(c Checkpoint) ([]byte, error) {
	if c.Origin != s.public.name || c.Size < 1 {
		return nil, errors.New("auditlog: sign a head: it is not one of this log")
	}
	return s.checkpoint(c)
}

// checkpoint signs a checkpoint as a C2SP signed note.
func (s *Sealer) checkpoint(c Checkpoint) ([]byte, error) {
	text := c.append(nil)
	sig, err := s.sign(text)
	if err != nil {
		return nil, fmt.Errorf("auditlog: sign the checkpoint: %w", err)
	}
	if len(sig) != ed25519.SignatureSize {
		return nil, errors.New("auditlog: sign the checkpoint: the signer returned no signature")
	}
	hash := s.public.hash
	raw := append([]byte{byte(hash >> 24), byte(hash >> 16), byte(hash >> 8), byte(hash)}, sig...)
	var out bytes.Buffer
	out.Write(text)
	out.WriteString("\n\u2014 " + s.public.name + " " + base64.StdEncoding.EncodeToString(raw) + "\n")
	return out.Bytes(), nil
}
