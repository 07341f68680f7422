package auditlog

import (
	"maps"
	"slices"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// SealedIntro is what everything sealed begins with: the format is that of age.
const SealedIntro = "age-encryption.org/v1\n"

// InputsSchema is the value of "schema" in what is recorded beside a decision in this version of the format.
const InputsSchema = "interlock.inputs/v1"

// Bounds of what is recorded beside an event.
const (
	MaxInputs = 4 << 20 // bytes of one decision's inputs, before they are packed
	MaxBlob   = 8 << 20 // bytes of one blob, likewise
)

// Inputs are what one decision was made from, but for the ruleset and the time, both named by its event, so that it can be
// made again. Nothing in it is redacted or cut: where that would have changed anything, it is kept sealed.
//
// What most decisions share is in [Base], and the text of each file is in a blob of its own.
type Inputs struct {
	Schema  string              `json:"schema"`
	Base    interlock.Digest    `json:"base"` // names a blob: a [Base]
	Action  interlock.Action    `json:"action"`
	Impacts []interlock.Impact  `json:"impacts"` // the analysis, with the two below
	Texts   []AnalysedText      `json:"texts,omitempty"`
	Spoken  []string            `json:"spoken,omitempty"`
	Moving  Moving              `json:"moving,omitzero"`
	Limits  []interlock.Finding `json:"limits,omitempty"` // what limits objected
	// each row of a limit as it was read
	Limited []Limited `json:"limited,omitempty"`
	// the request that answered, as the decision read it
	Approval *interlock.ApprovalRequest `json:"approval,omitempty"`
}

// A Limited is what a decision found of one row of a limit: as far as was known when it was let through, or as the store's own
// transaction met it, where there was no room.
type Limited struct {
	interlock.Taken
	Room int64     `json:"room"`
	Used int64     `json:"used"`
	Met  bool      `json:"met,omitempty"` // there was no room
	Back time.Time `json:"back,omitzero"` // when there will be, of what was met and comes back with time
}

// An AnalysedText is a text that the analysis found the action to execute.
type AnalysedText struct {
	Kind  interlock.Kind `json:"kind"`
	Value string         `json:"value"`
}

// A Base is what many decisions were made from alike: the program and a snapshot without what moves from one action to the next.
type Base struct {
	Schema   string             `json:"schema"`
	Program  string             `json:"program"`            // its version
	Analyser string             `json:"analyser"`           // names code and knowledge of the analysis: equal ones read an action alike
	Manifest interlock.Digest   `json:"manifest,omitempty"` // names a blob: the snapshots in force; none in records of before
	Registry interlock.Digest   `json:"registry,omitempty"` // likewise: who is known, see [Chain]; none where nothing was recorded of it
	Memory   interlock.Digest   `json:"memory,omitempty"`   // and what agents keep as stable facts
	Snapshot interlock.Snapshot `json:"snapshot"`
	Personal bool               `json:"personal_redacted,omitempty"` // what was recorded is without personal data, see package classify
}

// Moving is the part of a snapshot that moves from one action to the next. A member that is not set is as in the base, where it
// is not set either.
type Moving struct {
	Recent      []interlock.PastAction      `json:"recent,omitempty"`
	Taken       bool                        `json:"taken,omitempty"` // the snapshot holds the time
	Block       string                      `json:"block,omitempty"`
	Loop        *interlock.Loop             `json:"loop,omitempty"`
	Upstream    *interlock.Upstream         `json:"upstream,omitempty"`
	Failed      *interlock.Failures         `json:"failed,omitempty"`
	Origin      *interlock.Origin           `json:"origin,omitempty"`
	Pin         *interlock.Pin              `json:"pin,omitempty"`
	Run         *interlock.RunBasis         `json:"run,omitempty"`
	Judgments   []interlock.Judgment        `json:"judgments,omitempty"` // so that nothing needs the model that gave them
	Authors     []interlock.RunHolder       `json:"authors,omitempty"`
	Links       map[string]string           `json:"links,omitempty"`
	Scripts     map[string]interlock.Digest `json:"scripts,omitempty"` // names blobs: the files' texts
	Work        map[string]interlock.Work   `json:"work,omitempty"`
	Written     []string                    `json:"written,omitempty"`
	Fetched     []string                    `json:"fetched,omitempty"`
	Annotations *interlock.Annotations      `json:"annotations,omitempty"`
}

// Text is the canonical text of the inputs, which their digest is over.
func (i *Inputs) Text() ([]byte, error) { return strictjson.Marshal(i) }

// Grown is the growing snapshot of a name that a decision was made under; empty: none.
func (b *Base) Grown(name string) interlock.Digest {
	switch name {
	case SnapshotRegistry:
		return b.Registry
	case SnapshotMemory:
		return b.Memory
	}
	return ""
}

// Text is the canonical text of the base, which its digest is over.
func (b *Base) Text() ([]byte, error) { return strictjson.Marshal(b) }

// SameBase reports whether what does not move of two snapshots has the same text. It may say no of such as do: of what few have it does
// not look at.
func SameBase(s, o *interlock.Snapshot) bool {
	few := func(s *interlock.Snapshot) bool { return len(s.Danger)+len(s.Grants)+len(s.Suppressions) > 0 }
	same := func(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }
	a, c := &s.Agent, &o.Agent
	return !few(s) && !few(o) && s.Version == o.Version && s.Mode == o.Mode && s.Profile == o.Profile && s.Attended == o.Attended &&
		s.Sandboxed == o.Sandboxed && a.ID == c.ID && a.Type == c.Type && a.Principal == c.Principal && a.Trust == c.Trust &&
		a.Until == c.Until && same(a.Allow, c.Allow) && a.Observer == c.Observer && a.TokenHash == c.TokenHash &&
		a.Module == c.Module &&
		a.Created == c.Created && a.Revoked == c.Revoked && s.View.Home == o.View.Home && s.View.Workspace == o.View.Workspace &&
		s.View.User == o.View.User && same(s.View.Self, o.View.Self) && same(s.View.Endpoints, o.View.Endpoints) &&
		same(s.View.Production, o.View.Production) && same(s.View.Staging, o.View.Staging)
}

// Moves reports whether a snapshot has anything that moves, and so more than its base.
func Moves(s *interlock.Snapshot) bool {
	v := &s.View
	return len(s.Recent)+len(s.Judgments)+len(s.Authors) > 0 || s.Recent != nil || !s.Taken.IsZero() || s.Block != "" || s.Loop != nil ||
		s.Upstream != nil || s.Failed != nil || s.Origin != nil || s.Pin != nil || s.Run != nil || v.Links != nil || v.Scripts != nil ||
		v.Work != nil || v.Written != nil || v.Fetched != nil || v.Annotations != nil
}

// MovingOf is what moves of a snapshot; [Still] is the rest, which is the base's. Texts of files are named by digest.
func MovingOf(s *interlock.Snapshot) Moving {
	m := Moving{Recent: s.Recent, Taken: !s.Taken.IsZero(), Block: s.Block, Loop: s.Loop, Upstream: s.Upstream,
		Failed: s.Failed, Origin: s.Origin, Pin: s.Pin, Run: s.Run, Judgments: s.Judgments,
		Authors: s.Authors, Links: s.View.Links, Work: s.View.Work, Written: s.View.Written,
		Fetched: s.View.Fetched, Annotations: s.View.Annotations}
	if len(s.View.Scripts) > 0 {
		m.Scripts = make(map[string]interlock.Digest, len(s.View.Scripts))
		for name, text := range s.View.Scripts { // order-independent: fills a map
			m.Scripts[name] = BlobDigest([]byte(text))
		}
	}
	return m
}

// Still is a snapshot without what moves.
func Still(s interlock.Snapshot) interlock.Snapshot {
	s.Recent, s.Taken, s.Block, s.Loop, s.Upstream = nil, time.Time{}, "", nil, nil
	s.Failed, s.Origin, s.Pin, s.Run, s.Judgments, s.Authors = nil, nil, nil, nil, nil, nil
	s.View.Links, s.View.Scripts, s.View.Work, s.View.Written, s.View.Fetched, s.View.Annotations = nil, nil, nil, nil, nil, nil
	return s
}

// Join undoes [MovingOf] and [Still]. at is when the decision was made; texts returns the text of a file by the digest that names it.
func Join(base interlock.Snapshot, m Moving, at time.Time,
	texts func(interlock.Digest) (string, error)) (interlock.Snapshot, error) {
	s := base
	s.Recent, s.Block, s.Loop, s.Upstream = m.Recent, m.Block, m.Loop, m.Upstream
	s.Failed, s.Origin, s.Pin, s.Run, s.Judgments, s.Authors = m.Failed, m.Origin, m.Pin, m.Run, m.Judgments, m.Authors
	s.View.Links, s.View.Work, s.View.Written, s.View.Annotations = m.Links, m.Work, m.Written, m.Annotations
	s.View.Fetched = m.Fetched
	if m.Taken {
		s.Taken = at
	}
	if len(m.Scripts) == 0 {
		return s, nil
	}
	s.View.Scripts = make(map[string]string, len(m.Scripts))
	for _, name := range slices.Sorted(maps.Keys(m.Scripts)) {
		text, err := texts(m.Scripts[name])
		if err != nil {
			return s, err
		}
		s.View.Scripts[name] = text
	}
	return s, nil
}

const (
	inputsDomain = "interlock/inputs/v1"
	blobDomain   = "interlock/blob/v1"
)

// InputsDigest names a decision's inputs by their canonical text.
func InputsDigest(text []byte) interlock.Digest { return strictjson.DigestBytes(inputsDomain, text) }

// BlobDigest names a blob by its bytes.
func BlobDigest(text []byte) interlock.Digest { return strictjson.DigestBytes(blobDomain, text) }

// RedactDecision returns a decision as it may be recorded. Every target is looked at, whatever the action's own text showed: the
// analysis puts quoted pieces together and decodes, so a secret may come to light only here.
func RedactDecision(d interlock.Decision, redact func(string) (string, []string)) interlock.Decision {
	var impacts []interlock.Impact // a copy, made when there is something to change
	for n, i := range d.Impacts {
		target, inTarget := redact(i.Target)
		via, inVia := redact(i.Via)
		if len(inTarget) == 0 && len(inVia) == 0 {
			continue
		}
		if impacts == nil {
			impacts = append(impacts, d.Impacts...)
		}
		impacts[n].Target, impacts[n].Via = target, via
	}
	if impacts != nil {
		d.Impacts = impacts
	}
	return d
}

// DecisionTexts are the forms in which a decision, already redacted, may stand in an event: whole, and cut ever harder.
func DecisionTexts(d interlock.Decision, visit func(text []byte) (found bool)) error {
	for _, room := range rooms {
		c := cutter{room: room}
		cut := c.decision(d)
		text, err := strictjson.Marshal(&cut)
		if err != nil {
			return err
		}
		if visit(text) {
			return nil
		}
	}
	return nil
}
