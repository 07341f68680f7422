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
	data, err := Marshal(v)
	if err != nil {
		return "", err
	}
	return DigestBytes(domain, data), nil
}

// DigestBytes is [Digest] over bytes that are canonical already.
func DigestBytes(domain string, canonical []byte) interlock.Digest {
	h := sha256.New()
	h.Write([]byte(domain))
	h.Write([]byte{'\n'})
	h.Write(canonical)
	var sum [sha256.Size]byte
	text := make([]byte, 0, len("sha256:")+2*sha256.Size)
	text = append(text, "sha256:"...)
	return interlock.Digest(hex.AppendEncode(text, h.Sum(sum[:0])))
}

const actionDomain = "interlock/action/v1"

// ActionDigest returns the digest of an action. It covers kind, tool, input, arguments and dir, and not the hint: the
// same action described in other words is the same action.
func ActionDigest(a interlock.Action) (interlock.Digest, error) {
	data, err := appendAction(make([]byte, 0, 128+len(a.Input)+len(a.Arguments)), a)
	if err != nil {
		return "", err
	}
	return DigestBytes(actionDomain, data), nil
}

// appendAction writes the canonical form by hand, members in order, because every decision needs it; a test holds it to
// what Marshal would write.
func appendAction(dst []byte, a interlock.Action) ([]byte, error) {
	dst = append(dst, `{"arguments":`...)
	if len(a.Arguments) == 0 {
		dst = append(dst, "null"...)
	} else {
		arguments, err := Marshal(a.Arguments)
		if err != nil {
			return nil, err
		}
		dst = append(dst, arguments...)
	}
	for _, member := range [...]struct{ name, value string }{
		{`,"dir":`, a.Dir}, {`,"input":`, a.Input}, {`,"kind":`, string(a.Kind)}, {`,"tool":`, a.Tool},
	} {
		var err error
		if dst, err = jsontext.AppendQuote(append(dst, member.name...), member.value); err != nil {
			return nil, explain(err)
		}
	}
	return append(dst, '}'), nil
}
