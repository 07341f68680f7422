package console_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/webpush"
)

// push is a sender whose messages reach nobody: the push service they are for is at an address inside.
func (h *house) push() webpush.Config {
	secret, err := webpush.NewKey(rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	return webpush.Config{Rows: h.backend, Contact: "mailto:a@example.com", Now: h.now, Key: func() (webpush.Key, error) {
		if h.noKey {
			return webpush.Key{}, errors.New("the key is damaged")
		}
		return webpush.ParseKey(secret)
	}, InOffice: func(context.Context, string, time.Time) (bool, error) { return true, nil }}
}

// subscription is what a browser says that wants to be told.
func subscription(t *testing.T, endpoint string) []string {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"endpoint", endpoint, "p256dh", base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()),
		"auth", base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef"))}
}

// TestNotifications: who answers can have a browser told, which is recorded without its address, and switch it off again; nobody else can.
func TestNotifications(t *testing.T) {
	h := open(t)
	olga, vera := h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	const secret = "https://nobody.push.example/secret-of-this-browser"
	told := func() []ledger.SubscriptionBody {
		t.Helper()
		list, err := h.backend.Subscriptions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	h.want("the health of nobody", olga.get("/"), http.StatusOK, "no browser is told")
	if page := vera.get("/sessions").body; strings.Contains(page, "/notifications") {
		t.Error("who answers nothing is offered notifications")
	}
	csrf := vera.form(vera.get("/sessions"), "/logout")
	h.want("a viewer", vera.do(http.MethodPost, "/notifications", csrf), http.StatusForbidden, "may not do this")
	page := olga.get("/sessions")
	h.want("inside", olga.do(http.MethodPost, "/notifications", olga.form(page, "/notifications", subscription(t, "https://127.0.0.1/x")...)),
		http.StatusBadRequest, "at an address inside")
	form := olga.form(page, "/notifications", subscription(t, secret)...)
	forged := url.Values{"endpoint": form["endpoint"], "p256dh": form["p256dh"], "auth": form["auth"]}
	h.want("without the page's token", olga.do(http.MethodPost, "/notifications", forged), http.StatusForbidden, "did not come from a page")
	if len(told()) > 0 {
		t.Fatal("a browser is told that was refused")
	}
	if got := olga.do(http.MethodPost, "/notifications", form); got.status != http.StatusSeeOther || got.location != "/sessions#notifications" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	list := told()
	if len(list) != 1 || list[0].Operator != "olga" || list[0].Endpoint != secret || list[0].Browser != "TestBrowser/1.0" {
		t.Fatalf("%+v", list)
	}
	page = olga.get("/sessions")
	h.want("the page", page, http.StatusOK, list[0].ID)
	clean(t, "/sessions", page)
	if strings.Contains(page.body, "secret-of-this-browser") {
		t.Error("the page shows the address")
	}
	if h.logged(interlock.EventSession, `"what":"subscribed"`) != 1 || h.logged(interlock.EventSession, "secret-of-this-browser") > 0 {
		t.Error("it is not recorded, or its address is")
	}
	h.want("a test", olga.do(http.MethodPost, "/notifications/test", olga.form(page, "/notifications/test")), http.StatusServiceUnavailable,
		"it could not be sent")
	h.want("the page after it", olga.get("/sessions"), http.StatusOK, "1 message since did not arrive")
	h.want("the health after it", olga.get("/"), http.StatusOK, "1 browser is told, 1 of them isn't reached")

	mallory := h.in("mallory", quorum.RoleAdmin)
	csrf = mallory.form(mallory.get("/sessions"), "/logout")
	csrf.Set("id", list[0].ID)
	h.want("another's", mallory.do(http.MethodPost, "/notifications/end", csrf), http.StatusNotFound, "no browser of yours")
	h.want("a test of another's", mallory.do(http.MethodPost, "/notifications/test", csrf), http.StatusNotFound, "no browser of yours")
	if got := olga.do(http.MethodPost, "/notifications/end", olga.form(page, "/notifications/end")); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if len(told()) > 0 || h.logged(interlock.EventSession, `"what":"unsubscribed"`) != 1 {
		t.Errorf("it is told all the same, or nothing is recorded: %+v", told())
	}
	h.noKey = true
	h.want("without a key", olga.get("/sessions"), http.StatusOK, "They can't be switched on: the key is damaged")
}

// TestPushWorker: the script that browsers run without a page comes from beside the pages, or it could not speak for them.
func TestPushWorker(t *testing.T) {
	h := open(t)
	got := h.browser().get("/push-worker.js")
	h.want("the worker", got, http.StatusOK, "showNotification")
	if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") {
		t.Errorf("it is %q", kind)
	}
}
