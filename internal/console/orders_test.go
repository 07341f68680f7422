package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// block has an agent try what blocks it, and returns the challenge's id.
func (h *house) block(agent string) string {
	h.t.Helper()
	answer := h.backend.ProposeBy(h.t.Context(),
		admission.Way{Loop: &interlock.Loop{Execution: "x", Step: 1, Limit: 10, Tolerance: 50}},
		interlock.Proposal{Action: interlock.Action{Kind: interlock.KindHint, Input: "run rm -rf / on the server " + hostile},
			Requester: interlock.Requester{Agent: agent, Principal: "dana", Run: "x"}, CanAsk: true, Door: "mcp-aql"})
	standing, err := h.backend.Ground(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	for id, challenge := range standing.Challenges {
		if challenge.Requester.Agent == agent && challenge.Kind == interlock.ChallengeBlock {
			return id
		}
	}
	h.t.Fatalf("nothing was blocked: %v %+v", answer.Verdict, answer.Findings)
	return ""
}

// order gives an order from the page that shows it, by passkey or as a browser without script does.
func (b *browser) order(query string) answer {
	b.h.t.Helper()
	page := b.get("/orders/new?" + query)
	match := regexp.MustCompile(`action="(/orders/ord_[0-9a-f]+)"`).FindStringSubmatch(page.body)
	if page.status != http.StatusOK || match == nil {
		return page
	}
	clean(b.h.t, "an order", page)
	if !b.ticket {
		return b.do(http.MethodPost, match[1], b.form(page, match[1], "assertion", b.sign(b.challenge(page, match[1]))))
	}
	return b.do(http.MethodPost, match[1], url.Values{"csrf": {b.form(page, "/logout").Get("csrf")}, "method": {"session"}})
}

// TestNewCode: an operator has a fresh code shown, once, on the page and nowhere else, and it is the one that counts.
func TestNewCode(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	id := h.block("tidier")
	page := b.get("/challenges")
	h.want("the challenge", page, http.StatusOK, "tidier")
	clean(t, "challenges", page)
	got := b.order("verb=new-code&subject=" + id + "&reason=" + url.QueryEscape("called "+hostile[:40]))
	match := regexp.MustCompile(`<p class="code-shown">([0-9A-Z-]+)</p>`).FindStringSubmatch(got.body)
	if match == nil {
		t.Fatalf("no code is shown: %d\n%s", got.status, got.body)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		t.Error("the page with the code may be kept")
	}
	for _, path := range []string{"/challenges", "/", "/agents", "/system"} {
		if strings.Contains(b.get(path).body, match[1]) {
			t.Errorf("%s shows the code again", path)
		}
	}
	if h.logged(interlock.EventChallenge, match[1]) > 0 || h.logged(interlock.EventChallenge, "order") == 0 {
		t.Error("the log holds the code, or not the order")
	}
	result, err := h.backend.Admission.Verify(t.Context(), interlock.Requester{Agent: "tidier", Principal: "dana"}, id, match[1])
	if err != nil || result.Result != "passed" || !result.Unblocked {
		t.Errorf("the code does not count: %+v %v", result, err)
	}
	h.want("nobody is held", b.get("/challenges"), http.StatusOK, "Nobody is held")
	h.want("an order about what has ended", b.get("/orders/new?verb=new-code&subject="+id), http.StatusNotFound, "no challenge with this id")
}

// TestUnblock: an admin lifts a block by a signed order, with a passkey or without; an operator can't, and nobody twice with
// one page.
func TestUnblock(t *testing.T) {
	h := open(t)
	operator, admin := h.in("olga", quorum.RoleOperator), h.in("ada", quorum.RoleAdmin)
	first := h.block("tidier")
	if strings.Contains(operator.get("/challenges").body, `value="unblock"`) {
		t.Error("an operator is offered what only an admin may do")
	}
	h.want("as an operator", operator.order("verb=unblock&subject="+first), http.StatusForbidden, "may not give this order")
	page := admin.get("/orders/new?verb=unblock&subject=" + first)
	action := regexp.MustCompile(`action="(/orders/ord_[0-9a-f]+)"`).FindStringSubmatch(page.body)[1]
	h.want("the order as it is signed", page, http.StatusOK, fmt.Sprintf("verb: %q\nsubject: %q", "unblock", first))
	h.want("another's order", operator.do(http.MethodPost, action, url.Values{"csrf": {operator.form(operator.get("/sessions"), "/logout").Get("csrf")},
		"method": {"session"}}), http.StatusConflict, "begin the order anew")
	form := admin.form(page, action, "assertion", admin.sign(admin.challenge(page, action)))
	if got := admin.do(http.MethodPost, action, form); got.status != http.StatusSeeOther || got.location != "/challenges" {
		t.Fatalf("lifting it: %d\n%s", got.status, got.body)
	}
	h.want("the same page again", admin.do(http.MethodPost, action, form), http.StatusConflict, "begin the order anew")
	if h.logged(interlock.EventUnblocked, `"method":"passkey"`) != 1 {
		t.Error("the log does not say how the order was proved")
	}
	second := h.block("other")
	if got := admin.byTicket("ada").order("verb=unblock&subject=" + second); got.status != http.StatusSeeOther {
		t.Errorf("without a passkey: %d\n%s", got.status, got.body)
	}
	late := admin.get("/orders/new?verb=unblock&subject=" + h.block("third"))
	action = regexp.MustCompile(`action="(/orders/ord_[0-9a-f]+)"`).FindStringSubmatch(late.body)[1]
	h.forward(6 * time.Minute)
	h.want("too late", admin.do(http.MethodPost, action, url.Values{"csrf": {admin.form(late, "/logout").Get("csrf")}, "method": {"session"}}),
		http.StatusConflict, "begin the order anew")
}

// TestTrust: trust is raised one level with evidence by an admin and lowered by an operator.
func TestTrust(t *testing.T) {
	h := open(t)
	operator, admin := h.in("olga", quorum.RoleOperator), h.in("ada", quorum.RoleAdmin)
	h.want("nobody registered", admin.get("/trust"), http.StatusOK, "No registered agent")
	name := `builder"><script>` // what no door would let in must not break a page either
	if err := h.backend.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Principal: "dana", Created: h.now()}); err != nil {
		name = "builder"
		if err := h.backend.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Principal: "dana", Created: h.now()}); err != nil {
			t.Fatal(err)
		}
	}
	subject := "&subject=" + url.QueryEscape(name)
	level := func() interlock.Trust {
		t.Helper()
		standing, err := h.backend.Ground(t.Context(), storagetest.Everything()...)
		if err != nil {
			t.Fatal(err)
		}
		return standing.Agents[name].Trust
	}
	next := (interlock.TrustUntested + 1).String()
	h.want("as an operator", operator.order("verb=promote&level="+next+"&reason=looked"+subject), http.StatusForbidden, "may not give this order")
	h.want("without evidence", admin.order("verb=promote&level="+next+subject), http.StatusBadRequest, "name the evidence")
	h.want("two levels", admin.order("verb=promote&level=community_reviewed&reason=looked"+subject), http.StatusBadRequest, "one level at a time")
	h.want("no level", admin.order("verb=promote&level=great&reason=looked"+subject), http.StatusBadRequest, "unknown trust level")
	h.want("a certificate without an end", admin.order("verb=promote&level=certified&reason=looked"+subject), http.StatusBadRequest, "1 to 400 days")
	if got := admin.order("verb=promote&level=" + next + "&reason=" + url.QueryEscape("read its code "+hostile[:50]) + subject); got.location != "/trust" {
		t.Fatalf("promoting: %d\n%s", got.status, got.body)
	}
	if level().String() != next {
		t.Errorf("the agent is %s", level())
	}
	page := admin.get("/trust")
	h.want("the change is listed", page, http.StatusOK, "TRUST_CHANGE")
	clean(t, "trust", page)
	if got := operator.order("verb=demote&level=untested&reason=doubt" + subject); got.location != "/trust" || level() != interlock.TrustUntested {
		t.Errorf("demoting: %d, %s\n%s", got.status, level(), got.body)
	}
	h.want("no such order", admin.order("verb=dance"+subject), http.StatusBadRequest, "no such order")
	h.want("no such agent", admin.order("verb=demote&level=untested&subject=nobody"), http.StatusNotFound, "no agent of this name")
	h.want("a long reason", admin.order("verb=demote&level=untested&reason="+strings.Repeat("x", 501)+subject), http.StatusBadRequest, "longer than 500")
}

