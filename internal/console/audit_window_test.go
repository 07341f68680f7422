package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestAuditorsReadForATime: an auditor reads what a viewer does not, each page that they open is recorded before they see it, and when their
// time is over they see what a viewer does.
func TestAuditorsReadForATime(t *testing.T) {
	spec.Covers(t, "MACE-ROLE-3")
	h := open(t)
	aud, vic := h.in("aud", quorum.RoleAuditor), h.in("vic", quorum.RoleViewer)
	done := h.act("scout", "r1", shell("touch the-secret-plan"))
	opened := func() int { return h.logged(interlock.EventAccess, `"operator":"aud"`) }
	before := opened()
	h.want("the log", aud.get("/audit"), http.StatusOK, "scout")
	if page := aud.get("/decisions/" + done.Event); !strings.Contains(page.body, "the-secret-plan") {
		t.Errorf("an auditor reads %d\n%s", page.status, text(page.body))
	}
	if n := opened() - before; n != 2 || h.logged(interlock.EventAccess, `"subject":"GET /decisions/`+done.Event) != 1 {
		t.Errorf("%d of two pages are recorded", n)
	}
	if page := vic.get("/decisions/" + done.Event); strings.Contains(page.body, "the-secret-plan") || h.logged(interlock.EventAccess, `"operator":"vic"`) > 0 {
		t.Errorf("a viewer reads\n%s", text(page.body))
	}
	auditor := func(since time.Duration) {
		t.Helper()
		if err := h.backend.UpdateOperator(t.Context(), "aud", func(o *interlock.OperatorRecord) error {
			o.Since = h.now().Add(-since)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	before = opened()
	auditor(90 * 24 * time.Hour)
	h.want("the log, too late", aud.get("/audit"), http.StatusForbidden, "may not")
	if page := aud.get("/decisions/" + done.Event); strings.Contains(page.body, "the-secret-plan") || opened() != before {
		t.Errorf("too late an auditor reads\n%s", text(page.body))
	}
	auditor(89 * 24 * time.Hour)
	h.want("the log, in time", aud.get("/audit"), http.StatusOK, "scout")
}
