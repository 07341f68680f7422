package governance

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/origin"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// governanceText is what the settings say of how is decided: canonical JSON.
func (a *Governance) governanceText() ([]byte, error) {
	values := maps.Clone(a.Config.Record.Governance)
	values["schema"] = auditlog.GovernanceSchema
	values["mode"], values["profile"] = a.Config.Mode.String(), a.Config.Profile
	return strictjson.Marshal(values)
}

// limitsText is every constant that bounds what an agent or an operator may do: canonical JSON.
func (a *Governance) limitsText() ([]byte, error) {
	return strictjson.Marshal(map[string]string{
		"schema":          auditlog.LimitsSchema,
		"approval_ttl":    a.Config.ApprovalTTL.String(),
		"code_ttl":        a.Config.CodeTTL.String(),
		"max_questions":   strconv.Itoa(a.Config.MaxQuestions),
		"failed_attempts": strconv.Itoa(meter.FailedAttempts),
		"attempts_window": meter.AttemptsWindow.String(),
		"max_window":      meter.MaxWindow.String(),
		"cooldown_writes": meter.CooldownWrites.String(),
		"cooldown_reads":  meter.CooldownReads.String(),
		"retry_budget":    strconv.Itoa(meter.RetryBudget),
		"retry_window":    meter.RetryWindow.String(),
		"max_grant":       quorum.MaxGrant.String(),
		"max_times":       strconv.Itoa(quorum.MaxTimes),
		"max_order":       quorum.MaxOrder.String(),
		"max_suppression": quorum.MaxSuppression.String(),
		"council_quorum":  strconv.Itoa(a.Council().Quorum),
		"vote_window":     a.Council().Window.String(),
		"request_timeout": a.Council().Timeout.String(),
		"approval_wait":   a.Council().Wait.String(),
		"review_window":   a.Council().Review.String(),
		"audit_window":    a.Council().Audit.String(),
		"council_governs": strconv.FormatBool(a.Council().Governs),
		"max_certificate": time.Duration(maxCertificate).String(),
		"limit_settled":   ledger.SettleWithin.String(),
		"limit_uses":      strconv.Itoa(meter.ExactUses),
		"limit_parts":     strconv.Itoa(meter.UsageParts),
		"recent_window":   interlock.RecentWindow.String(),
		"trip_blocks":     strconv.Itoa(phase.TripBlocks),
		"trip_window":     phase.TripWindow.String(),
		"trip_percent":    strconv.Itoa(phase.TripPercent),
		"trip_at_least":   strconv.Itoa(phase.TripAtLeast),
		"share_window":    phase.ShareWindow.String(),
		"max_alternate":   phase.MaxAlternate.String(),
		"max_cycles":      strconv.Itoa(phase.MaxCycles),
		"cycle_window":    phase.CycleWindow.String(),
		"heard_window":    origin.HeardWindow.String(),
		"written_window":  interlock.WrittenWindow.String(),
	})
}

// declare adds to a change, and to the settings that are to stand, the snapshots that this process decides under: each as a blob,
// and their list. It is named by the event that is written anyway, so that a change of rules stays one event.
func (a *Governance) declare(change *ledger.Change, f *core.ActiveRules, have, ruleset, mode map[string]string) error {
	if a.Config.Record.Governance == nil || ruleset["ruleset_text"] == "" {
		return nil
	}
	governance, err := a.governanceText()
	if err != nil {
		return fmt.Errorf("encoding the snapshot of governance: %w", err)
	}
	limits, err := a.limitsText()
	if err != nil {
		return fmt.Errorf("encoding the snapshot of limits: %w", err)
	}
	m := auditlog.Manifest{Schema: auditlog.ManifestSchema, Snapshots: map[string]auditlog.SnapshotName{
		auditlog.SnapshotRuleset:    auditlog.NameRuleset(f.Rules.Digest(), interlock.Digest(ruleset["ruleset_text"])),
		auditlog.SnapshotGovernance: auditlog.NameSnapshot(auditlog.GovernanceSchema, governance),
		auditlog.SnapshotLimits:     auditlog.NameSnapshot(auditlog.LimitsSchema, limits),
	}}
	texts := f.Texts.Snapshot()
	if texts != nil {
		m.Snapshots[auditlog.SnapshotSafety] = auditlog.NameSnapshot(auditlog.SafetySchema, texts)
		mode[auditlog.SnapshotSafety] = string(m.Snapshots[auditlog.SnapshotSafety].Blob)
	}
	text, err := m.Text()
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	f.Manifest = auditlog.BlobDigest(text)
	mode[auditlog.SnapshotGovernance] = string(m.Snapshots[auditlog.SnapshotGovernance].Blob)
	mode[auditlog.SnapshotLimits] = string(m.Snapshots[auditlog.SnapshotLimits].Blob)
	if have[core.SettingManifest] == string(f.Manifest) {
		return nil
	}
	in := mode
	if differs(have, ruleset) {
		in = ruleset
	}
	in[core.SettingManifest] = string(f.Manifest)
	for _, t := range [][]byte{governance, limits, texts, text} {
		if t != nil {
			change.Blobs = append(change.Blobs, ledger.Blob{Digest: auditlog.BlobDigest(t), Text: t})
		}
	}
	return nil
}

// registered adds to a change of who is known what the registry is after it. standing is what the change was computed from.
func (a *Governance) registered(change *ledger.Change, standing ledger.Standing, draft *ledger.Draft) error {
	if a.Config.Record.Governance == nil {
		return nil
	}
	text, err := auditlog.Registry{Schema: auditlog.RegistrySchema,
		Before: interlock.Digest(standing.Settings[core.SettingRegistry]), Change: draft.Payload}.Text()
	if err != nil {
		return fmt.Errorf("encoding the snapshot of the registry: %w", err)
	}
	digest := auditlog.BlobDigest(text)
	draft.Snapshots[auditlog.SnapshotRegistry] = string(digest)
	change.Blobs = append(change.Blobs, ledger.Blob{Digest: digest, Text: text})
	change.Writes = append(change.Writes, ledger.Settings(map[string]string{core.SettingRegistry: string(digest)})...)
	return nil
}
