package ruleset

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/contract"
)

// A Publication is one version of one sort of message that agents of a type put out: whatever they send under that name is as it says.
type Publication struct {
	Message string          `json:"message"`          // its name
	Version int             `json:"version"`          // from 1; of two the greater is the later
	Schema  json.RawMessage `json:"schema,omitempty"` // JSON Schema of its body
	Media   []string        `json:"media,omitempty"`  // the media types that it may have instead of a body: then it has no schema

	schema *contract.Schema
}

// An Acceptance is what agents of a type take in: what they are sent and no acceptance names does not reach them.
type Acceptance struct {
	Message  string          `json:"message"`
	From     []string        `json:"from,omitempty"`     // globs over the types of senders; any, if none is given
	Versions []int           `json:"versions,omitempty"` // any, if none is given
	Schema   json.RawMessage `json:"schema,omitempty"`   // JSON Schema: the receiver's own, with the ranges that it can deal with
	Media    []string        `json:"media,omitempty"`    // the media types that it may have instead of a body
	Bytes    int             `json:"bytes,omitempty"`    // that it has at most; 64 KiB, if none is given
	// what nobody can look into (pixels, how a document is shown) is received without a person's yes
	Unread bool `json:"unread,omitempty"`

	schema *contract.Schema
}

// The bounds of what types publish and accept.
const (
	maxMessages       = 100
	MaxMessageBytes   = 256 << 10 // of one message
	standardBytes     = 64 << 10
	maxMessageVersion = 1_000_000
)

// MediaJSON is the media type of a body.
const MediaJSON = "application/json"

// Contract is the schema of a publication; nil where it has none.
func (p *Publication) Contract() *contract.Schema { return p.schema }

// Contract is the schema of an acceptance; nil where it has none.
func (a *Acceptance) Contract() *contract.Schema { return a.schema }

// Most is how many bytes a message may have.
func (a *Acceptance) Most() int {
	if a.Bytes == 0 {
		return standardBytes
	}
	return a.Bytes
}

// Publishes finds the version of a message that a type publishes; of none in particular the latest.
func (t *Type) Publishes(message string, version int, media string) *Publication {
	var found *Publication
	for _, p := range t.Output {
		if p.Message != message || version > 0 && p.Version != version || !carries(p.Media, p.schema, media) {
			continue
		}
		if found == nil || p.Version > found.Version {
			found = p
		}
	}
	return found
}

// Accepts finds what a type says of a message; the first that fits counts.
func (t *Type) Accepts(message string, version int, from, media string) *Acceptance {
	for _, a := range t.Input {
		if a.Message == message && (len(a.Versions) == 0 || slices.Contains(a.Versions, version)) &&
			(len(a.From) == 0 || slices.ContainsFunc(a.From, func(g string) bool { return Glob(g, from) })) &&
			carries(a.Media, a.schema, media) {
			return a
		}
	}
	return nil
}

// carries reports whether what has a schema, or media types, may have a media type.
func carries(list []string, schema *contract.Schema, media string) bool {
	if schema != nil {
		return media == MediaJSON
	}
	return slices.Contains(list, media)
}

// messages checks what a type publishes and accepts, and compiles its schemas.
func (c *checker) messages(t *Type, at string) (err error) {
	if len(t.Output) > maxMessages || len(t.Input) > maxMessages {
		return c.doc.Errorf(at+"/publishes", "a type publishes and accepts at most %d messages", maxMessages)
	}
	seen := map[string]bool{}
	for i, p := range t.Output {
		here := fmt.Sprintf("%s/publishes/%d", at, i)
		if p == nil {
			return c.doc.Errorf(here, "this is empty; name a message, its version and its schema")
		}
		if p.Version < 1 || p.Version > maxMessageVersion {
			return c.doc.Errorf(here+"/version", "version is a number from 1 up")
		}
		name := fmt.Sprintf("%s@%d", p.Message, p.Version)
		if seen[name] {
			return c.doc.Errorf(here+"/version", "%.40s is published already; a version says one thing", name)
		}
		seen[name] = true
		if p.schema, err = c.carried(p.Message, p.Schema, p.Media, here); err != nil {
			return err
		}
	}
	for i, a := range t.Input {
		here := fmt.Sprintf("%s/accepts/%d", at, i)
		if a == nil {
			return c.doc.Errorf(here, "this is empty; name a message and its schema")
		}
		if a.Bytes < 0 || a.Bytes > MaxMessageBytes {
			return c.doc.Errorf(here+"/bytes", "bytes is from 1 to %d", MaxMessageBytes)
		}
		if slices.ContainsFunc(a.Versions, func(v int) bool { return v < 1 }) {
			return c.doc.Errorf(here+"/versions", "versions are numbers from 1 up")
		}
		if slices.Contains(a.From, "") {
			return c.doc.Errorf(here+"/from", "the glob is empty; remove it")
		}
		if a.schema, err = c.carried(a.Message, a.Schema, a.Media, here); err != nil {
			return err
		}
	}
	return nil
}

// carried checks what a message may be: a body with a schema, or something of other media types.
func (c *checker) carried(message string, schema json.RawMessage, media []string, at string) (*contract.Schema, error) {
	if !profileForm().MatchString(message) {
		return nil, c.doc.Errorf(at+"/message", "message must be letters, digits, dots, dashes and underscores, at most 64, e.g. invoice")
	}
	if (len(schema) == 0) == (len(media) == 0) {
		return nil, c.doc.Errorf(at+"/schema", "say a schema, for a body, or media, for anything else; not both")
	}
	for i, m := range media {
		if m == MediaJSON || m != strings.ToLower(m) || strings.Count(m, "/") != 1 || strings.ContainsAny(m, " ;*\t") || len(m) > 80 {
			return nil, c.doc.Errorf(fmt.Sprintf("%s/media/%d", at, i), "name one media type in small letters, e.g. image/png; JSON has a schema")
		}
	}
	if len(schema) == 0 {
		return nil, nil
	}
	compiled, err := contract.Compile(schema)
	if refused := (*interlock.Error)(nil); errors.As(err, &refused) {
		return nil, c.doc.Errorf(at+"/schema"+refused.Field, "%s", refused.Message)
	}
	return compiled, err
}
