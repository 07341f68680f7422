package httpapi_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

// TestFilesAreReadForTheLocalDoorAlone: an agent behind the network must not learn from an answer what a file holds.
func TestFilesAreReadForTheLocalDoorAlone(t *testing.T) {
	backend := newBackend(t)
	backend.standing = ledger.Standing{Version: 1, Agents: map[string]interlock.AgentRecord{
		"builder": {ID: "builder", TokenHash: identity.HashToken(liveToken)}}}
	texts := map[string]string{"/w/a.sh": "ls"}
	server, err := httpapi.New(httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, User: "dana",
		Read: func(interlock.View, []string) map[string]string { return texts }})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{backend: backend, server: server}
	const body = `{"kind":"shell","input":"./a.sh","dir":"/w"}`
	if got := h.do(server.LocalHandler(), "POST", "/v1/decide", "", body); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if got := h.do(server.Handler(), "POST", "/v1/decide", liveToken, body); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	var read []map[string]string
	for _, p := range backend.seen {
		if p.Read == nil {
			read = append(read, nil)
			continue
		}
		read = append(read, p.Read(p.View, nil))
	}
	if diff := cmp.Diff([]map[string]string{texts, nil}, read); diff != "" {
		t.Error(diff)
	}
}
