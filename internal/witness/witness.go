// Package witness holds what somebody beside Interlock's server can check of it without its store: that an answer is the server's
// own, and that the log it speaks for still begins with what was seen of it before.
//
// Hooks link it, so it must stay cheap to link and to run; package auditlog is the log itself. Start with Answer and Key.
package witness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
)

// The headers of a request that wants a signed answer, and of that answer.
const (
	NonceHeader     = "Interlock-Nonce"     // of the request: chosen by the asker, new each time
	KeptHeader      = "Interlock-Kept"      // of the request: the size of the log that the asker has seen, if any
	SignatureHeader = "Interlock-Signature" // of the answer: Key.Sign of it
	ProofHeader     = "Interlock-Proof"     // of the answer: that its checkpoint goes on from the size that was seen
)

// MaxNonce is how long a nonce may be, in bytes.
const MaxNonce = 64

// An Answer is what a server signs when it answers: what it was asked, by which nonce, and what it said. So no answer can be made
// by who has not the key, nor be kept for another question or for the same one asked again.
type Answer struct {
	Nonce  string
	Method string
	Path   string
	Asked  [32]byte // SHA-256 of the request's body
	Status int
	Reply  [32]byte // SHA-256 of the answer's body
}

// answerHeader begins everything that is signed as an answer.
const answerHeader = "interlock answer v1\n"

// text is what is signed. No part of it but the last can hold a line break: a request line has none.
func (a *Answer) text() []byte {
	text := make([]byte, 0, 256)
	text = append(text, answerHeader...)
	text = append(text, a.Nonce...)
	text = append(append(text, '\n'), a.Method...)
	text = append(append(text, ' '), a.Path...)
	text = hex.AppendEncode(append(text, '\n'), a.Asked[:])
	text = strconv.AppendInt(append(text, '\n'), int64(a.Status), 10)
	text = hex.AppendEncode(append(text, '\n'), a.Reply[:])
	return append(text, '\n')
}

// A Key is what a server and its hooks have in common: a secret derived from the private key of the home's log, which nobody has who
// can't read that, and under which a checkpoint or an event can't be signed. A signature of the log's key would say the same and
// costs a process that lives for one call twenty times as much to check. The zero Key signs nothing and accepts nothing.
type Key struct {
	name   string
	secret []byte
}

// ParseKey derives the key from the text of a log's private key: "PRIVATE", "KEY", name, hash and key, joined by plus signs.
func ParseKey(private string) (Key, error) {
	fields := strings.SplitN(strings.TrimSpace(private), "+", 5)
	if len(fields) != 5 || fields[0] != "PRIVATE" || fields[1] != "KEY" || fields[2] == "" {
		return Key{}, errors.New("this is not a log's private key")
	}
	raw, err := base64.StdEncoding.DecodeString(fields[4])
	if err != nil || len(raw) != 1+32 {
		return Key{}, errors.New("the log's private key can't be read")
	}
	return Key{name: fields[2], secret: keyed(raw[1:], "interlock answers v1\n"+fields[2])}, nil
}

// Origin is the name of the log whose key it was derived from; empty for no key.
func (k Key) Origin() string { return k.name }

// Pin names the key without saying it.
func (k Key) Pin() string {
	if len(k.secret) == 0 {
		return ""
	}
	return hex.EncodeToString(keyed(k.secret, "pin"))
}

// Nonce makes a nonce that nobody foretells who has not the key, of what is new each time.
func (k Key) Nonce(fresh string) string {
	return hex.EncodeToString(keyed(k.secret, "nonce\n"+fresh)[:16])
}

// Sign says that an answer is the server's; empty for no key.
func (k Key) Sign(a *Answer) string {
	if len(k.secret) == 0 {
		return ""
	}
	return hex.EncodeToString(keyed(k.secret, string(a.text())))
}

// Signed reports whether a holder of the key gave an answer.
func (k Key) Signed(a *Answer, signature string) bool {
	return len(k.secret) > 0 && hmac.Equal([]byte(k.Sign(a)), []byte(signature))
}

func keyed(secret []byte, text string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
