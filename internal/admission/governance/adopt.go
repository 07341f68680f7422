package governance

import (
	"context"
	"fmt"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// The names under which the settings keep who ordered the operator's rules, and which were refused because nobody did.
const (
	settingOrdered = "rules_ordered"
	settingRefused = "rules_refused"
)

// RulesOrdered names the settings that say who ordered the operator's rules; OrderedBy reads them.
func RulesOrdered() []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Setting, settingOrdered), core.Key(ledger.Setting, settingRefused)}
}

// OrderedBy says which event ordered the operator's rules in force, or [RulesUnordered], and of rules that are not in force because
// nobody ordered them, what names their documents. Both are empty where there is nothing to say.
func OrderedBy(settings map[string]string) (event string, refused interlock.Digest) {
	return settings[settingOrdered], interlock.Digest(settings[settingRefused])
}

// Documents are an operator's rules as text by path, as they are named and stored.
func Documents(own map[string][]byte) map[string]string {
	documents := make(map[string]string, len(own))
	for path, text := range own { // order-independent: fills a map
		documents[path] = string(text)
	}
	return documents
}

// DocumentsDigest names an operator's documents.
func DocumentsDigest(documents map[string]string) (interlock.Digest, error) {
	digest, err := strictjson.Digest("interlock/candidate/v1", documents)
	if err != nil {
		return "", fmt.Errorf("encoding the rules: %w", err)
	}
	return digest, nil
}

// adoptRules has the rules that are in force in this process count as ordered, on an admin's order that names them: the ruleset as its
// subject, and the operator's documents, which stay the same when the program's own rules are others, as its detail.
func (a *Governance) adoptRules(ctx context.Context, c *core.PendingOrder) error {
	now := a.Active.Load()
	documents := Documents(now.Own)
	digest, err := DocumentsDigest(documents)
	switch {
	case err != nil:
		return err
	case c.Subject != string(now.Rules.Digest()) || c.Detail != string(digest):
		return interlock.Errorf(interlock.CodeConflict, "subject",
			"other rules are in the rules directory now than the order is about; look again and give the order anew")
	case len(documents) == 0:
		return interlock.Errorf(interlock.CodeInvalid, "subject", "there are no rules but the program's own, which need no order")
	}
	if err := a.reclassifies(ctx, c, now.Rules); err != nil {
		return err
	}
	return a.ordersRules(c, now.Rules, documents)
}

// ordersRules adds to the change of an order about rules the event that says so, with the documents it is about: a process that
// starts later holds the rules directory against them.
func (a *Governance) ordersRules(c *core.PendingOrder, rules *ruleset.Ruleset, documents map[string]string) error {
	digest, err := DocumentsDigest(documents)
	if err != nil {
		return err
	}
	text, err := strictjson.Marshal(documents)
	if err != nil {
		return fmt.Errorf("encoding the rules: %w", err)
	}
	blob := ledger.Blob{Digest: auditlog.BlobDigest(text), Text: text}
	if err := a.Append(&c.Change, interlock.EventPromotion, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.PromotionRecord{Order: a.OrderKept(c.Order), Documents: digest, Tier: rules.Maso().Tier}); err != nil {
		return err
	}
	c.Change.Blobs = append(c.Change.Blobs, blob)
	c.Change.Events[len(c.Change.Events)-1].Snapshots["documents"] = string(blob.Digest)
	return nil
}

// rulesOrdered adds to the settings that are to stand who ordered the rules, where that is another than it was.
func rulesOrdered(f *core.ActiveRules, have, want map[string]string) {
	for name, now := range map[string]string{settingOrdered: f.Ordered.By, settingRefused: string(f.Ordered.Refused)} {
		if now != "" || have[name] != "" { // any order: fills a map
			want[name] = now
		}
	}
}

// unordered adds to a change the alert that rules are in force, or are not, because nobody ordered them, when that has become so.
func (a *Governance) unordered(change *ledger.Change, have, want map[string]string) error {
	message := ""
	switch {
	case want[settingRefused] != "" && want[settingRefused] != have[settingRefused]:
		message = "the rules directory holds rules that no admin has ordered; the last that one ordered stay in force"
	case want[settingOrdered] == core.RulesUnordered && (have[settingOrdered] != core.RulesUnordered ||
		have["ruleset"] != want["ruleset"]):
		message = "rules are in force that no admin has ordered"
	default:
		return nil
	}
	return a.Raise(change, interlock.Requester{Agent: "interlock"}, "rules-unordered",
		message+"; `interlock rules adopt` has an admin order what is in the directory")
}
