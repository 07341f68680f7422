package governance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Start records, once per change, which ruleset, mode and profile are in force from here on. Nothing is decided before
// that is durable.
func (a *Governance) Start(ctx context.Context) error {
	now := *a.Active.Load()
	if err := a.DeclareForce(ctx, &now); err != nil {
		return err
	}
	a.Active.Store(&now)
	return a.Containment.BothKilled(ctx)
}

// DeclareForce records what is to be in force if that is not what the store says, and notes in it under which snapshots it
// decides. Several processes may find the same change at once: the first records it.
func (a *Governance) DeclareForce(ctx context.Context, f *core.ActiveRules) error {
	on := a.Rows(startSettings()...)
	_, err := a.Commit(ctx, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		ruleset := map[string]string{"ruleset": string(f.Rules.Digest())}
		if err := a.rulesText(&change, f, standing.Settings, ruleset); err != nil {
			return change, err
		}
		rulesOrdered(f, standing.Settings, ruleset)
		mode := map[string]string{"mode": f.Mode.String(), "profile": f.Profile}
		if err := a.declare(&change, f, standing.Settings, ruleset, mode); err != nil {
			return change, err
		}
		if err := a.setting(&change, f, interlock.EventRuleset, standing.Settings, ruleset); err != nil {
			return change, err
		}
		if err := a.unordered(&change, standing.Settings, ruleset); err != nil {
			return change, err
		}
		if err := a.setting(&change, f, interlock.EventMode, standing.Settings, mode); err != nil {
			return change, err
		}
		if len(change.Events) == 0 {
			return change, core.ErrUnchanged
		}
		return change, nil
	})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	return err
}

// startSettings names all that Start looks at or writes. What it would write without having read it is refused, see setting.
func startSettings() (refs []ledger.Ref) {
	for _, name := range append(auditlog.Declared(), "ruleset", "ruleset_text", "mode", "profile", core.SettingManifest, settingOrdered,
		settingRefused) {
		refs = append(refs, core.Key(ledger.Setting, name))
	}
	return refs
}

// rulesText adds to a change, and to the settings that are to stand, the text of rules that the store does not have yet: so that
// what is decided under them can be decided again when the program that brought them is gone.
func (a *Governance) rulesText(change *ledger.Change, f *core.ActiveRules, have, want map[string]string) error {
	if a.Config.Record.Ruleset == nil {
		return nil
	}
	want["ruleset_text"] = have["ruleset_text"]
	if have["ruleset"] == want["ruleset"] && want["ruleset_text"] != "" {
		return nil
	}
	text, err := a.Config.Record.Ruleset(f.Own)
	if err != nil {
		return fmt.Errorf("reading the ruleset's text: %w", err)
	}
	blob := ledger.Blob{Digest: auditlog.BlobDigest(text), Text: text}
	change.Blobs = append(change.Blobs, blob)
	want["ruleset_text"] = string(blob.Digest)
	return nil
}

// setting adds to a change what differs between the settings recorded and the ones in force.
func (a *Governance) setting(change *ledger.Change, f *core.ActiveRules, kind interlock.EventType, have,
	want map[string]string) error {
	if !differs(have, want) {
		return nil
	}
	before := map[string]string{}
	for name := range want { // order-independent: fills a map
		if !slices.Contains(startSettings(), core.Key(ledger.Setting, name)) {
			return fmt.Errorf("admission: the setting %q is written and was not read: name it in startSettings", name)
		}
		before[name] = have[name]
	}
	payload, err := auditlog.SettingsRecord{Before: before, After: want}.Payload()
	if err != nil {
		return err
	}
	draft, err := a.Draft(kind, interlock.Requester{Agent: "interlock"}, "system", payload)
	if err != nil {
		return err
	}
	draft.Snapshots["ruleset"] = string(f.Rules.Digest())
	change.Events, change.Writes = append(change.Events, draft), append(change.Writes, ledger.Settings(want)...)
	return nil
}

// differs reports whether settings are to stand that do not.
func differs(have, want map[string]string) bool {
	for name, value := range want { // any order: one is enough
		if have[name] != value {
			return true
		}
	}
	return false
}
