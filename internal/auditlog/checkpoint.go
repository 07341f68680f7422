package auditlog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"interlock"
)

// algorithmEd25519 is the signed-note type byte of an Ed25519 key.
const algorithmEd25519 = 1

// A Checkpoint is the signed head of a log: C2SP tlog-checkpoint text, a signed note whose first line is the origin.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   [32]byte
}

// append writes the checkpoint's text, which is what is signed.
func (c Checkpoint) append(dst []byte) []byte {
	dst = append(append(dst, c.Origin...), '\n')
	dst = append(strconv.AppendInt(dst, c.Size, 10), '\n')
	dst = base64.StdEncoding.AppendEncode(dst, c.Root[:])
	return append(dst, '\n')
}

// parseCheckpoint reads a checkpoint's text. Extension lines are refused: Interlock writes none, so one would be a change.
func parseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] == "" || lines[3] != "" {
		return Checkpoint{}, errors.New("a checkpoint has three lines: origin, size and root")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, errors.New("the checkpoint's size is not a number")
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != hashSize {
		return Checkpoint{}, errors.New("the checkpoint's root is not a hash")
	}
	c := Checkpoint{Origin: lines[0], Size: size}
	copy(c.Root[:], root)
	return c, nil
}

// unverified returns a signed checkpoint's content without looking at its signature. Only for comparing it with a tree
// whose newest checkpoint is verified.
func unverified(signed []byte) (Checkpoint, error) {
	text, _, found := strings.Cut(string(signed), "\n\n")
	if !found {
		return Checkpoint{}, errors.New("the checkpoint is not a signed note")
	}
	return parseCheckpoint(text + "\n")
}

// A PublicKey checks a log's checkpoints and the signatures of its events. Its text form is a signed-note verifier key:
// origin, key hash and key.
type PublicKey struct {
	text string
	name string
	hash uint32
	key  ed25519.PublicKey
}

// ParsePublicKey reads a verifier key, as it is written in a log's public key file.
func ParsePublicKey(text string) (*PublicKey, error) {
	text = strings.TrimSpace(text)
	parsed, err := note.NewVerifier(text)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "this is not a log's public key (a line of name+hash+key)")
	}
	_, encoded, _ := strings.Cut(text[len(parsed.Name())+1:], "+")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != algorithmEd25519 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "the public key is not an Ed25519 key")
	}
	return &PublicKey{text: text, name: parsed.Name(), hash: parsed.KeyHash(), key: raw[1:]}, nil
}

// String returns the verifier key's text form.
func (k *PublicKey) String() string { return k.text }

// Origin returns the name of the log the key signs: the first line of its checkpoints.
func (k *PublicKey) Origin() string { return k.name }

// ID names the key in events: origin, plus sign and key hash.
func (k *PublicKey) ID() string { return keyID(k.name, k.hash) }

// Name, KeyHash and Verify make a PublicKey a [note.Verifier].
func (k *PublicKey) Name() string { return k.name }

// KeyHash returns the signed-note key hash.
func (k *PublicKey) KeyHash() uint32 { return k.hash }

// Verify reports whether sig is the key's signature over text.
func (k *PublicKey) Verify(text, sig []byte) bool {
	return len(sig) == ed25519.SignatureSize && ed25519.Verify(k.key, text, sig)
}

// OpenCheckpoint verifies a signed checkpoint with the key and returns its content. It is an error if the checkpoint is
// of another log, not signed by this key, or altered.
func (k *PublicKey) OpenCheckpoint(signed []byte) (Checkpoint, error) {
	opened, err := note.Open(signed, note.VerifierList(k))
	if err != nil {
		var unknown *note.UnverifiedNoteError
		if errors.As(err, &unknown) {
			return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "checkpoint",
				"the checkpoint is not signed by the key %s", k.ID())
		}
		return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "checkpoint",
			"the checkpoint's signature does not hold: it is damaged or was altered")
	}
	c, err := parseCheckpoint(opened.Text)
	if err != nil {
		return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "checkpoint", "%s", err)
	}
	if c.Origin != k.name {
		return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "checkpoint",
			"the checkpoint is of the log %.80q, not of %q", c.Origin, k.name)
	}
	return c, nil
}

// verifyEvent checks an event's own signature.
func (k *PublicKey) verifyEvent(e *Event) error {
	if e.Algorithm != SignatureAlgorithm || e.Key == "" {
		return errors.New("it must carry its own signature and does not")
	}
	if e.Key != k.ID() {
		return fmt.Errorf("it was signed by the key %.80q, not by %q", e.Key, k.ID())
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(e.Signature)
	if err != nil || !k.Verify(signedText(e), sig) {
		return errors.New("its own signature does not hold")
	}
	return nil
}

func keyID(name string, hash uint32) string { return fmt.Sprintf("%s+%08x", name, hash) }

// keyHash is the signed-note key hash: the first four bytes of SHA-256(name, newline, type byte, key).
func keyHash(name string, key ed25519.PublicKey) uint32 {
	text := append([]byte(name), '\n', algorithmEd25519)
	sum := sha256.Sum256(append(text, key...))
	return binary.BigEndian.Uint32(sum[:])
}

// GenerateKey makes a new log identity: a private key for the signer and the public key for everybody else, both one line
// of text. The log's origin is "interlock/" and 16 random hexadecimal digits. The private key's file must be readable by
// its owner alone.
func GenerateKey(random io.Reader) (private, public string, err error) {
	var id [8]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", "", fmt.Errorf("auditlog: make a log id: %w", err)
	}
	private, public, err = note.GenerateKey(random, "interlock/"+hex.EncodeToString(id[:]))
	if err != nil {
		return "", "", fmt.Errorf("auditlog: make a key: %w", err)
	}
	return private, public, nil
}
