package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

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
