package console_test

import (
	"html"
	"strings"
	"testing"

	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
)

// TestSystemSaysWhatIsHeld: what is held stands on the system's page with why and what ends it, and so does that nobody ordered the rules.
func TestSystemSaysWhatIsHeld(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	says := func(want bool, texts ...string) {
		t.Helper()
		page := b.get("/system")
		clean(t, "system", page)
		for _, part := range texts {
			if strings.Contains(html.UnescapeString(page.body), part) != want {
				t.Errorf("%q is on the page: %v", part, !want)
			}
		}
	}
	says(false, "Held", "Ordered by", "Not in force")
	if err := h.backend.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Why: "it is <not> there"}); err != nil {
		t.Fatal(err)
	}
	change := storagetest.Decision("a")
	change.Writes = ledger.Settings(map[string]string{"rules_ordered": core.RulesUnordered, "rules_refused": "sha256:02"})
	if _, err := h.backend.Store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	says(true, "every breaker is closed")
	for _, tight := range []containment.Tightening{{Scope: ledger.HoldSystem, Key: phase.SystemKey, To: phase.Emergency,
		Why: "an <attack>"},
		{Scope: ledger.HoldBreaker, Key: "agent:builder", Why: "it cost too much"}} {
		if err := h.backend.Tighten(t.Context(), tight); err != nil {
			t.Fatal(err)
		}
	}
	says(true, "system:all", "phase E (emergency)", "an <attack>", "agent:builder", "breaker open")
	says(false, "every breaker is closed")
	says(true, "ruleset:sha256:01", "it is <not> there", "INTEGRITY_FAILURE", "interlock hold clear", "Ordered by", "Not in force",
		"interlock rules adopt")
}
