package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/httpapi"
	"interlock/spec"
)

// TestSafetyReport: what is reported is recorded under the name of whoever's token it is, and what it names beside that is refused.
func TestSafetyReport(t *testing.T) {
	spec.Covers(t, "MACE-12-14")
	h := newHouse(t, httpapi.Limits{})
	for name, c := range map[string]struct {
		token, body, says string
		status            int
	}{
		"a report":             {liveToken, `{"title":"a way past","text":"so"}`, `"event_id":"e-builder"`, http.StatusOK},
		"nobody's":             {"", `{"title":"a way past","text":"so"}`, "unauthorized", http.StatusUnauthorized},
		"under another's name": {liveToken, `{"title":"x","text":"so","requester":{"agent":"other"}}`, "local socket only", http.StatusForbidden},
		"with a state":         {liveToken, `{"title":"x","text":"so","state":"mended"}`, "state", http.StatusBadRequest},
		"without a title":      {liveToken, `{"text":"so"}`, "title", http.StatusBadRequest},
		"no object":            {liveToken, `7`, "invalid", http.StatusBadRequest},
	} {
		got := h.do(h.server.Handler(), http.MethodPost, "/safety/report", c.token, c.body)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %d and %q", name, got.Code, got.Body, c.status, c.says)
		}
	}
}

// TestOneEvent: an agent reads an event of its own without what it wanted, no event of another's, and none under a profile whose log is
// for people; a path that nobody serves is a page's for who asks for pages, and JSON for who asks for that or for a path of the API.
func TestOneEvent(t *testing.T) {
	spec.Covers(t, "MACE-12-13")
	h := newHouse(t, httpapi.Limits{}, func(c *httpapi.Config) {
		c.Pages = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	})
	decided := h.do(h.server.Handler(), http.MethodPost, "/v1/decide", liveToken, `{"kind":"shell","input":"one"}`)
	var answer struct {
		Event string `json:"event_id"`
	}
	if err := json.Unmarshal(decided.Body.Bytes(), &answer); err != nil || answer.Event == "" {
		t.Fatalf("%s: %v", decided.Body, err)
	}
	receipt, err := h.backend.append(interlock.EventBlock, "agent", "builder", map[string]any{"action_digest": "sha256:0a",
		"reason": "the secret plan", "order": map[string]any{"operator": "olga", "detail": "the secret plan"},
		"arguments": map[string]any{"agent": "the secret plan", "id": 7}})
	if err != nil {
		t.Fatal(err)
	}
	id := receipt.Events[0]
	for _, prefix := range []string{"/safety/events/", "/governance/events/", "/audit/event/"} {
		own := h.do(h.server.Handler(), http.MethodGet, prefix+id, liveToken, "")
		if body := own.Body.String(); own.Code != http.StatusOK || !strings.Contains(body, `"event_id":"`+id+`"`) ||
			!strings.Contains(body, `"payload":{"action_digest":"sha256:0a","order":{"operator":"olga"},"redacted":true}`) {
			t.Errorf("%s: %d %s", prefix, own.Code, body)
		}
		if other := h.do(h.server.Handler(), http.MethodGet, prefix+id, otherToken, ""); other.Code != http.StatusNotFound {
			t.Errorf("%s of another's: %d %s", prefix, other.Code, other.Body)
		}
	}
	asPage := h.do(h.server.Handler(), http.MethodGet, "/nothing", "", "")
	if asPage.Code != http.StatusTeapot {
		t.Errorf("a page: %d", asPage.Code)
	}
	for _, path := range []string{"/v1/nothing", "/safety/nothing", "/replay/request", "/pii/detect_and_handle"} {
		got := h.do(h.server.Handler(), http.MethodGet, path, "", "")
		if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), `"code":"not_found"`) {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	people := newHouse(t, httpapi.Limits{}, func(c *httpapi.Config) { c.LogForPeople = true })
	if got := people.do(people.server.Handler(), http.MethodGet, "/safety/events/"+id, liveToken, ""); got.Code != http.StatusForbidden {
		t.Errorf("where the log is for people: %d %s", got.Code, got.Body)
	}
}