// TestGrantsPage: a standing grant is shown with its bounds and revoked by a form.
func TestGrantsPage(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator).byTicket("olga")
	h.want("none", b.get("/grants"), http.StatusOK, "No standing grant")
	id := h.ask("claude", "DELETE FROM users")
	page := b.get("/pending/" + id)
	form := b.form(page, "/pending/"+id+"/grant", "tool", "DELETE*"+hostile[:30], "times", "3", "hours", "2", "conditions", `n <= 5`, "reason", hostile[:60])
	draft := b.do(http.MethodPost, "/pending/"+id+"/grant", form)
	action := regexp.MustCompile(`action="(/grants/grt_[0-9a-f]+)"`).FindStringSubmatch(draft.body)
	if action == nil {
		t.Fatalf("no draft: %d\n%s", draft.status, draft.body)
	}
	token := b.form(draft, "/logout").Get("csrf")
	if got := b.do(http.MethodPost, action[1], url.Values{"csrf": {token}, "method": {"session"}}); got.status != http.StatusSeeOther {
		t.Fatalf("giving it: %d\n%s", got.status, got.body)
	}
	page = b.get("/grants")
	clean(t, "grants", page)
	for _, want := range []string{"3 of 3", "n <= 5", "DELETE*", "olga"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the grant's page lacks %q:\n%s", want, page.body)
		}
	}
	if body := h.in("vera", quorum.RoleViewer).get("/grants").body; strings.Contains(body, "DELETE*") || strings.Contains(body, "Revoke") {
		t.Error("a viewer sees a grant's bounds or may revoke it")
	}
	if got := b.do(http.MethodPost, action[1]+"/end", url.Values{"csrf": {token}, "reason": {"done"}}); got.location != "/grants" {
		t.Fatalf("revoking: %d\n%s", got.status, got.body)
	}
	h.want("gone", b.get("/grants"), http.StatusOK, "No standing grant")
	if h.logged(interlock.EventGrant, `"ended":"done"`) != 1 {
		t.Error("the log does not say why it ended")
	}
}

