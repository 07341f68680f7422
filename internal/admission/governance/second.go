package governance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// From tier 2 on, what weakens how actions are classified takes people of two teams: one seconds it, by the digest of exactly that, and
// another one then orders it.

// settingSecond is the name under which the newest seconding is kept.
const settingSecond = "seconded"

// SecondFor is how long a seconding counts.
const SecondFor = 24 * time.Hour

func readSeconded(interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Setting, settingSecond)}
}

// second records that somebody of one team says yes to what another is to order.
func (a *Governance) second(_ context.Context, c *core.PendingOrder) error {
	if !strings.HasPrefix(c.Subject, "sha256:") {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "name by its digest what is to be ordered")
	}
	text, err := json.Marshal(c.Order)
	if err != nil {
		return fmt.Errorf("encoding the order: %w", err)
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Settings(map[string]string{settingSecond: string(text)})...)
	return a.Append(&c.Change, interlock.EventSeconded, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SecondedRecord{Subject: c.Subject, Teams: c.Standing.Operators[c.Operator].Teams, Order: a.OrderKept(c.Order)})
}

// seconded refuses an order about something that nobody of another team has seconded.
func (a *Governance) seconded(ctx context.Context, c *core.PendingOrder, what string, why []string) error {
	needs := func(say string) error {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator",
			"this weakens how actions are classified (%s), which takes people of two teams from tier 2 on: %s; "+
				"`interlock operator second %s --reason TEXT` is what somebody of another team gives first",
			strings.Join(why[:min(len(why), 5)], ", "), say, what)
	}
	g, err := a.reads(ctx, c, readSeconded(c.Order)...)
	if err != nil {
		return err
	}
	var order interlock.Order
	if text := g.Settings[settingSecond]; text != "" {
		if err := strictjson.DecodeTrusted([]byte(text), &order); err != nil {
			return needs("what seconds it can't be read")
		}
	}
	if order.ID == "" || order.Verb != interlock.VerbSecond || order.Subject != what || c.Now.Sub(order.At) > SecondFor {
		return needs("nobody has seconded it within a day")
	}
	people, err := a.reads(ctx, c, core.Key(ledger.Operator, order.Operator), core.Key(ledger.Operator, c.Operator))
	if err != nil {
		return err
	}
	first, last := people.Operators[order.Operator], people.Operators[c.Operator]
	if err := quorum.OfOrder(order, interlock.Requester{}).Stands(first, a.Config.Verify, c.Now); err != nil {
		return needs("who seconded it no longer counts")
	}
	if !quorum.TwoTeams(first, last) {
		return needs("who seconded it is not of another team than who orders it (interlock operator change NAME --team TEAM)")
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Settings(map[string]string{settingSecond: ""})...)
	return nil
}

// reclassifies refuses an order that puts rules into force which classify less than those that were ordered last, from tier 2 on, unless
// somebody of another team has seconded these rules.
func (a *Governance) reclassifies(ctx context.Context, c *core.PendingOrder, to *ruleset.Ruleset) error {
	if a.Config.LastOrdered == nil || a.Config.Candidate == nil {
		return nil
	}
	documents, err := a.Config.LastOrdered(ctx)
	if err == nil && documents == nil {
		return nil
	}
	var from *ruleset.Ruleset
	if err == nil {
		from, err = a.Config.Candidate(documents)
	}
	if err != nil {
		return a.seconded(ctx, c, string(to.Digest()), []string{"the rules that were ordered last can't be compared with these"})
	}
	less, err := ruleset.Reclassified(from, to)
	if err != nil || len(less) == 0 {
		return err
	}
	return a.seconded(ctx, c, string(to.Digest()), less)
}

// resets refuses an order that has settings speak of other base verdicts, or enforce less, from tier 2 on, likewise.
func (a *Governance) resets(ctx context.Context, c *core.PendingOrder, departures map[string]json.RawMessage) error {
	if a.Tier() < 2 {
		return nil
	}
	was := map[string]json.RawMessage{}
	if order, err := settingsOrderOf(c.Standing.Settings[settingOrder]); err == nil && order.Order.ID != "" {
		if was, err = DeparturesOf(order.Order.Detail, order.Aside); err != nil {
			was = map[string]json.RawMessage{}
		}
	}
	var changed []string
	for _, name := range []string{"profile", "mode", "production", "rules", "rules_signed"} {
		if string(was[name]) != string(departures[name]) {
			changed = append(changed, "the setting "+name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	what, err := SettingsDigest(c.Detail, c.Aside)
	if err != nil {
		return err
	}
	return a.seconded(ctx, c, string(what), changed)
}

// SettingsDigest names what an order about settings says.
func SettingsDigest(detail, aside string) (interlock.Digest, error) {
	return strictjson.Digest("interlock/settings/v1", map[string]string{"detail": detail, "aside": aside})
}

// RangeDigest names what a pre-approved range permits, no matter who gives it and when.
func RangeDigest(g interlock.Grant) (interlock.Digest, error) {
	days := int(g.Expires.Sub(g.Created) / (24 * time.Hour))
	if g.Range == nil {
		return "", interlock.Errorf(interlock.CodeInvalid, "range", "the grant has no range")
	}
	return strictjson.Digest("interlock/range/v1", struct {
		Tool       string                `json:"tool"`
		Conditions []interlock.Condition `json:"conditions"`
		Range      interlock.Range       `json:"range"`
		Times      int                   `json:"times"`
		Days       int                   `json:"days"`
	}{g.Tool, slices.Clone(g.Conditions), *g.Range, g.Times, days})
}
