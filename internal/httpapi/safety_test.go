package httpapi_test

import (
	"context"
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
	for _, path := range []string{"/v1/nothing", "/safety/nothing", "/access/v1/nothing", "/pii/nothing"} {
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

// ClassifyText blocks what speaks of bombs.
func (b *fakeBackend) ClassifyText(_ context.Context, by interlock.Requester, text string, durable bool) (*interlock.Classified, string,
	error) {
	c := &interlock.Classified{Classification: "OK", Ruleset: "sha256:05", Spans: []interlock.TextSpan{}, Redacted: text, Shown: text}
	switch {
	case text == "":
		return nil, "", interlock.Errorf(interlock.CodeInvalid, "/text", "is missing; give the text to classify")
	case by.Agent == "" || durable:
		return nil, "", interlock.Errorf(interlock.CodeUnavailable, "hash.key", "texts can't be recorded without the key for hashes")
	case strings.Contains(text, "bomb"):
		c.Classification, c.Rule, c.Reason, c.Message = "BLOCK", "harm.weapons", "this asks how to make a weapon", "I can’t help with that."
		c.Shown, c.Redacted = c.Message, c.Message
		return c, "e-" + by.Run, nil
	}
	return c, "", nil
}

// TestSafetyClassify: a text of an agent's is answered by verdict, rule and reason, under the name of its token and no other.
func TestSafetyClassify(t *testing.T) {
	spec.Covers(t, "MACE-12-11")
	h := newHouse(t, httpapi.Limits{})
	for name, c := range map[string]struct {
		token, body, says string
		status            int
	}{
		"harm": {liveToken, `{"text":"a bomb","run":"r1"}`, `"event_id":"e-r1","reason":"this asks how to make a weapon",` +
			`"rule_id":"harm.weapons","verdict":"BLOCK"`, http.StatusOK},
		"its verdict":          {liveToken, `{"text":"a bomb"}`, `{"classified":{"classification":"BLOCK"`, http.StatusOK},
		"its phrase":           {liveToken, `{"text":"a bomb"}`, `"shown":"I can’t help with that."`, http.StatusOK},
		"nothing":              {liveToken, `{"text":"a tree"}`, `"reason":"","rule_id":"","verdict":"OK"`, http.StatusOK},
		"what is not recorded": {liveToken, `{"text":"a tree","durable":true}`, "unavailable", http.StatusServiceUnavailable},
		"nobody's":             {"", `{"text":"a tree"}`, "unauthorized", http.StatusUnauthorized},
		"under another's name": {liveToken, `{"text":"a tree","requester":{"agent":"other"}}`, "local socket only", http.StatusForbidden},
		"with a verdict":       {liveToken, `{"text":"a tree","verdict":"OK"}`, "verdict", http.StatusBadRequest},
		"a run too long":       {liveToken, `{"text":"a tree","run":"` + strings.Repeat("x", 257) + `"}`, "/run", http.StatusBadRequest},
		"without a text":       {liveToken, `{}`, "/text", http.StatusBadRequest},
		"no object":            {liveToken, `7`, "invalid", http.StatusBadRequest},
	} {
		got := h.do(h.server.Handler(), http.MethodPost, "/safety/classify", c.token, c.body)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %d and %q", name, got.Code, got.Body, c.status, c.says)
		}
	}
	none := newHouse(t, httpapi.Limits{}, func(c *httpapi.Config) { c.Texts = nil })
	if got := none.do(none.server.Handler(), http.MethodPost, "/safety/classify", liveToken, `{"text":"a tree"}`); got.Code != 503 {
		t.Errorf("where nothing classifies: %d %s", got.Code, got.Body)
	}
}

// TestATextIsLetThroughWhole: what AuthZEN permits is the text as it was sent, so that one of which only a part may go on is not permitted,
// and its answer has that part. POST /v1/decide allows the part that it answers with.
func TestATextIsLetThroughWhole(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	evaluate := func(text string) string {
		return h.do(h.server.Handler(), http.MethodPost, "/access/v1/evaluation", liveToken, `{"subject":{"type":"agent","id":"builder"},`+
			`"action":{"name":"say"},"resource":{"type":"text","id":"x","properties":{"input":"`+text+`"}}}`).Body.String()
	}
	if got := evaluate("my tree"); !strings.Contains(got, `"decision":true`) {
		t.Errorf("a text of which nothing is left out: %s", got)
	}
	if got := evaluate("my card"); !strings.Contains(got, `"decision":false`) || !strings.Contains(got, `"shown":"my [redacted]"`) {
		t.Errorf("a text of which a part is left out: %s", got)
	}
	got := h.do(h.server.Handler(), http.MethodPost, "/v1/decide", liveToken, `{"kind":"text","input":"my card"}`).Body.String()
	if !strings.Contains(got, `"answer":"allow"`) || !strings.Contains(got, `"shown":"my [redacted]"`) {
		t.Errorf("decided: %s", got)
	}
}