// TestAuditPages: every event is found by each field, exported in each format and verified whole.
func TestAuditPages(t *testing.T) {
	h := open(t)
	b := h.in("aude", quorum.RoleAuditor)
	answer := h.act("codex", `r2 "quoted" <x>`, shell("rm -rf /"))
	h.act("claude", "r3", hostileAction())
	h.block("tidier")
	for query, want := range map[string]string{
		"":                    "SAFETY_BLOCK_EVENT",
		"?type=AGENT_BLOCKED": "AGENT_BLOCKED",
		"?actor=COD":          "codex",
		"?run=" + url.QueryEscape(`r2 "quoted" <x>`): "codex",
		"?q=rm+-RF":                                  "codex",
		"?q=" + url.QueryEscape(`"quoted"`):          "codex",
		"?since=2020-01-01T00:00&type=AGENT_BLOCKED": "AGENT_BLOCKED",
		"?until=2020-01-01T00:00":                    "No event here is what you look for",
		"?since=2999-01-01T00:00":                    "No event here is what you look for",
	} {
		page := b.get("/audit" + query)
		h.want("searching "+query, page, http.StatusOK, want)
		clean(t, query, page)
	}
	for _, query := range []string{"?type=NOTHING", "?since=yesterday", "?before=x", "?q=" + strings.Repeat("x", 201)} {
		if got := b.get("/audit" + query); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got.status)
		}
	}
	if got := b.get("/audit?event=" + answer.Event); got.location != "/events/"+answer.Event {
		t.Errorf("an event's id leads to %q", got.location)
	}
	for index := range answer.Index + 3 { // every kind of event there is
		page := b.get(fmt.Sprintf("/events/%d", index))
		h.want("an event", page, http.StatusOK, "content_hash")
		clean(t, "event", page)
	}
	h.want("verification", b.do(http.MethodPost, "/audit/verify", url.Values{"csrf": {b.form(b.get("/audit"), "/audit/verify").Get("csrf")}}),
		http.StatusOK, "The log is sound:")
	for format, member := range map[string]string{"jsonl": "event", "cloudevents": "specversion", "ocsf": "class_uid"} {
		got := b.get("/audit/export?format=" + format)
		lines := strings.Split(strings.TrimSpace(got.body), "\n")
		head, err := h.backend.Store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(lines)) > head.Size || len(lines) < 5 {
			t.Errorf("%s has %d lines of %d", format, len(lines), head.Size)
		}
		for _, line := range lines {
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &object); err != nil || object[member] == nil {
				t.Fatalf("%s: %v in %.100s", format, err, line)
			}
		}
	}
	h.want("no such format", b.get("/audit/export?format=csv"), http.StatusBadRequest, "jsonl, cloudevents or ocsf")
}

