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

// A declaration names the snapshots that a decision is made under: the manifest of its process, and those that grow.
type declaration struct{ manifest, registry, memory interlock.Digest }

// declared are the snapshots that it is made under.
func (d *pendingDecision) declared() declaration {
	s := d.ground.Settings
	return declaration{d.under.Manifest, interlock.Digest(s[core.SettingRegistry]), interlock.Digest(s[core.SettingMemory])}
}

// keepInputs adds to a change what its decision was made from, and names it in the event. The decision's own text is in the
// event; what many decisions share is stored once.
func (a *Admission) keepInputs(change *ledger.Change, draft *ledger.Draft, under declaration, raw, shown interlock.Action,
	made *evaluation, recorded interlock.Decision) error {
	if a.Config.Record.Off {
		return nil
	}
	base, err := a.blobOf(&made.snapshot, under, made.Snapshot)
	if err != nil {
		return err
	}
	inputs := auditlog.Inputs{Schema: auditlog.InputsSchema, Base: base.Digest, Action: raw, Impacts: made.analysis.Impacts,
		Spoken: made.analysis.Spoken, Moving: auditlog.MovingOf(&made.snapshot), Limits: made.limits, Limited: made.limited}
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

// An encodedBase is one of them, with what is derived from it.
type encodedBase struct {
	base   auditlog.Base
	blob   ledger.Blob
	digest interlock.Digest // of the snapshot, where nothing of it moved; empty: not known
}

// baseSeed is of this process.
var baseSeed = maphash.MakeSeed()

// of is where an agent's last one is.
func (b *bases) of(agent string) *atomic.Pointer[encodedBase] {
	return &b[maphash.String(baseSeed, agent)%uint64(len(b))]
}

// digest is that of a snapshot, if it is as its agent's last one; empty if that is not known.
func (b *bases) digest(s *interlock.Snapshot) interlock.Digest {
	if b == nil || auditlog.Moves(s) {
		return ""
	}
	if was := b.of(s.Agent.ID).Load(); was != nil && auditlog.SameBase(&was.base.Snapshot, s) {
		return was.digest
	}
	return ""
}

// blobOf is the blob of a base: what of a snapshot does not move, and the program.
func (a *Admission) blobOf(s *interlock.Snapshot, under declaration, digest interlock.Digest) (ledger.Blob, error) {
	if auditlog.Moves(s) {
		digest = ""
	}
	last := a.bases.of(s.Agent.ID)
	was := last.Load()
	if was != nil && (declaration{was.base.Manifest, was.base.Registry, was.base.Memory}) == under && auditlog.SameBase(&was.base.Snapshot, s) {
		if was.digest == "" && digest != "" {
			last.Store(&encodedBase{was.base, was.blob, digest})
		}
		return was.blob, nil
	}
	base := auditlog.Base{Schema: auditlog.InputsSchema, Program: a.Config.Record.Program, Analyser: a.Config.Record.Analyser,
		Manifest: under.manifest, Registry: under.registry, Memory: under.memory, Snapshot: auditlog.Still(*s),
		Personal: a.Config.Record.Personal}
	text, err := base.Text()
	if err != nil {
		return ledger.Blob{}, fmt.Errorf("encoding what the decision was made from: %w", err)
	}
	blob := ledger.Blob{Digest: auditlog.BlobDigest(text), Text: text}
	last.Store(&encodedBase{base, blob, digest})
	return blob, nil
}
