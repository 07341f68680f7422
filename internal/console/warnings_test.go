package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestWarnings: what is wrong with hooks or the log stands on every page of whoever is signed in, comes to pages that are open, and is
// text whatever it holds.
func TestWarnings(t *testing.T) {
	h := open(t)
	b := h.in("vera", "viewer")
	if page := b.get("/"); strings.Contains(page.body, `role="alert"`) || !strings.Contains(page.body, `hx-get="/warnings"`) {
		t.Error("a quiet house has warnings, or nothing asks for them")
	}
	h.wrong = []string{"settings.json registers nothing for <b>PreToolUse</b> any more"}
	for _, path := range []string{"/", "/pending", "/system", "/warnings"} {
		page := b.get(path)
		if !strings.Contains(page.body, "registers nothing for &lt;b&gt;PreToolUse") {
			t.Errorf("%s: %d without the warning", path, page.status)
		}
	}
	if page := b.get("/warnings"); strings.Contains(page.body, "<html") {
		t.Error("a part is a whole page")
	}
	if page := h.browser().get("/warnings"); page.status != http.StatusNoContent || page.body != "" {
		t.Errorf("whoever is not signed in is told: %d %s", page.status, page.body)
	}
	if page := h.browser().get("/login"); strings.Contains(page.body, "registers nothing") {
		t.Error("the login page tells")
	}
}
