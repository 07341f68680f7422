package governance

import (
	"context"
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
	"interlock/internal/personal"
	"interlock/internal/phase"
	"interlock/internal/privacy"
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
		"second_factor":   strconv.FormatBool(a.Council().Second),
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

// privacyText is what personal data is, and how it is kept: canonical JSON.
func (a *Governance) privacyText() ([]byte, error) {
	values := map[string]string{
		"schema":         auditlog.PrivacySchema,
		"log_redacted":   strconv.FormatBool(a.Config.Record.Personal),
		"max_run":        time.Duration(privacy.MaxRun).String(),
		"max_persistent": time.Duration(privacy.MaxPersistent).String(),
		"max_consents":   strconv.Itoa(privacy.MaxConsents),
		"max_kept":       strconv.Itoa(privacy.MaxKept),
		"max_text":       strconv.Itoa(privacy.MaxText),
	}
	for kind, tier := range personal.Kinds() { // order-independent: fills a map
		values["tier."+kind] = string(tier)
	}
	return strictjson.Marshal(values)
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
	private, err := a.privacyText()
	if err != nil {
		return fmt.Errorf("encoding the snapshot of privacy: %w", err)
	}
	m := auditlog.Manifest{Schema: auditlog.ManifestSchema, Snapshots: map[string]auditlog.SnapshotName{
		auditlog.SnapshotRuleset:    auditlog.NameRuleset(f.Rules.Digest(), interlock.Digest(ruleset["ruleset_text"])),
		auditlog.SnapshotGovernance: auditlog.NameSnapshot(auditlog.GovernanceSchema, governance),
		auditlog.SnapshotLimits:     auditlog.NameSnapshot(auditlog.LimitsSchema, limits),
		auditlog.SnapshotPrivacy:    auditlog.NameSnapshot(auditlog.PrivacySchema, private),
	}}
	texts := f.Texts.Snapshot()
	if texts != nil {
		m.Snapshots[auditlog.SnapshotSafety] = auditlog.NameSnapshot(auditlog.SafetySchema, texts)
	}
	text, err := m.Text()
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	f.Manifest = auditlog.BlobDigest(text)
	for _, name := range auditlog.Declared() {
		if n, named := m.Snapshots[name]; named {
			mode[name] = string(n.Blob)
		}
	}
	if have[core.SettingManifest] == string(f.Manifest) {
		return nil
	}
	in := mode
	if differs(have, ruleset) {
		in = ruleset
	}
	in[core.SettingManifest] = string(f.Manifest)
	for _, t := range [][]byte{governance, limits, private, texts, text} {
		if t != nil {
			change.Blobs = append(change.Blobs, ledger.Blob{Digest: auditlog.BlobDigest(t), Text: t})
		}
	}
	return nil
}

// registered adds to a change of who is known what the registry is after it. standing is what the change was computed from.
func (a *Governance) registered(change *ledger.Change, standing ledger.Standing, draft *ledger.Draft) error {
	return a.grown(change, standing, draft, auditlog.SnapshotRegistry,
		auditlog.Chain{Schema: auditlog.RegistrySchema, Change: draft.Payload})
}

// remembered adds to a change of stable facts what the memory is after it, which the last event about a fact names.
func (a *Governance) remembered(ctx context.Context, c *core.PendingOrder) error {
	if a.Config.Record.Governance == nil {
		return nil
	}
	var last *ledger.Draft
	var changes []any
	for n := range c.Change.Events {
		if e := &c.Change.Events[n]; e.Type == interlock.EventSemPut || e.Type == interlock.EventSemDelete {
			last, changes = e, append(changes, e.Payload)
		}
	}
	if last == nil {
		return nil
	}
	_, hash, err := factsAfter(ctx, a.Config.Store, c.Now, c.Change.Writes)
	if err != nil {
		return fmt.Errorf("reading the facts: %w", err)
	}
	return a.grown(&c.Change, c.Standing, last, auditlog.SnapshotMemory,
		auditlog.Chain{Schema: auditlog.MemorySchema, Change: changes, Facts: hash})
}

// grown adds to a change what a growing snapshot is after it: nothing is to compute where nothing of it changes.
func (a *Governance) grown(change *ledger.Change, standing ledger.Standing, draft *ledger.Draft, name string,
	to auditlog.Chain) error {
	if a.Config.Record.Governance == nil {
		return nil
	}
	to.Before = interlock.Digest(standing.Settings[name])
	text, err := to.Text()
	if err != nil {
		return fmt.Errorf("encoding the snapshot of %s: %w", name, err)
	}
	digest := auditlog.BlobDigest(text)
	draft.Snapshots[name] = string(digest)
	change.Blobs = append(change.Blobs, ledger.Blob{Digest: digest, Text: text})
	change.Writes = append(change.Writes, ledger.Settings(map[string]string{name: string(digest)})...)
	return nil
}