// TestRulePages: rules are listed with what they did, and each page runs the rule's tests.
func TestRulePages(t *testing.T) {
	h := open(t)
	b := h.in("vera", quorum.RoleViewer)
	spec.Covers(t, "ASA-17.3-1")
	h.act("codex", "r1", shell("rm -rf /"))
	h.act("codex", "r1", shell("ls"))
	page := b.get("/rules")
	for _, want := range []string{"shell 2 0 0 % 1 50 %", "rules 1 0 0 % 1 100 %", "nothing objected 1 0 0 % 0 0 %"} {
		if !strings.Contains(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page.body, " ")), " "), want) {
			t.Errorf("the rates lack %q:\n%s", want, text(page.body))
		}
	}
	first := strings.Index(page.body, `href="/rules/fs.delete-root"`)
	if first < 0 || strings.Count(page.body[:first], `href="/rules/`) > 4 {
		t.Errorf("a rule that objected does not stand first")
	}
	h.want("one rule", b.get("/rules/fs.delete-root"), http.StatusOK, "hold")
	if strings.Contains(b.get("/rules/fs.delete-root").body, "What it looks for") {
		t.Error("a viewer is shown what a rule looks for")
	}
	if got := strings.Count(b.get("/rules?q=delete-root").body, "<tr>"); got != 2 {
		t.Errorf("searching finds %d rows", got)
	}
	h.want("a gate's own finding", b.get("/rules/unknown.input"), http.StatusNotFound, "Not a rule of the ruleset")
	for _, rule := range h.backend.Rules().Rules() {
		page := b.get("/rules/" + rule.ID)
		h.want(rule.ID, page, http.StatusOK, "hold")
		clean(t, rule.ID, page)
	}
}

// TestAgentsAndSystem: the pages about who acts and what runs say what is so.
func TestAgentsAndSystem(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	h.want("no agent", b.get("/agents"), http.StatusOK, "No agent yet")
	h.block("tidier")
	h.act("claude", "r1", shell("ls"))
	id := h.ask("claude", "DELETE FROM users")
	page := b.get("/agents")
	clean(t, "agents", page)
	for _, want := range []string{"tidier", "blocked", "step 1 of", "claude", "1 pending", "not registered"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the agents' page lacks %q:\n%s", want, text(page.body))
		}
	}
	h.want("nobody answered", b.get("/system"), http.StatusOK, "Nobody has answered a request yet")
	if got := b.bySession(id, "deny", "no"); got.status != http.StatusSeeOther {
		t.Fatalf("denying: %d\n%s", got.status, got.body)
	}
	page = b.get("/system")
	clean(t, "system", page)
	head, err := h.backend.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"enforcing", "guard", string(h.backend.Rules().Digest()), h.backend.Key.String(), "ada",
		"1 of the newest 1 requests", "Too few answers",
		strings.Split(string(head.Checkpoint), "\n")[0], "None. Codes then reach people only"} {
		if !strings.Contains(html.UnescapeString(page.body), want) {
			t.Errorf("the system's page lacks %q", want)
		}
	}
}
