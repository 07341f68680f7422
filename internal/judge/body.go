package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// A body is what is sent, but for the question: role, ground rules, parameters and schema are the same for every question, so that they
// are written, and the beginning of their digest is made, once.
type body struct {
	head, tail string
	digest     hash.Hash // has taken its domain and the head in, and is only copied
}

// place marks where the question is to be. NUL is in no text that is written by hand, and is written as six characters.
const place = "\x00question\x00"

// newBody writes a request but for its question.
func newBody(c Config, f form, prefix string) (body, error) {
	text, err := encoded(f.request(c, prefix, place))
	if err != nil {
		return body{}, err
	}
	mark, err := encoded(place)
	if err != nil {
		return body{}, err
	}
	head, tail, found := strings.Cut(string(text), string(mark))
	if !found || strings.Contains(tail, string(mark)) {
		return body{}, interlock.Errorf(interlock.CodeInvalid, "rules", "the ground rules hold what stands for the question")
	}
	b := body{head: head, tail: tail, digest: sha256.New()}
	_, err = io.WriteString(b.digest, promptDomain+"\n"+head)
	return b, err
}

// with is the request with a question.
func (b *body) with(question string) ([]byte, error) {
	text, err := encoded(question)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(b.head)+len(text)+len(b.tail))
	return append(append(append(out, b.head...), text...), b.tail...), nil
}

// digestOf is the digest of a request that [body.with] has written, as strictjson.DigestBytes makes it.
func (b *body) digestOf(request []byte) interlock.Digest {
	if begun, can := b.digest.(hash.Cloner); can {
		if h, err := begun.Clone(); err == nil {
			_, _ = h.Write(request[len(b.head):]) // a hash takes everything
			return interlock.Digest("sha256:" + hex.EncodeToString(h.Sum(nil)))
		}
	}
	return strictjson.DigestBytes(promptDomain, request)
}

// encoded writes a value as JSON: not canonical, because a model held to a schema answers in the schema's order.
func encoded(v any) ([]byte, error) {
	var text bytes.Buffer
	writer := json.NewEncoder(&text)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(v); err != nil {
		return nil, errors.New("the question can't be written as JSON")
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
