package governance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// Settings come from a file that an agent may have got at, so in a home that somebody governs none of them makes anything weaker
// than an admin has ordered. Which ones do is for their reader to say, see package config; here is the order.

// SettingsSubject is what an order about settings is about.
const SettingsSubject = "this home's settings"

// The names under which the order is kept among the settings, and what was told of settings that have no effect.
const (
	settingOrder  = "settings_order"
	settingWeaker = "settings_refused"
)

// AlertSettings is the kind of alert about settings that have no effect, because they are weaker than what was ordered.
const AlertSettings = "settings-weaker"

// SettingsTerms are the detail of an order about settings: what of them is other than by default, and of those that name people or
// secrets, or are long, the digest.
type SettingsTerms struct {
	Set   map[string]json.RawMessage `json:"set,omitempty"`
	Bound map[string]string          `json:"bound,omitempty"`
}

// maxSaid bounds what an order says of one setting in its own words, in bytes.
const maxSaid = 400

// SaySettings writes departures from the default as the detail of an order, with what it binds by digest aside.
func SaySettings(departures map[string]json.RawMessage, private func(name string) bool) (detail, aside string, err error) {
	terms, bound := SettingsTerms{Set: map[string]json.RawMessage{}, Bound: map[string]string{}}, map[string]json.RawMessage{}
	for name, text := range departures { // order-independent: fills maps
		if !private(name) && len(text) <= maxSaid {
			terms.Set[name] = text
			continue
		}
		terms.Bound[name], bound[name] = bindSetting(name, text), text
	}
	if detail, err = Detail(terms); err != nil || len(bound) == 0 {
		return detail, "", err
	}
	text, err := json.Marshal(bound)
	return detail, string(text), err
}

func bindSetting(name string, text []byte) string {
	sum := sha256.Sum256(append([]byte("interlock/setting/v1\x00"+name+"\x00"), text...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// DeparturesOf is what an order about settings says, with what it says aside.
func DeparturesOf(detail, aside string) (map[string]json.RawMessage, error) {
	terms, err := TermsOf[SettingsTerms](detail)
	if err != nil {
		return nil, err
	}
	bound := map[string]json.RawMessage{}
	if aside != "" {
		if err := strictjson.Decode([]byte(aside), &bound); err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "aside", "what the order binds by digest can't be read")
		}
	}
	all := map[string]json.RawMessage{}
	for name, text := range terms.Set { // order-independent: fills a map
		all[name] = text
	}
	for name, digest := range terms.Bound { // order-independent: fills a map
		if _, twice := all[name]; twice || bindSetting(name, bound[name]) != digest {
			return nil, interlock.Errorf(interlock.CodeInvalid, "aside", "the settings are others than the order binds")
		}
		all[name] = bound[name]
	}
	if len(bound) != len(terms.Bound) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "aside", "the settings are others than the order binds")
	}
	return all, nil
}

// settingsOrder is an order about settings as it is kept.
type settingsOrder struct {
	Order interlock.Order `json:"order"`
	Aside string          `json:"aside,omitempty"`
	First bool            `json:"first,omitempty"` // nobody signed it: the first who governs was shown it, and made themselves
}

// SaidSettings are settings as the first who governs was shown them; see [SaySettings].
type SaidSettings struct{ Detail, Aside string }

// firstOrder names the order of the first who governs, which nobody signed.
const firstOrder = "ord_first"

// rows are what is recorded of the settings that the first who governs was shown; none where they are the default.
func (s SaidSettings) rows(operator interlock.OperatorRecord) ([]ledger.Row, error) {
	if s.Detail == "" {
		return nil, nil
	}
	if _, err := DeparturesOf(s.Detail, s.Aside); err != nil {
		return nil, err
	}
	text, err := json.Marshal(settingsOrder{Order: interlock.Order{ID: firstOrder, Verb: interlock.VerbAdoptSettings,
		Subject: SettingsSubject, Detail: s.Detail, Operator: operator.Name, At: operator.Created}, Aside: s.Aside, First: true})
	return ledger.Settings(map[string]string{settingOrder: string(text)}), err
}

func readSettingsOrder(interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Setting, settingOrder), core.Key(ledger.Setting, settingWeaker)}
}

// adoptSettings has an order about settings stand in place of the one before.
func (a *Governance) adoptSettings(ctx context.Context, c *core.PendingOrder) error {
	if c.Subject != SettingsSubject {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "the order is not about this home's settings")
	}
	departures, err := DeparturesOf(c.Detail, c.Aside)
	if err == nil && a.Config.Settings != nil {
		err = a.Config.Settings(departures)
	}
	if err != nil {
		return err
	}
	if err := a.resets(ctx, c, departures); err != nil {
		return err
	}
	text, err := json.Marshal(settingsOrder{Order: c.Order, Aside: c.Aside})
	if err != nil {
		return fmt.Errorf("encoding the order: %w", err)
	}
	kept := a.OrderKept(c.Order)
	before := ""
	if was, err := settingsOrderOf(c.Standing.Settings[settingOrder]); err == nil {
		before = was.Order.ID
	}
	if err := a.Append(&c.Change, interlock.EventMode, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SettingsRecord{Before: map[string]string{settingOrder: before}, After: map[string]string{settingOrder: c.ID},
			Order: &kept}); err != nil {
		return err
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Settings(map[string]string{settingOrder: string(text), settingWeaker: ""})...)
	return nil
}

