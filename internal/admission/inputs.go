package admission

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// keepInputs adds to a change what its decision was made from, and names it in the event. The decision's own text stands in the
// event; what many decisions share is stored once.
func (a *Admission) keepInputs(change *ledger.Change, draft *ledger.Draft, manifest interlock.Digest, raw, shown interlock.Action,
	made *evaluation, recorded interlock.Decision) error {
	if a.Config.Record.Off {
		return nil
	}
	still, moving := auditlog.Split(made.snapshot)
	base, err := a.blobOf(auditlog.Base{Schema: auditlog.InputsSchema, Program: a.Config.Record.Program,
		Analyser: a.Config.Record.Analyser, Manifest: manifest, Snapshot: still})
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
	secret := a.Revealed(&inputs) || bytes.HasPrefix(text, []byte(auditlog.SealedIntro)) || !core.SameAction(raw, shown) ||
		!core.SameTargets(made.Impacts, recorded.Impacts)
	draft.Inputs, err = a.Kept(text, secret)
	if err != nil {
		return err
	}
	for _, script := range made.snapshot.View.Scripts { // any order: the store keeps a set
		blob := ledger.Blob{Digest: auditlog.BlobDigest([]byte(script)), Text: []byte(script)}
		if blob.Text, err = a.Kept(blob.Text, a.Secretive(blob.Text)); err != nil {
			return err
		}
		if len(blob.Text) > 0 {
			change.Blobs = append(change.Blobs, blob)
		}
	}
	return nil
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
