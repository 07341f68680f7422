package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/internal/replay"
)

// TestPastPage: the page asks what it was asked, says what came of it and what decides in the shadow, to viewers without the words
// of actions; whatever an agent wrote stays text.
func TestPastPage(t *testing.T) {
	h := open(t)
	admin, viewer := h.in("ada", quorum.RoleAdmin), h.in("vic", quorum.RoleViewer)
	var asked []replay.Question
	report := replay.Report{Ruleset: "sha256:0123456789abcdef", Decisions: 12, Questions: [2]float64{1, 2.5},
		Newly: map[string]int{"deny": 2, "halt": 1, "ask": 4}, Skipped: map[replay.Code]int{"MISSING_SNAPSHOT": 7},
		Changes: []replay.Change{{Agent: "claude" + hostile, Rule: "team.npm", Was: interlock.Allow, Now: interlock.Deny, Count: 3,
			Examples: []replay.Example{{Event: strings.Repeat("ab", 32), Index: 5, Reason: "secret plans" + hostile}}}}}
	h.whatIf = func(q replay.Question) (replay.Report, error) {
		asked = append(asked, q)
		return report, nil
	}
	page := admin.get("/rules/past")
	h.want("before anything is asked", page, http.StatusOK, "No ruleset decides in the shadow")
	if len(asked) > 0 {
		t.Errorf("nobody asked, and the past was tried: %+v", asked)
	}
	page = admin.get("/rules/past?rule=fs.delete-root&agent=claude&days=3")
	h.want("a rule", page, http.StatusOK, "What fs.delete-root did in 3 days")
	clean(t, "the past", page)
	for _, part := range []string{`data-name="denied">3<`, `data-name="asked">4<`, `data-name="allowed">0<`, "7 could not be tried: MISSING_SNAPSHOT",
		"1.0 then, 2.5 now", `data-name="times">3<`, `href="/rules/team.npm"`, "secret plans", `/decisions/` + strings.Repeat("ab", 32)} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if len(asked) != 1 || asked[0].Rule != "fs.delete-root" || asked[0].Agent != "claude" || asked[0].Candidate {
		t.Fatalf("it asked %+v", asked)
	}
	if ago := h.now().Sub(asked[0].Since); ago < 71*time.Hour || ago > 73*time.Hour {
		t.Errorf("since %v ago", ago)
	}
	h.shadow = replay.ShadowState{InForce: "sha256:ff", Began: h.now(), Until: h.now(), Over: true,
		Shadow: &replay.ShadowReport{Report: report, Dropped: 9, Failed: 8, Others: 6}}
	page = viewer.get("/rules/past?rules=shadow")
	h.want("a viewer", page, http.StatusOK, "which is over")
	clean(t, "the shadow", page)
	for _, part := range []string{"9 left out because there was no room", "8 it could not make", "6 others that differ",
		`data-name="shadowed">12<`, `value="shadow" selected`} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(page.body, "secret plans") || !asked[len(asked)-1].Candidate {
		t.Errorf("a viewer reads the words of actions, or other rules were tried: %+v", asked[len(asked)-1])
	}
	for query, want := range map[string]string{"days=0": "is not 1 to 90", "days=x": "is not 1 to 90", "rules=mine": "are no rules",
		"rule=" + strings.Repeat("x", 300): "is longer than"} {
		h.want(query, admin.get("/rules/past?"+query), http.StatusBadRequest, want)
	}
	h.whatIf = func(replay.Question) (replay.Report, error) {
		return replay.Report{}, interlock.Errorf(interlock.CodeLimited, "", "rules are being tried on the past already")
	}
	h.want("while another is tried", admin.get("/rules/past?days=1"), http.StatusTooManyRequests, "being tried on the past already")
	h.whatIf = func(replay.Question) (replay.Report, error) { return replay.Report{}, fmt.Errorf("/secret/path") }
	if page := admin.get("/rules/past?days=1"); page.status != http.StatusInternalServerError || strings.Contains(page.body, "/secret/path") {
		t.Errorf("%d %s", page.status, page.body)
	}
	// There is a button at each rule.
	h.want("a rule's own page", admin.get("/rules/fs.delete-root"), http.StatusOK, "What would this have done last week?")
	h.want("the list", admin.get("/rules"), http.StatusOK, `href="/rules/past?rule=fs.delete-root"`)
}
