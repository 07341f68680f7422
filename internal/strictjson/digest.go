package strictjson

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"interlock"
)

// Digest returns the SHA-256 of domain, a line feed and the canonical form of v. The domain keeps a digest of one sort of
// value from ever standing for another sort; it is a constant without line feeds, e.g. "interlock/action/v1".
func Digest(domain string, v any) (interlock.Digest, error) {
	w := borrow()
	defer w.giveBack()
	w.word(domain)
	w.word("\n")
	if w.any(v); w.gaveUp {
		data, err := general(v)
		if err != nil {
			return "", err
		}
		return DigestBytes(domain, data), nil
	}
	return digestText(sha256.Sum256(w.bytes)), nil
}

// DigestBytes is [Digest] over bytes that are canonical already.
func DigestBytes(domain string, canonical []byte) interlock.Digest {
	var room [64]byte // a domain fits; the text is hashed where it is, because rulesets are long
	h := sha256.New()
	h.Write(append(append(room[:0], domain...), '\n')) // a hash takes everything
	h.Write(canonical)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return digestText(sum)
}

// digestText renders a hash the way every digest is rendered.
func digestText(sum [sha256.Size]byte) interlock.Digest {
	var text [len("sha256:") + 2*sha256.Size]byte
	copy(text[:], "sha256:")
	hex.Encode(text[len("sha256:"):], sum[:])
	return interlock.Digest(text[:])
}

// SnapshotDigest returns the digest of a snapshot.
func SnapshotDigest(s *interlock.Snapshot) (interlock.Digest, error) {
	return Digest("interlock/snapshot/v1", s)
}

// ActionDigest returns the digest of an action. It covers kind, tool, input, arguments and dir, and not the hint: the
// same action described in other words is the same action.
func ActionDigest(a interlock.Action) (interlock.Digest, error) {
	if len(a.Arguments) == 0 {
		a.Arguments = nil // which is written as null
	}
	return Digest("interlock/action/v1", &struct {
		Arguments jsontext.Value `json:"arguments"`
		Dir       string         `json:"dir"`
		Input     string         `json:"input"`
		Kind      interlock.Kind `json:"kind"`
		Tool      string         `json:"tool"`
	}{jsontext.Value(a.Arguments), a.Dir, a.Input, a.Kind, a.Tool})
}
