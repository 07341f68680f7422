package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/setup"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/quorum"
	"interlock/internal/webpush"
	"interlock/internal/webpush/pushtest"
)

// TestServerTellsBrowsers: a browser is told of what is asked after it was switched on, of much at once in few messages, never of what a
// harness asks its own user; doctor says when it isn't reached, and a revoked operator's is told no more.
func TestServerTellsBrowsers(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	settings.PushHosts = []string{"127.0.0.1"}
	backend, err := embedded.OpenConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	settings = backend.Settings
	olga := interlock.OperatorRecord{Name: "olga", Role: quorum.RoleOperator, Created: cli.Now().UTC()}
	if err := backend.PutOperator(t.Context(), olga); err != nil {
		t.Fatal(err)
	}
	service, err := pushtest.New()
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	said := &bytes.Buffer{}
	teller := &teller{backend: backend, push: newSender(settings, backend), logger: slog.New(slog.NewTextHandler(said, nil)),
		told: map[string]notice.Notice{}}
	began := cli.Now()
	ask := func(branch, door string) {
		t.Helper()
		answer := backend.Propose(t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell,
			Input: "git push --force origin " + branch, Dir: "/srv/shop"}, Door: door, CanAsk: true,
			Requester: interlock.Requester{Agent: "builder", Principal: "dana"}, View: interlock.View{Workspace: "/srv/shop"}})
		if answer.Request == "" {
			t.Fatalf("%+v", answer)
		}
	}
	look := func() {
		t.Helper()
		if !teller.tell(t.Context(), began) {
			t.Fatal("what waits can't be read")
		}
	}
	if _, err := os.Stat(filepath.Join(home, "push.key")); err == nil {
		t.Error("a key is made although nobody wants to be told")
	}
	ask("earlier", "test")
	look()
	key, auth := service.Keys()
	browser := webpush.Browser{Name: "a phone", Endpoint: service.Endpoint(), Key: key, Auth: auth}
	id, err := teller.push.Check(t.Context(), "olga", browser)
	if err == nil {
		err = teller.push.Begin(t.Context(), id, olga, browser)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask("in-the-harness", "hook")
	for n := range maxPushed + 3 {
		ask(fmt.Sprint("branch-", n), "test")
	}
	look()
	look()
	// The service's certificate is one that nobody trusts, so that nothing arrives: which is counted, and told by doctor.
	if n := strings.Count(said.String(), "certificate is not trusted"); n != maxPushed+1 || strings.Contains(said.String(), "secret-of-this-browser") {
		t.Errorf("%d messages were tried:\n%s", n, said)
	}
	if info, err := os.Stat(filepath.Join(home, "push.key")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the key: %v, %v", info, err)
	}
	examined := func() string {
		t.Helper()
		d := &setup.Diagnosis{Program: &cli.Program{Ctx: t.Context(), Getenv: func(string) string { return "" }}, Settings: settings}
		d.Browsers(t.Context(), backend)
		text, err := json.Marshal(d.Checks)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := examined(); !strings.Contains(got, `"notifications","status":"warn","detail":"1 browser is told, 1 of them isn't reached`) {
		t.Errorf("doctor says %s", got)
	}
	olga.Revoked = cli.Now().UTC()
	if err := backend.PutOperator(t.Context(), olga); err != nil {
		t.Fatal(err)
	}
	ask("after-all", "test")
	look()
	list, err := backend.Subscriptions(t.Context())
	if err != nil || len(list) > 0 || examined() != "null" {
		t.Errorf("a revoked operator is told: %+v, %v", list, err)
	}
	if rows, _, err := backend.Store.Load(t.Context(), ledger.Ref{Kind: ledger.Subscription, Key: id}); err != nil ||
		strings.Contains(string(rows[0].Body), "secret-of-this-browser") {
		t.Errorf("%s, %v", rows[0].Body, err)
	}
}
