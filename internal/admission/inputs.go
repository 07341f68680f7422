package admission

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Recorder says how what decisions were made from is kept beside their events.
type Recorder struct {
	Program  string // version of the program
	Analyser string // names the code that analysed: equal names read an action alike
	// seals what holds a secret, for whoever holds the key; nil: such inputs are not kept, and their decision can't be made again
	Seal func(text []byte) ([]byte, error)
	// the text of the ruleset in force, from which it can be made again; nil: it is not kept
	Ruleset func(own map[string][]byte) ([]byte, error)
	Off     bool // nothing is kept, as where decisions are only tried
	// what the settings say of how is decided, beside mode and profile; nil: no snapshots are declared
	Governance map[string]string
}

// keepInputs adds to a change what its decision was made from, and names it in the event. The decision's own text stands in the
// event; what many decisions share is stored once.
func (a *Admission) keepInputs(change *ledger.Change, draft *ledger.Draft, manifest interlock.Digest, raw, shown interlock.Action,
	made *evaluation, recorded interlock.Decision) error {
	if a.config.Record.Off {
		return nil
	}
	still, moving := auditlog.Split(made.snapshot)
	base, err := a.blobOf(auditlog.Base{Schema: auditlog.InputsSchema, Program: a.config.Record.Program,
		Analyser: a.config.Record.Analyser, Manifest: manifest, Snapshot: still})
	if err != nil {
		return err
	}
	inputs := auditlog.Inputs{Schema: auditlog.InputsSchema, Base: base.Digest, Action: raw, Impacts: made.analysis.Impacts,
		Spoken: made.analysis.Spoken, Moving: moving, Limits: made.limits, Limited: made.limited}
	for _, t := range made.analysis.Texts {
		inputs.Texts = append(inputs.Texts, auditlog.AnalysedText(t))
	}
	for n := range made.approvals {
		if made.approvals[n].ID == made.Approval && made.Approval != "" {
			inputs.Approval = &made.approvals[n]
		}
	}
	text, err := inputs.Text()
	if err != nil {
		return fmt.Errorf("encoding what the decision was made from: %w", err)
	}
	draft.Snapshots["inputs"] = string(auditlog.InputsDigest(text))
	change.Blobs = append(change.Blobs, base)
	secret := a.revealed(&inputs) || bytes.HasPrefix(text, []byte(auditlog.SealedIntro)) || !sameAction(raw, shown) ||
		!sameTargets(made.Impacts, recorded.Impacts)
	draft.Inputs, err = a.kept(text, secret)
	if err != nil {
		return err
	}
	for _, script := range made.snapshot.View.Scripts { // any order: the store keeps a set
		blob := ledger.Blob{Digest: auditlog.BlobDigest([]byte(script)), Text: []byte(script)}
		if blob.Text, err = a.kept(blob.Text, a.secretive(blob.Text)); err != nil {
			return err
		}
		if len(blob.Text) > 0 {
			change.Blobs = append(change.Blobs, blob)
		}
	}
	return nil
}

// kept is a text as it may be stored: sealed where it holds a secret, and not at all where nobody can seal it.
func (a *Admission) kept(text []byte, secret bool) ([]byte, error) {
	if !secret {
		return text, nil
	}
	if a.config.Record.Seal == nil {
		return nil, nil
	}
	sealed, err := a.config.Record.Seal(text)
	if err != nil {
		return nil, fmt.Errorf("sealing what the decision was made from: %w", err)
	}
	return sealed, nil
}

// revealed reports whether the analysis has put together, or read elsewhere, a secret that the action's own text does
// not show: that is looked at when the action is recorded.
func (a *Admission) revealed(inputs *auditlog.Inputs) bool {
	for _, t := range inputs.Texts {
		if !strings.Contains(inputs.Action.Input, t.Value) && a.secretive([]byte(t.Value)) {
			return true
		}
	}
	for _, text := range inputs.Spoken {
		if a.secretive([]byte(text)) {
			return true
		}
	}
	for name, to := range inputs.Moving.Links { // any order: one is enough
		if a.secretive([]byte(name)) || a.secretive([]byte(to)) {
			return true
		}
	}
	return false
}

// secretive reports whether a text holds what may not be stored as it stands.
func (a *Admission) secretive(text []byte) bool {
	_, kinds := a.config.Redact(string(text))
	return len(kinds) > 0
}

// bases are those that decisions were made from last, by agent, with the blobs that hold them: most are as the one before.
type bases [64]atomic.Pointer[encodedBase]

type encodedBase struct {
	base auditlog.Base
	blob ledger.Blob
}

func (a *Admission) blobOf(base auditlog.Base) (ledger.Blob, error) {
	last := &a.bases[maphash.String(a.executions.seed, base.Snapshot.Agent.ID)%uint64(len(a.bases))]
	if was := last.Load(); was != nil && was.base.Equal(&base) {
		return was.blob, nil
	}
	text, err := base.Text()
	if err != nil {
		return ledger.Blob{}, fmt.Errorf("encoding what the decision was made from: %w", err)
	}
	blob := ledger.Blob{Digest: auditlog.BlobDigest(text), Text: text}
	last.Store(&encodedBase{base, blob})
	return blob, nil
}

func sameAction(a, b interlock.Action) bool {
	return a.Input == b.Input && a.Hint == b.Hint && bytes.Equal(a.Arguments, b.Arguments)
}

func sameTargets(a, b []interlock.Impact) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if a[n].Target != b[n].Target || a[n].Via != b[n].Via {
			return false
		}
	}
	return true
}

// readSealed records an operator's order to read inputs that are kept sealed. Whoever opens them does so after it was carried
// out, and not before.
func (a *Admission) readSealed(_ context.Context, c *carrying) error {
	return a.append(&c.change, interlock.EventAccess, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.AccessRecord{Order: a.orderKept(c.Order)})
}
