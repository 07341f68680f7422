package admission_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
)

func public(string) bool { return false }

func secretly(string) bool { return true }

// settingsAre has an order about settings given by an operator.
func (h *house) settingsAre(operator, mode string, private func(string) bool, edit ...func(*quorum.Given)) error {
	h.t.Helper()
	h.now = h.now.Add(time.Second)
	detail, aside, err := governance.SaySettings(map[string]json.RawMessage{"mode": json.RawMessage(mode)}, private)
	if err != nil {
		h.t.Fatal(err)
	}
	given := h.about(governance.SettingsSubject, detail)(operator)
	given.Verb, given.Aside = interlock.VerbAdoptSettings, aside
	given = given.Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
	for _, e := range edit {
		e(&given)
	}
	_, err = h.CarryOut(h.t.Context(), given)
	return err
}

func (h *house) settingsOrder() governance.OrderedSettings {
	h.t.Helper()
	order, err := governance.ReadSettingsOrder(h.t.Context(), h.store.Load, func(_ interlock.OperatorRecord, _, _,
		signature string) (string, error) {
		return "fingerprint of " + signature, h.verify
	}, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	return order
}

// TestSettingsOrder: the last order stands, with what it binds by digest, and is proved each time it is read; the log is told no value
// that it binds by digest.
func TestSettingsOrder(t *testing.T) {
	h := newHouse(t)
	h.employ("ada", quorum.RoleAdmin)
	h.employ("bob", quorum.RoleAdmin)
	if order := h.settingsOrder(); order.ID != "" || order.Problem != "" {
		t.Fatalf("before anybody ordered anything: %+v", order)
	}
	for _, private := range []func(string) bool{public, secretly} {
		if err := h.settingsAre("ada", `"monitoring"`, private); err != nil {
			t.Fatal(err)
		}
		if order := h.settingsOrder(); order.ID != "ord_1" || order.Operator != "ada" || order.Problem != "" ||
			string(order.Departures["mode"]) != `"monitoring"` {
			t.Errorf("ordered: %+v", order)
		}
		log := h.log()
		if told := strings.Contains(string(log[len(log)-1].Body), "monitoring"); told == private("mode") {
			t.Errorf("the event of an order that binds by digest: %v, says what it binds: %v", private("mode"), told)
		}
	}
	if err := h.settingsAre("bob", `"logging"`, public); err != nil {
		t.Fatal(err)
	}
	if order := h.settingsOrder(); order.Operator != "bob" || string(order.Departures["mode"]) != `"logging"` {
		t.Errorf("the last order is not the one that stands: %+v", order)
	}
	h.verify = interlock.Errorf(interlock.CodeUnauthorized, "signature", "it is not theirs")
	if order := h.settingsOrder(); !strings.Contains(order.Problem, "does not verify") {
		t.Errorf("with another signature: %+v", order)
	}
	h.verify = nil
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "bob", Role: quorum.RoleAdmin, SSHKey: "key of bob", Created: h.now,
		Revoked: h.now}); err != nil {
		t.Fatal(err)
	}
	if order := h.settingsOrder(); order.Problem != "this operator is revoked" || len(order.Departures) != 1 {
		t.Errorf("of a revoked operator: %+v", order)
	}
}