func settingsOrderOf(text string) (order settingsOrder, err error) {
	if text == "" {
		return order, nil
	}
	err = strictjson.DecodeTrusted([]byte(text), &order)
	return order, err
}

// OrderedSettings is the order about a home's settings that is in force.
type OrderedSettings struct {
	ID       string // empty: there is none
	Operator string
	At       time.Time
	detail   string
	// what it says that is other than by default
	Departures map[string]json.RawMessage
	// why it permits nothing any more: its operator is not in office, or the signature is not theirs; empty if it does
	Problem string
}

// Says reports whether it is an order with this detail.
func (o OrderedSettings) Says(detail string) bool { return o.ID != "" && o.detail == detail }

// ReadSettingsOrder returns the order about settings that is in force. It is proved again each time.
func ReadSettingsOrder(ctx context.Context, load func(context.Context, ...ledger.Ref) ([]ledger.Row, int64, error),
	verify quorum.Verifier, now time.Time) (OrderedSettings, error) {
	rows, _, err := load(ctx, core.Key(ledger.Setting, settingOrder))
	if err != nil || len(rows) == 0 || ledger.SettingOf(rows[0]) == "" {
		return OrderedSettings{}, err
	}
	kept, err := settingsOrderOf(ledger.SettingOf(rows[0]))
	if err != nil || kept.Order.ID == "" || kept.Order.Verb != interlock.VerbAdoptSettings || kept.Order.Subject != SettingsSubject {
		return OrderedSettings{ID: "unreadable", Problem: "the order can't be read"}, nil
	}
	found := OrderedSettings{ID: kept.Order.ID, Operator: kept.Order.Operator, At: kept.Order.At, detail: kept.Order.Detail}
	if found.Departures, err = DeparturesOf(kept.Order.Detail, kept.Aside); err != nil {
		return OrderedSettings{ID: kept.Order.ID, Operator: found.Operator, Problem: "the order can't be read"}, nil
	}
	rows, _, err = load(ctx, core.Key(ledger.Operator, kept.Order.Operator))
	if err != nil {
		return found, err
	}
	var operator interlock.OperatorRecord
	for _, row := range rows {
		operator, _ = row.Value.(interlock.OperatorRecord)
	}
	if given := quorum.OfOrder(kept.Order, interlock.Requester{}); kept.First {
		err = given.MayGive(operator, nil, now)
	} else {
		err = given.Stands(operator, verify, now)
	}
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		found.Problem, err = refusal.Message, nil
	}
	return found, err
}

// maxToldSettings bounds how many sets of settings that people were told of are remembered of a day.
const maxToldSettings = 16

// toldOf adds to what people were told on a day, which is all of it; known where they were. What a process recorded that reaches nobody
// is told once more, by one that does.
func toldOf(before, day, why string, reaches bool) (after string, known bool) {
	sum := sha256.Sum256([]byte(why))
	words := strings.Fields(before)
	if len(words) == 0 || words[0] != day {
		words = []string{day}
	}
	name := hex.EncodeToString(sum[:8])
	if slices.Contains(words, name+"!") || !reaches && slices.Contains(words, name) {
		return before, true
	}
	if reaches {
		name += "!"
	}
	if words = append(words, name); len(words) > maxToldSettings+1 {
		words = slices.Delete(words, 1, 2)
	}
	return strings.Join(words, " "), false
}

// RefuseSettings records, and tells people, that settings have no effect because they are weaker than was ordered: once a day for the
// same ones, however often something starts under them. told says that it was this time.
func (a *Governance) RefuseSettings(ctx context.Context, why string) (told bool, err error) {
	why = a.Redact(why)
	day := a.Config.Now().UTC().Format(time.DateOnly)
	_, err = a.Commit(ctx, a.Rows(core.Key(ledger.Setting, settingWeaker)), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		said, known := toldOf(standing.Settings[settingWeaker], day, why, a.Config.Alert != nil)
		if known {
			return change, core.ErrUnchanged
		}
		change.Writes = ledger.Settings(map[string]string{settingWeaker: said})
		return change, a.Append(&change, interlock.EventAlert, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.AlertRecord{Code: AlertSettings, Message: why})
	})
	if errors.Is(err, core.ErrUnchanged) {
		return false, nil
	}
	if err == nil && a.Config.Alert != nil {
		a.Config.Alert(AlertSettings, why)
	}
	return err == nil, err
}
