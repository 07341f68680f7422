package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/quorum"
)

const asking = "git push --force origin main"

// TestSuppressFromAPage: an operator keeps a rule silent by a passkey, for what the order says and no more, and lets it speak again;
// who may not, is refused, and what protects systems can't be kept silent.
func TestSuppressFromAPage(t *testing.T) {
	h := open(t)
	olga, vic := h.in("olga", quorum.RoleOperator), h.in("vic", quorum.RoleViewer)
	decided := func(agent string, want interlock.Verdict) {
		t.Helper()
		if answer := h.act(agent, "r1", shell(asking)); answer.Verdict != want {
			t.Errorf("%s is answered %s, want %s: %+v", agent, answer.Verdict, want, answer.Findings)
		}
	}
	asked := h.act("claude", "r1", shell(asking))
	rule := asked.Decisive().Rule
	if asked.Verdict != interlock.Ask || rule == "" {
		t.Fatalf("%+v", asked.Decision)
	}
	page, at := olga.get("/rules/"+rule), "/rules/"+rule+"/suppress"
	h.want("a rule that may be kept silent", page, http.StatusOK, "You see the whole order before you sign it")
	shown := olga.do(http.MethodPost, at, olga.form(page, at, "agent", "claude", "command", "git push *", "days", "3", "reason", "a release"))
	h.want("the order", shown, http.StatusOK, `command: "git push *"`)
	clean(t, "the order", shown)
	if strings.Contains(shown.body, `value="session"`) {
		t.Error("whoever came in by a passkey may do without it")
	}
	signed := "/orders/" + between(shown.body, `action="/orders/`, `"`)
	decided("claude", interlock.Ask) // it is not signed yet
	got := olga.do(http.MethodPost, signed, olga.form(shown, signed, "assertion", olga.sign(olga.challenge(shown, signed))))
	if got.status != http.StatusSeeOther || got.location != "/rules/"+rule {
		t.Fatalf("signing it: %d %s %s", got.status, got.location, got.body)
	}
	if again := olga.do(http.MethodPost, signed, olga.form(shown, signed, "assertion", "x")); again.status != http.StatusConflict {
		t.Errorf("signing it twice: %d", again.status)
	}
	answer := h.act("claude", "r1", shell(asking))
	if f := answer.Decisive(); f != nil && f.Rule == rule {
		t.Errorf("the rule still speaks: %+v", f)
	}
	decided("codex", interlock.Ask)
	page = olga.get("/rules/" + rule)
	h.want("the rule's page", page, http.StatusOK, "for commands <code>git push *</code>")
	h.want("the list", olga.get("/rules?from=silent"), http.StatusOK, "silent in 1 place")
	h.want("a viewer is told that it is silent", vic.get("/rules?from=silent"), http.StatusOK, "silent in 1 place")
	if strings.Contains(vic.get("/rules").body, "a release") {
		t.Error("a viewer reads why")
	}
	if n := h.logged(interlock.EventSuppression, `"method":"passkey"`); n != 1 {
		t.Errorf("%d events say that a passkey signed it", n)
	}
	lift := "/suppressions/" + between(page.body, `action="/suppressions/`, "/") + "/lift"
	if got := vic.do(http.MethodPost, lift, vic.form(page, lift, "csrf", between(vic.get("/sessions").body, `name="csrf" value="`, `"`))); got.status !=
		http.StatusForbidden {
		t.Errorf("a viewer lifts it: %d", got.status)
	}
	if got := olga.do(http.MethodPost, lift, olga.form(page, lift)); got.status != http.StatusSeeOther {
		t.Fatalf("lifting it: %d %s", got.status, got.body)
	}
	decided("claude", interlock.Ask)
	h.want("what protects systems", olga.get("/rules/fs.delete-root"), http.StatusOK, "nobody can keep it silent")
	for want, fields := range map[string][]string{
		"no rule is suppressed everywhere":      {"days", "3", "reason", "x"},
		"is a whole number of days, at most 90": {"agent", "claude", "days", "91", "reason", "x"},
		"say why, for the record":               {"agent", "claude", "days", "3"},
		"a path is absolute":                    {"path", "srv", "days", "3", "reason", "x"},
	} {
		refused := olga.do(http.MethodPost, at, olga.form(page, at, fields...))
		h.want(fmt.Sprint(fields), refused, refused.status, want)
		if refused.status/100 != 4 {
			t.Errorf("%v: %d", fields, refused.status)
		}
	}
	root := "/rules/fs.delete-root/suppress"
	if got := olga.do(http.MethodPost, root, olga.form(page, at, "agent", "claude", "days", "3", "reason", "x")); got.status != http.StatusForbidden {
		t.Errorf("a rule that protects systems: %d %s", got.status, got.body)
	}
}

// between is what stands in a text after one mark and before another.
func between(text, after, before string) string {
	_, rest, _ := strings.Cut(text, after)
	found, _, _ := strings.Cut(rest, before)
	return found
}

// TestRulesFilter: rules are found by verdict, by whose they are and by when they spoke, and their page draws when that was.
func TestRulesFilter(t *testing.T) {
	h := open(t, "rules:\n  - {id: team.cows, layer: 3, kinds: [shell], match: {glob: ['cowsay *']}, verdict: deny, reason: quiet please, "+
		"tests: {block: ['cowsay x'], pass: ['ls']}}\n")
	b := h.in("ada", quorum.RoleAdmin)
	for range 3 {
		h.act("claude", "r1", shell("cowsay hi"))
	}
	h.act("claude", "r1", shell(asking))
	first := func(body string) string { return between(body, `<td><a href="/rules/`, `"`) }
	page := b.counted("/rules")
	if got := first(page.body); got != "team.cows" {
		t.Errorf("%s stands first, not the rule that spoke most", got)
	}
	h.want("the trend", page, http.StatusOK, "3 in 30 days")
	day := func(days int) string { return h.now().UTC().AddDate(0, 0, days).Format("2006-01-02") }
	rows := func(query string) int { return strings.Count(b.get("/rules?"+query).body, `<td><a href="/rules/`) }
	for query, want := range map[string]int{"from=yours": 1, "since=" + day(0): 2, "until=" + day(-1): 0, "from=silent": 0,
		"since=" + day(-1) + "&until=" + day(0): 2, "since=" + day(0) + "&verdict=deny": 1} {
		if got := rows(query); got != want {
			t.Errorf("%s lists %d rules, want %d", query, got, want)
		}
	}
	all := len(h.backend.Rules().Rules())
	if got := rows("from=shipped"); got != all-1 {
		t.Errorf("%d of %d are shipped", got, all)
	}
	h.want("no rule", b.get("/rules?q=there+is+none"), http.StatusOK, "No rule passes the filter")
	for query, want := range map[string]string{"verdict=maybe": "unknown verdict", "from=theirs": "none of yours, shipped", "since=soon": "is no time"} {
		h.want(query, b.get("/rules?"+query), http.StatusBadRequest, want)
	}
	one := b.get("/rules/team.cows")
	h.want("one rule", one, http.StatusOK, "In 30 days it was the one that is named in 3 decisions: 0 asked and 3 denied or halted.")
	clean(t, "one rule", one)
	if href := between(one.body, `<title>0 asked, 3 denied</title>`, `"`); href == "" || !strings.Contains(one.body, "/feed?rule=team.cows&amp;since=") {
		t.Error("no bar leads to what it counts")
	}
	if weight := len(page.body); weight > 100<<10 {
		t.Errorf("the list of rules weighs %d bytes", weight)
	}
}
