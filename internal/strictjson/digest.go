package strictjson

import (
	"crypto/sha256"
	"encoding/hex"

	"interlock"
)

// Digest returns the SHA-256 of domain, a line feed and the canonical form of v. The domain keeps a digest of one sort of
// value from ever standing for another sort; it is a constant without line feeds, e.g. "interlock/action/v1".
func Digest(domain string, v any) (interlock.Digest, error) {
	data, err := Marshal(v)
	if err != nil {
		return "", err
	}
	return DigestBytes(domain, data), nil
}

// DigestBytes is [Digest] over bytes that are canonical already.
func DigestBytes(domain string, canonical []byte) interlock.Digest {
	var room [64]byte // a domain fits; the text is hashed where it stands, because rulesets are long
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

const actionDomain = "interlock/action/v1"

// ActionDigest returns the digest of an action. It covers kind, tool, input, arguments and dir, and not the hint: the
// same action described in other words is the same action.
func ActionDigest(a interlock.Action) (interlock.Digest, error) {
	w := borrow()
	defer w.giveBack()
	w.Bytes = append(append(w.Bytes, actionDomain...), '\n')
	// The canonical form by hand, members in order, because every decision needs it; a test holds it to what Marshal would
	// write.
	w.Open()
	w.Name("arguments")
	if len(a.Arguments) == 0 {
		w.Bytes = append(w.Bytes, "null"...)
	} else {
		w.Raw(a.Arguments)
	}
	w.Name("dir")
	w.String(a.Dir)
	w.Name("input")
	w.String(a.Input)
	w.Name("kind")
	w.String(string(a.Kind))
	w.Name("tool")
	w.String(a.Tool)
	w.Close()
	if w.GaveUp {
		var arguments any
		if len(a.Arguments) > 0 {
			arguments = a.Arguments
		}
		return Digest(actionDomain, map[string]any{"arguments": arguments, "dir": a.Dir, "input": a.Input,
			"kind": a.Kind, "tool": a.Tool})
	}
	return digestText(sha256.Sum256(w.Bytes)), nil
}