// TestSettingsOrderRefused: what is only half there, or about something else, is refused and changes nothing.
func TestSettingsOrderRefused(t *testing.T) {
	h := newHouse(t, func(c *admission.Config) {
		c.Settings = func(departures map[string]json.RawMessage) error {
			if string(departures["mode"]) == `"lenient"` {
				return interlock.Errorf(interlock.CodeInvalid, "mode", "there is no such mode")
			}
			return nil
		}
	})
	h.employ("ada", quorum.RoleAdmin)
	signed := func(g *quorum.Given) {
		*g = g.Signed(g.Method, g.Key, g.Signature)
	}
	for want, err := range map[string]error{
		"there is no such mode": h.settingsAre("ada", `"lenient"`, public),
		"the settings are others than the order binds": errors.Join(
			h.settingsAre("ada", `"monitoring"`, secretly, func(g *quorum.Given) { g.Aside = `{"mode":"disabled"}` }),
			h.settingsAre("ada", `"monitoring"`, secretly, func(g *quorum.Given) { g.Aside = "" }),
			h.settingsAre("ada", `"monitoring"`, public, func(g *quorum.Given) { g.Aside = `{"mode":"disabled"}` })),
		"what the order binds by digest can't be read": h.settingsAre("ada", `"monitoring"`, secretly,
			func(g *quorum.Given) { g.Aside = `{"mode":` }),
		"the order does not say what is to be so": errors.Join(
			h.settingsAre("ada", `"monitoring"`, public, func(g *quorum.Given) { g.Detail = `{"set":` }, signed),
			h.settingsAre("ada", `"monitoring"`, public, func(g *quorum.Given) { g.Detail = `{"sets":{}}` }, signed)),
		"the order is not about this home's settings": h.settingsAre("ada", `"monitoring"`, public,
			func(g *quorum.Given) { g.Subject = "another home's" }, signed),
	} {
		if err == nil || strings.Count(err.Error(), want) != 1+strings.Count(err.Error(), "\n") {
			t.Errorf("want only %q, got: %v", want, err)
		}
	}
	if order := h.settingsOrder(); order.ID != "" {
		t.Errorf("a refused order stands: %+v", order)
	}
}

// TestFirstKeepsSettings: what the first who governs was shown stands by their word, for as long as they are in office.
func TestFirstKeepsSettings(t *testing.T) {
	h := newHouse(t)
	detail, aside, err := governance.SaySettings(map[string]json.RawMessage{"mode": json.RawMessage(`"monitoring"`)}, secretly)
	if err != nil {
		t.Fatal(err)
	}
	ada := interlock.OperatorRecord{Name: "ada", Role: quorum.RoleAdmin, SSHKey: "key of ada", Created: h.now}
	if _, err := h.FirstOperator(t.Context(), ada, governance.SaidSettings{Detail: detail}); err == nil {
		t.Error("the first operator was made with half of the settings")
	}
	if _, err := h.FirstOperator(t.Context(), ada, governance.SaidSettings{Detail: detail, Aside: aside}); err != nil {
		t.Fatal(err)
	}
	if order := h.settingsOrder(); order.Operator != "ada" || order.Problem != "" || string(order.Departures["mode"]) != `"monitoring"` {
		t.Errorf("as they were shown: %+v", order)
	}
	ada.Revoked = h.now
	if err := h.PutOperator(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	if order := h.settingsOrder(); order.Problem == "" {
		t.Error("the word of somebody who is revoked stands")
	}
}

// TestRefuseSettings: people are told once a day of the same settings, whatever others are told of in between.
func TestRefuseSettings(t *testing.T) {
	h := newHouse(t)
	refuse := func(why string) {
		t.Helper()
		if _, err := h.RefuseSettings(t.Context(), why); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		refuse("mode has no effect")
		refuse("profile has no effect")
	}
	if n := h.count(interlock.EventAlert); n != 2 || len(h.alerts) != 2 {
		t.Errorf("%d events and %d alerts of two things", n, len(h.alerts))
	}
	alone := newHouse(t, func(c *admission.Config) { c.Alert = nil })
	for range 2 {
		if _, err := alone.RefuseSettings(t.Context(), "mode has no effect"); err != nil {
			t.Fatal(err)
		}
	}
	if n := alone.count(interlock.EventAlert); n != 1 {
		t.Errorf("%d events of a process that reaches nobody", n)
	}
	h.now = h.now.AddDate(0, 0, 1)
	refuse("mode has no effect")
	if n := h.count(interlock.EventAlert); n != 3 {
		t.Errorf("%d events after another day", n)
	}
}

// settingsGiven is the order that settingsAre would give.
func (h *house) settingsGiven(operator, mode string, private func(string) bool) (given quorum.Given) {
	h.t.Helper()
	detail, aside, err := governance.SaySettings(map[string]json.RawMessage{"mode": json.RawMessage(mode)}, private)
	if err != nil {
		h.t.Fatal(err)
	}
	given = h.about(governance.SettingsSubject, detail)(operator)
	given.Verb, given.Aside = interlock.VerbAdoptSettings, aside
	return given
}
