package cosign

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
	"time"
	"unicode"

	"golang.org/x/mod/sumdb/note"
)

// algorithm is the type byte of Ed25519 cosignatures, which keeps their keys apart from those that sign notes.
const algorithm = 4

// A Key signs cosignatures. The zero Key signs nothing.
type Key struct {
	name    string
	hash    uint32
	private ed25519.PrivateKey
}

// GenerateKey makes a witness's key: the private one and the one for everybody else, both one line of text.
func GenerateKey(random io.Reader, name string) (private, public string, err error) {
	if !validName(name) {
		return "", "", errors.New("the name of a witness is text without spaces and plus signs, such as witness.example/w1")
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return "", "", fmt.Errorf("reading randomness: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	hash := keyHash(name, key.Public().(ed25519.PublicKey))
	private = fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", name, hash, base64.StdEncoding.EncodeToString(append([]byte{algorithm}, seed...)))
	return private, verifierText(name, key.Public().(ed25519.PublicKey)), nil
}

func verifierText(name string, key ed25519.PublicKey) string {
	return fmt.Sprintf("%s+%08x+%s", name, keyHash(name, key), base64.StdEncoding.EncodeToString(append([]byte{algorithm}, key...)))
}

// keyHash is the first four bytes of SHA-256(name, newline, type byte, key).
func keyHash(name string, key ed25519.PublicKey) uint32 {
	sum := sha256.Sum256(append(append([]byte(name), '\n', algorithm), key...))
	return binary.BigEndian.Uint32(sum[:])
}

func validName(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '+' || r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// keyParts reads name and key of a public key's text.
func keyParts(text string) (name string, raw []byte, err error) {
	fields := strings.SplitN(text, "+", 3)
	if len(fields) != 3 || !validName(fields[0]) {
		return "", nil, errors.New("this is not a witness's key (a line of name+hash+key)")
	}
	hash, err := hex.DecodeString(fields[1])
	raw, bad := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(hash) != 4 || bad != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != algorithm {
		return "", nil, errors.New("the witness's key is not one for Ed25519 cosignatures (its type is 4)")
	}
	public := ed25519.PublicKey(raw[1:])
	if binary.BigEndian.Uint32(hash) != keyHash(fields[0], public) {
		return "", nil, errors.New("the witness's key is not the one that its hash names")
	}
	return fields[0], raw[1:], nil
}

// ParseKey reads a private key, as GenerateKey wrote it.
func ParseKey(text string) (Key, error) {
	rest, private := strings.CutPrefix(strings.TrimSpace(text), "PRIVATE+KEY+")
	fields := strings.SplitN(rest, "+", 3)
	if !private || len(fields) != 3 || !validName(fields[0]) {
		return Key{}, errors.New("this is not a witness's private key")
	}
	raw, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(raw) != 1+ed25519.SeedSize || raw[0] != algorithm {
		return Key{}, errors.New("the witness's private key can't be read")
	}
	key := Key{name: fields[0], private: ed25519.NewKeyFromSeed(raw[1:])}
	key.hash = keyHash(key.name, key.private.Public().(ed25519.PublicKey))
	if fmt.Sprintf("%08x", key.hash) != fields[1] {
		return Key{}, errors.New("the witness's private key is not the one that its hash names")
	}
	return key, nil
}

// Public is the key for everybody else.
func (k Key) Public() string { return verifierText(k.name, k.private.Public().(ed25519.PublicKey)) }

// Cosign signs a checkpoint's text, as seen at a time, and returns the line that goes below the note.
func (k Key) Cosign(text string, at time.Time) string {
	seconds := at.Unix()
	sig := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, k.hash), uint64(seconds))
	sig = append(sig, ed25519.Sign(k.private, signed(text, seconds))...)
	return "\u2014 " + k.name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// signed is what a cosignature signs.
func signed(text string, seconds int64) []byte {
	return []byte("cosignature/v1\ntime " + strconv.FormatInt(seconds, 10) + "\n" + text)
}

// A Verifier checks the cosignatures of one witness. It is a [note.Verifier].
type Verifier struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// ParseVerifier reads a witness's public key.
func ParseVerifier(text string) (*Verifier, error) {
	name, raw, err := keyParts(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	return &Verifier{name: name, hash: keyHash(name, raw), key: raw}, nil
}

// Name returns the witness's name.
func (v *Verifier) Name() string { return v.name }

// KeyHash returns the hash by which signature lines name the key.
func (v *Verifier) KeyHash() uint32 { return v.hash }

// Verify reports whether sig is a cosignature of a note's text.
func (v *Verifier) Verify(text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(sig)
	return seconds < 1<<63 && ed25519.Verify(v.key, signed(string(text), int64(seconds)), sig[8:])
}

// When is when a cosigned note was cosigned; false where this witness has not.
func (v *Verifier) When(cosigned []byte) (time.Time, bool) {
	opened, err := note.Open(cosigned, note.VerifierList(v))
	if err != nil {
		return time.Time{}, false
	}
	raw, err := base64.StdEncoding.DecodeString(opened.Sigs[0].Base64)
	if err != nil || len(raw) < 12 {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0), true
}
