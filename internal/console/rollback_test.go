package console_test

import (
	"net/http"
	"strings"
	"testing"

	"interlock/internal/quorum"
)

// TestRollbackPlan: whoever reads the log reads what has to be undone, as data; nobody else does, and what names nothing is refused.
func TestRollbackPlan(t *testing.T) {
	h := open(t)
	rosa, olga := h.in("rosa", quorum.RoleAuditor), h.in("olga", quorum.RoleOperator)
	const path = "/rollback/plan?agent=claude&since=2020-01-01T00:00:00Z"
	h.want("by an operator", olga.get(path), http.StatusForbidden, "may not")
	got := rosa.get(path)
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"schema":"interlock.rollback/v1","agent":"claude"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	h.want("nothing named", rosa.get("/rollback/plan"), http.StatusBadRequest, "say what is rolled back")
	h.want("no time", rosa.get("/rollback/plan?agent=claude&since=yesterday"), http.StatusBadRequest, "is a time such as")
}
