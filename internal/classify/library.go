package classify

import (
	"bytes"
	"strconv"
	"sync"
)

// A Library is the rulesets of one document. They are compiled when the first text is classified, because most processes classify none.
// A nil Library has no rulesets.
type Library struct {
	document []byte
	all      func() (*Rulesets, error)
}

// NewLibrary returns the library of a document as JSON: rules/safety.yaml, or a snapshot of it.
func NewLibrary(document []byte) *Library {
	return &Library{document: document, all: sync.OnceValues(func() (*Rulesets, error) { return Parse(document) })}
}

// Rulesets are all of them, or why they can't be used: a snapshot's detectors may be others than this program has.
func (l *Library) Rulesets() (*Rulesets, error) { return l.all() }

// Named returns the ruleset of a name, or nil, under which everything is blocked.
func (l *Library) Named(name string) *Ruleset {
	if l == nil {
		return nil
	}
	all, err := l.all()
	if err != nil {
		return nil
	}
	return all.Named(name)
}

// Snapshot is the text that the rulesets can be made of again: the document, with the version of the detectors. It is nil where there
// are none.
func (l *Library) Snapshot() []byte {
	if l == nil {
		return nil
	}
	rest, object := bytes.CutPrefix(bytes.TrimSpace(l.document), []byte("{"))
	if !object {
		return nil
	}
	return append([]byte(`{"engine":`+strconv.Itoa(engine)+","), rest...)
}
