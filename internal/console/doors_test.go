package console_test

import (
	"net/http"
	"testing"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

// TestStrangersVoidNoLogin: however often the login page is loaded by whoever, the question somebody has before them still counts,
// once; so does that of an enrolment.
func TestStrangersVoidNoLogin(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	b.do(http.MethodPost, "/logout", b.form(b.get("/sessions"), "/logout"))
	login := b.get("/login")
	secret, another := h.hire("otto", "operator"), h.browser()
	enrolment := another.get("/enrol?operator=otto")
	stranger := h.browser()
	for n := range 1030 {
		path := "/login"
		if n%2 == 1 {
			path = "/enrol?operator=otto"
		}
		if got := stranger.get(path); got.status != http.StatusOK {
			t.Fatalf("%s: %d", path, got.status)
		}
	}
	form := b.form(login, "/login", "assertion", b.sign(b.challenge(login, "/login")))
	if got := b.do(http.MethodPost, "/login", form); got.status != http.StatusSeeOther {
		t.Errorf("the login in progress: %d\n%s", got.status, got.body)
	}
	form.Set("csrf", b.form(b.get("/sessions"), "/logout").Get("csrf"))
	h.want("the same answer again", b.do(http.MethodPost, "/login", form), http.StatusConflict, "used already")
	if got := another.do(http.MethodPost, "/enrol", another.form(enrolment, "/enrol", "secret", secret, "name", "test key",
		"credential", string(another.Create(another.challenge(enrolment, "/enrol"))))); got.status != http.StatusSeeOther {
		t.Errorf("the enrolment in progress: %d\n%s", got.status, got.body)
	}
}

// TestWrongTriesLockNobodyOut: behind one address, wrong tries are limited and right ones are not: by passkey, by a login link, by
// an enrolment link.
func TestWrongTriesLockNobodyOut(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	secret := h.hire("otto", "operator")
	b.do(http.MethodPost, "/logout", b.form(b.get("/sessions"), "/logout"))
	stranger := h.browser()
	limited := 0
	for range 40 {
		form := stranger.form(stranger.get("/login"), "/login", "assertion", stranger.sign([]byte("another challenge of 32 bytes...")))
		if got := stranger.do(http.MethodPost, "/login", form); got.status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 15 {
		t.Errorf("%d of 40 wrong tries were limited", limited)
	}
	if got := b.login(); got.status != http.StatusSeeOther {
		t.Errorf("a right passkey: %d\n%s", got.status, got.body)
	}
	b.byTicket("olga") // fails the test if it does not let her in
	if got := h.browser().enrol("otto", secret); got.status != http.StatusSeeOther {
		t.Errorf("a right enrolment: %d\n%s", got.status, got.body)
	}
	h.want("one more wrong try", stranger.do(http.MethodPost, "/login", stranger.form(stranger.get("/login"), "/login", "assertion", "{}")),
		http.StatusTooManyRequests, "proved nothing")
}

// TestABatchNamesARequestOnce: a form that names a request twice answers nothing, not even what it names once.
func TestABatchNamesARequestOnce(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	one, two := h.ask("claude", "DELETE FROM a"), h.ask("codex", "DELETE FROM b")
	for verb, verdict := range map[string]interlock.Verdict{"approve": interlock.Allow, "deny": interlock.Deny} {
		statement := func(id string) string { return quorum.Statement(h.request(id), verdict, "olga") }
		page := b.get("/pending")
		signed := []string{statement(one), statement(two), statement(one)}
		form := b.form(page, "/pending", "assertion", b.sign(identity.StatementChallenge(signed...)), "verb", verb)
		form["id"] = []string{one, two, one}
		h.want(verb+" twice", b.do(http.MethodPost, "/pending", form), http.StatusBadRequest, "is named twice; nothing was answered")
	}
	for _, id := range []string{one, two} {
		if got := h.request(id); got.Status != "pending" {
			t.Errorf("%s is %q", id, got.Status)
		}
	}
}
