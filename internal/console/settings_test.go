package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
)

// TestOrderSettings: an admin whose only key is a passkey has the settings ordered, sees what the order binds by digest, and no other
// settings come of it than were shown.
func TestOrderSettings(t *testing.T) {
	h := open(t)
	operator, admin := h.in("olga", quorum.RoleOperator), h.in("ada", quorum.RoleAdmin)
	detail, aside, err := governance.SaySettings(map[string]json.RawMessage{"mode": json.RawMessage(`"monitoring"`),
		"channels": json.RawMessage(`[{"kind":"terminal"}]`)}, func(name string) bool { return name == "channels" })
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"verb": {"adopt-settings"}, "subject": {governance.SettingsSubject}, "detail": {detail}, "aside": {aside},
		"reason": {"we try it"}}
	h.want("as an operator", operator.order(query.Encode()), http.StatusForbidden, "may not give this order")
	query.Set("aside", `{"channels":[{"kind":"console"}]}`)
	h.want("with other channels", admin.order(query.Encode()), http.StatusBadRequest, "does not say what the settings are to be")
	query.Set("aside", aside)
	page := admin.get("/orders/new?" + query.Encode())
	h.want("the order as it is signed", page, http.StatusOK, `channels: [{"kind":"terminal"}]; mode: "monitoring"`)
	if got := admin.order(query.Encode()); got.status != http.StatusSeeOther || got.location != "/system" {
		t.Fatalf("ordering it: %d\n%s", got.status, got.body)
	}
	if h.logged(interlock.EventMode, `"method":"passkey"`) != 1 || h.logged(interlock.EventMode, "terminal") != 0 {
		t.Error("the log does not say how the order was proved, or says what it binds by digest")
	}
	order, err := h.backend.SettingsOrder(t.Context())
	if err != nil || order.Problem != "" || string(order.Departures["channels"]) != `[{"kind":"terminal"}]` || order.At.After(time.Now()) {
		t.Errorf("what stands: %+v %v", order, err)
	}
}
