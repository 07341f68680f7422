package console_test

import (
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/quorum"
)

// TestStopEverything: an operator stops everything from the system's page, in so many words; only an admin lets it go on, with a passkey
// or a key of their own and not by a session's word; and the page says what stands.
func TestStopEverything(t *testing.T) {
	h := open(t)
	ada, olga, vera := h.in("ada", quorum.RoleAdmin), h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	if page := vera.get("/system"); strings.Contains(page.body, `value="kill"`) {
		t.Error("a viewer is offered to stop everything")
	}
	for name, query := range map[string]string{"no way": "verb=kill&how=softly", "a release of nothing": "verb=release-kill"} {
		if got := ada.order(query + "&reason=x&subject=everything"); got.location == "/system" {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	h.want("by a viewer", vera.order("verb=kill&how=hard&reason=x&subject=everything"), http.StatusForbidden, "may not")
	if got := olga.order("verb=kill&how=hard&reason=the+fraud+desk+called&subject=everything"); got.location != "/system" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if _, any, err := h.backend.Killed(t.Context()); err != nil || !any {
		t.Fatalf("nothing is stopped, %v", err)
	}
	page := ada.get("/system")
	clean(t, "system", page)
	for _, part := range []string{"Everything is stopped (stopped)", "by olga", "the fraud desk called", "Let everything go on"} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
	if strings.Contains(page.body, "hold clear") {
		t.Error("the page says that a stop is a hold to be cleared")
	}
	h.want("by an operator", olga.order("verb=release-kill&reason=x&subject=everything"), http.StatusForbidden, "may not")
	const release = "verb=release-kill&reason=a+false+alarm&subject=everything"
	if ticket := h.in("adam", quorum.RoleAdmin).byTicket("adam").order(release); ticket.location == "/system" {
		t.Error("a session's word lets everything go on")
	}
	if _, any, _ := h.backend.Killed(t.Context()); !any {
		t.Fatal("released")
	}
	if got := ada.order(release); got.location != "/system" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, any, _ := h.backend.Killed(t.Context()); any || h.logged(interlock.EventKill, "fraud desk") != 1 ||
		h.logged(interlock.EventKillRelease, "false alarm") != 1 {
		t.Error("not released, or not recorded")
	}
}

// TestTheLastDrillIsShown: the system's page says what the newest drill has found, and that there was none.
func TestTheLastDrillIsShown(t *testing.T) {
	h := open(t)
	ada := h.in("ada", quorum.RoleAdmin)
	h.want("no drill", ada.get("/system"), http.StatusOK, "No drill lately")
	for _, seen := range []string{"the server NOT stopped after 30.1 s", "the server stopped after 0.2 s " + hostile[:30]} {
		if err := h.backend.Alarm(t.Context(), "kill-drill", "a drill of the stop of everything: "+seen); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.backend.Alarm(t.Context(), "other", "no drill at all"); err != nil {
		t.Fatal(err)
	}
	ada.counted("/")
	page := ada.get("/system")
	clean(t, "drill", page)
	if said := plain(page); !strings.Contains(said, "The last drill:") || !strings.Contains(said, "stopped after 0.2 s") ||
		strings.Contains(said, "30.1 s") {
		t.Errorf("the page does not tell of the newest drill:\n%s", said)
	}
}
