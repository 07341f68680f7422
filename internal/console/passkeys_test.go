package console_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/console"
	"interlock/internal/store/storagetest"
)

// TestRemovePasskey: an operator takes the passkey of a lost device away. Its sessions end, it logs nobody in, and neither the
// last way in nor another's passkey goes like that.
func TestRemovePasskey(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	ids := func(name string) (ids []string) {
		standing, err := h.backend.Ground(t.Context(), storagetest.Everything()...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range standing.Operators[name].Passkeys {
			ids = append(ids, p.ID)
		}
		return ids
	}
	first := ids("olga")[0]
	h.want("the last way in", b.do(http.MethodPost, "/passkeys/remove", b.form(b.get("/sessions"), "/passkeys/remove")), http.StatusConflict, "the only way in")

	enrolment, secret, err := console.NewEnrolment(nil, h.now())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.backend.UpdateOperator(t.Context(), "olga",
		func(o *interlock.OperatorRecord) error { o.Enrolment = &enrolment; return nil }); err != nil {
		t.Fatal(err)
	}
	second := h.browser()
	if got := second.enrol("olga", secret); got.status != http.StatusSeeOther {
		t.Fatalf("a second passkey: %d %s", got.status, got.body)
	}
	both := ids("olga")
	stranger := h.in("otto", "admin")
	h.want("another operator's", stranger.do(http.MethodPost, "/passkeys/remove", url.Values{
		"csrf": {stranger.form(stranger.get("/sessions"), "/logout").Get("csrf")}, "id": {first}}), http.StatusNotFound, "no passkey with this id")
	form := second.form(second.get("/sessions"), "/passkeys/remove", "id", first)
	forged := url.Values{"id": form["id"]}
	h.want("without the page's token", second.do(http.MethodPost, "/passkeys/remove", forged), http.StatusForbidden, "did not come from a page of this console")
	if diff := cmp.Diff(both, ids("olga")); diff != "" {
		t.Fatalf("what must not have happened (-before +after):\n%s", diff)
	}
	if got := second.do(http.MethodPost, "/passkeys/remove", form); got.status != http.StatusSeeOther {
		t.Fatalf("removing it: %d %s", got.status, got.body)
	}
	if diff := cmp.Diff(both[1:], ids("olga")); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("a session of the removed passkey: %d", got.status)
	}
	h.want("its login", b.login(), http.StatusForbidden, "not registered here")
	h.want("the other one's session", second.get("/sessions"), http.StatusOK, "olga (operator)")
	if got := h.logged(interlock.EventSession, `"what":"removed"`); got != 1 {
		t.Errorf("%d events of a removal", got)
	}
}
