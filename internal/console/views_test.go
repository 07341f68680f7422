package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
)

// act has an action decided as an agent's and returns the answer.
func (h *house) act(agent, run string, action interlock.Action) interlock.Answer {
	h.t.Helper()
	if action.Dir == "" {
		action.Dir = "/home/dana/project"
	}
	answer := h.backend.Propose(h.t.Context(), interlock.Proposal{Action: action, Requester: interlock.Requester{Principal: "dana", Agent: agent, Run: run},
		View: interlock.View{Home: "/home/dana", User: "dana", Workspace: "/home/dana/project"}, Door: "test", CanAsk: true})
	if answer.Event == "" {
		h.t.Fatalf("not recorded: %+v", answer)
	}
	return answer
}

func shell(command string) interlock.Action {
	return interlock.Action{Kind: interlock.KindShell, Input: command}
}

// hostile is what an agent would write to take over a page.
const hostile = `"><script src="//evil.example/x.js"></script><img src=x onerror=alert(1)>'` + "`" + `</pre></textarea>javascript:alert(1)‮gnp.exe` + "\x1b[31m\x00\u200b"

// marked is what the page must show of it.
var marked = []string{"U+202E", "U+001B", "U+200B"}

// hostileAction is an action all of whose words are hostile.
func hostileAction() interlock.Action {
	arguments, err := json.Marshal(map[string]string{"path": "/srv/" + hostile, strings.ReplaceAll(hostile, "\x00", ""): "javascript:alert(2)"})
	if err != nil {
		panic(err)
	}
	return interlock.Action{Kind: interlock.KindTool, Tool: "mcp__x__" + hostile, Arguments: arguments, Hint: hostile, Dir: "/tmp/" + hostile}
}

// unsafe finds what a policy without inline script would stop, and what must not be there in the first place; handlers and
// styles are looked for outside the values of attributes.
var (
	unsafe   = regexp.MustCompile(`(?i)<script(?:\s+src="/static/[a-z.-]+\.js" defer)?>[^<]+|<script\s+src="?//|href="?javascript:|src="?javascript:|action="?javascript:`)
	unsafeIn = regexp.MustCompile(`(?i)<style|<[^>]*\sstyle=|<[^>]*\son[a-z]+=|<img|<iframe|<object|<embed|<base`)
	values   = regexp.MustCompile(`="[^"]*"`)
)

// clean holds a page against what no page may have.
func clean(t testing.TB, name string, got answer) {
	t.Helper()
	for _, found := range []string{unsafe.FindString(got.body), unsafeIn.FindString(values.ReplaceAllString(got.body, `=""`))} {
		if found != "" {
			t.Errorf("%s holds %q", name, found)
		}
	}
	if csp := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp,
		"default-src 'none'; script-src 'self'; style-src 'self'") || strings.Contains(csp, "unsafe") {
		t.Errorf("%s has the policy %q", name, csp)
	}
	if strings.ContainsAny(got.body, "\x00\x1b\u202e\u200b") {
		t.Errorf("%s shows characters that don't show", name)
	}
}

// TestFeed: decisions are listed newest first, found by every field of the filter, and pages go back to the first.
func TestFeed(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	h.want("an empty log", b.get("/feed?verdict=halt"), http.StatusOK, "No decision here passes the filter")
	h.want("no decision", b.get("/feed"), http.StatusOK, "No decision yet")
	h.act("claude", "r1", shell("ls -la"))
	h.act("codex", "r2", shell("rm -rf /"))
	h.act("codex", "r2", interlock.Action{Kind: interlock.KindSQL, Input: "select 1"})
	for query, want := range map[string][]string{
		"":                     {"select 1", "rm -rf /", "ls -la"},
		"?verdict=allow":       {"select 1", "ls -la"},
		"?agent=COD":           {"select 1", "rm -rf /"},
		"?kind=sql":            {"select 1"},
		"?rule=fs.":            {"rm -rf /"},
		"?q=rm+-RF":            {"rm -rf /"},
		"?q=r1":                {"ls -la"},
		"?q=nothing+like+that": nil,
	} {
		page := b.get("/feed" + query)
		h.want("the feed "+query, page, http.StatusOK, "Feed")
		clean(t, query, page)
		if got := summaries(page.body); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	h.want("a wrong verdict", b.get("/feed?verdict=maybe"), http.StatusBadRequest, "unknown verdict")
	h.want("a wrong kind", b.get("/feed?kind=thought"), http.StatusBadRequest, "is not one of")
	h.want("a wrong place", b.get("/feed?before=-4"), http.StatusBadRequest, "is not an index")
	h.want("a long text", b.get("/feed?q="+strings.Repeat("x", 201)), http.StatusBadRequest, "is longer than")
	for i := range 60 {
		h.act("claude", "r3", shell(fmt.Sprintf("echo %d", i)))
	}
	first := b.get("/feed")
	second := b.get(next(t, first, "Older"))
	if got := len(summaries(first.body)) + len(summaries(second.body)); got != 63 || strings.Contains(second.body, "Older") {
		t.Errorf("two pages hold %d decisions, want 63 in all", got)
	}
}

// summaries are the actions a page lists.
func summaries(body string) []string {
	var out []string
	for _, match := range regexp.MustCompile(`<code class="summary">(.*?)</code>`).FindAllStringSubmatch(body, -1) {
		out = append(out, match[1])
	}
	return out
}

// next is where a link of a page leads.
func next(t *testing.T, page answer, text string) string {
	t.Helper()
	match := regexp.MustCompile(`<a href="([^"]+)">` + text + `</a>`).FindStringSubmatch(page.body)
	if match == nil {
		t.Fatalf("no link %q in:\n%s", text, page.body)
	}
	return strings.ReplaceAll(match[1], "&amp;", "&")
}

// TestDecisionPage: the page of a decision is complete, and its receipt proves it.
func TestDecisionPage(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	answer := h.act("codex", "r2", shell("rm -rf /\necho done\u202e"))
	page := b.get("/decisions/" + answer.Event)
	for _, want := range []string{"rm -rf /\necho done", "U+202E", answer.Decisive().Rule, "layer 1", "impact 1",
		string(answer.Ruleset), string(answer.Snapshot),
		string(answer.Decision.Action), answer.Event, "hashes lead from this event to the signed root", "codex", "dana"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.body)
		}
	}
	clean(t, "decision", page)
	if byIndex := b.get(fmt.Sprintf("/decisions/%d", answer.Index)); !strings.Contains(byIndex.body, answer.Event) {
		t.Error("a decision is not found by its index")
	}
	receipt := b.get("/events/" + answer.Event + "/receipt")
	proof, err := auditlog.ParseProof([]byte(receipt.body))
	if err != nil {
		t.Fatalf("the receipt can't be read: %v\n%s", err, receipt.body)
	}
	entry, _, err := auditlog.EntryAt(t.Context(), h.backend.Store, answer.Index)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.Check(h.backend.Key, entry.Body); err != nil {
		t.Errorf("the receipt does not hold: %v", err)
	}
	h.want("no such event", b.get("/decisions/"+strings.Repeat("ab", 32)), http.StatusNotFound, "the log has no event")
	h.want("no event at all", b.get("/decisions/x%00y"), http.StatusNotFound, "the log has no event")
}

// TestDecisionAfterItsAnswer: the page of a decision that was asked about leads to the request while somebody can answer it,
// and says afterwards who did.
func TestDecisionAfterItsAnswer(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	asked := h.propose("claude", "DELETE FROM users")
	page := b.get("/decisions/" + asked.Event)
	h.want("while it waits", page, http.StatusOK, `<a href="/pending/`+asked.Request+`">`)
	if got := b.bySession(asked.Request, "deny", "not today"); got.status != http.StatusSeeOther {
		t.Fatalf("denying: %d\n%s", got.status, got.body)
	}
	page = b.get("/decisions/" + asked.Event)
	for _, want := range []string{"denied · deny by olga", "by a session here: not today", "APPROVAL"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, text(page.body))
		}
	}
	after := b.get("/pending/" + asked.Request)
	h.want("a link that was kept", after, http.StatusOK, "denied by olga")
	if !strings.Contains(page.body, `href="/pending/`+asked.Request) || strings.Contains(after.body, ">Approve once") ||
		!strings.Contains(after.body, "not today") {
		t.Errorf("what was answered is not told, or is asked again:\n%s", after.body)
	}
}

// text is a page without its tags.
func text(body string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#43;", "+").
		Replace(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
}

// TestViewersSeeNoWords: a viewer is shown that something was decided and why, never an action's own words, and can't find
// them by searching either.
func TestViewersSeeNoWords(t *testing.T) {
	h := open(t)
	b := h.in("vera", quorum.RoleViewer)
	answer := h.act("codex", "r2", interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /secret-place",
		Dir: "/home/dana/hidden-project", Hint: "tidy-words"})
	asked := h.act("codex", "r2", interlock.Action{Kind: interlock.KindSQL, Input: "DELETE FROM users -- secret-place", Hint: "tidy-words"})
	for _, path := range []string{"/", "/feed", "/feed?q=codex", "/decisions/" + answer.Event, "/pending", "/pending/" + asked.Request} {
		page := b.get(path)
		h.want(path, page, http.StatusOK, "codex")
		for _, word := range []string{"secret-place", "hidden-project", "tidy-words"} {
			if strings.Contains(page.body, word) {
				t.Errorf("%s shows a viewer %q", path, word)
			}
		}
	}
	for _, query := range []string{"secret-place", "hidden-project", "tidy-words"} {
		if got := summaries(b.get("/feed?q=" + query).body); len(got) != 0 {
			t.Errorf("a viewer's search for %q finds %q", query, got)
		}
	}
}

// TestStream: new decisions arrive as rows, what the filter leaves out does not, and the stream ends with its request and
// with its session.
func TestStream(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/feed/stream?agent=codex", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", b.agent)
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("the stream is %q", got)
	}
	h.act("claude", "r1", shell("echo unseen"))
	answer := h.act("codex", "r1", shell("rm -rf / # "+`<script>alert(1)</script>`+"\u202e"))
	lines := bufio.NewScanner(response.Body)
	var seen strings.Builder
	for lines.Scan() && !strings.Contains(seen.String(), answer.Event) {
		seen.WriteString(lines.Text() + "\n")
	}
	for _, want := range []string{"event: decision", fmt.Sprintf("id: %d\n", answer.Index), "event: waiting", "data: <li class=\"row\">"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("the stream lacks %q:\n%s", want, seen.String())
		}
	}
	if strings.Contains(seen.String(), "unseen") || strings.Contains(seen.String(), "<script") {
		t.Errorf("the stream holds what it must not:\n%s", seen.String())
	}
	// The operator logs out elsewhere in the same browser: the stream says so and ends.
	page := b.get("/sessions")
	b.do(http.MethodPost, "/logout", b.form(page, "/logout"))
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
	}
	if err := lines.Err(); err != nil || !strings.Contains(seen.String(), "event: end") {
		t.Errorf("the stream did not end with the session: %v\n%s", err, seen.String())
	}
	leave()
	b.header.Set("Accept", "text/event-stream") // as a live page asks again
	h.want("a live page", b.get("/feed/stream"), http.StatusForbidden, "the session has ended")
	b.header.Del("Accept")
	if got := b.get("/feed/stream"); got.status != http.StatusSeeOther {
		t.Errorf("a stream without a session: %d", got.status)
	}
}

// TestStreamEndsWithItsRequest: a browser that leaves costs nothing any more.
func TestStreamEndsWithItsRequest(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	for range 70 { // more than may be live at once
		ctx, leave := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/feed/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", b.agent)
		response, err := b.client.Do(request)
		for ; err == nil && response.StatusCode == http.StatusTooManyRequests; response, err = b.client.Do(request) {
			response.Body.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		leave()
		response.Body.Close()
	}
}

// everyPage lists addresses that show what agents wrote.
func (h *house) everyPage(answer interlock.Answer) []string {
	return []string{"/agents", "/challenges", "/trust", "/grants", "/tools", "/tools/show?subject=files",
		"/tools/show?subject=files.read", "/rules?q=" + url.QueryEscape(hostile[:80]), "/system", "/audit", "/events/" + answer.Event,
		"/audit?q=" + url.QueryEscape(hostile[:80]), "/audit?actor=" + url.QueryEscape(`"><script>`), "/rules/x", "/",
		"/feed", "/feed?q=" + url.QueryEscape(hostile[:60]), "/feed?agent=" + url.QueryEscape(`"><script>`), "/decisions/" + answer.Event, "/pending"}
}

// TestHostileWords: nothing an agent writes becomes markup or disappears from sight.
func TestHostileWords(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	action := hostileAction()
	answer := h.act(hostile[:100], "run "+hostile, action)
	h.block(hostile[:90])
	h.serve("Reads.", hostile)
	for _, path := range h.everyPage(answer) {
		page := b.get(path)
		if page.status != http.StatusOK && path != "/rules/x" {
			t.Errorf("%s: %d\n%s", path, page.status, page.body)
		}
		clean(t, path, page)
	}
	page := b.get("/decisions/" + answer.Event)
	for _, want := range marked {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the page does not spell out %s:\n%s", want, page.body)
		}
	}
}

// routes are all pages about what happens, each with what it takes: an address and the rights' names.
func (h *house) routes(answer interlock.Answer) []struct{ method, path, needs string } {
	return []struct{ method, path, needs string }{
		{"GET", "/", "see"}, {"GET", "/feed", "see"}, {"GET", "/decisions/" + answer.Event, "see"}, {"GET", "/events/" + answer.Event + "/receipt", "see"},
		{"GET", "/pending", "see"}, {"GET", "/agents", "see"}, {"GET", "/challenges", "see"}, {"GET", "/trust", "see"}, {"GET", "/grants", "see"},
		{"GET", "/tools", "see"}, {"GET", "/tools/show?subject=files.read", "see"}, {"GET", "/orders/new?verb=approve-tool&subject=none", "answer"},
		{"GET", "/rules", "see"}, {"GET", "/rules/fs.delete-root", "see"}, {"GET", "/system", "see"},
		{"POST", "/grants/grt_none/end", "answer"}, {"GET", "/orders/new?verb=new-code&subject=none", "answer"}, {"POST", "/orders/ord_none", "order"},
		{"GET", "/orders/new?verb=unblock&subject=none", "govern"},
		{"GET", "/audit", "audit"}, {"GET", "/events/" + answer.Event, "audit"}, {"GET", "/audit/export?format=jsonl", "audit"},
		{"POST", "/audit/verify", "audit"}, {"GET", "/rollback/plan?agent=codex&since=2020-01-01T00:00:00Z", "audit"},
		{"GET", "/system/phases", "see"}, {"GET", "/system/limits", "see"}, {"GET", "/system/plans", "see"}, {"GET", "/system/rollbacks", "see"},
		{"GET", "/system/privacy", "read"}, {"GET", "/system/memory", "read"}, {"GET", "/system/memory?q=nothing&store=semantic", "read"},
		{"GET", "/system/plans/none", "see"}, {"GET", "/system/rollbacks/none", "see"}, {"GET", "/agents/timeline?on=agent:codex", "see"},
		{"GET", "/system/rollbacks/new?agent=codex&since=2020-01-01T00:00:00Z", "audit"}, {"GET", "/system/probes", "audit"},
		{"POST", "/system/probes", "audit"}, {"GET", "/grants/range", "answer"}, {"POST", "/grants/range?none", "answer"},
		{"GET", "/orders/new?verb=tighten-phase&subject=none", "answer"}, {"GET", "/orders/new?verb=reset-breaker&subject=none", "answer"},
		{"GET", "/orders/new?verb=loosen-phase&subject=none", "order"}, {"GET", "/orders/new?verb=root-cause&subject=none", "order"},
		{"GET", "/orders/new?verb=begin-rollback&subject=none", "govern"}, {"GET", "/orders/new?verb=tell-rollback&subject=none", "answer"},
	}
}

// TestRoutesByRole tries every route as every role: each opens to the roles it is for and to no other.
func TestRoutesByRole(t *testing.T) {
	h := open(t)
	answer := h.act("codex", "r1", shell("rm -rf /"))
	h.serve("Reads.")
	rights := map[string]string{quorum.RoleViewer: "see", quorum.RoleCouncil: "see read order",
		quorum.RoleAuditor: "see read audit", quorum.RoleOperator: "see read answer order",
		quorum.RoleAdmin: "see read answer audit govern order", quorum.RoleSuperadmin: "see read answer audit govern order"}
	for _, role := range quorum.Roles() {
		b := h.in("the-"+role, role)
		token := b.form(b.get("/sessions"), "/logout").Get("csrf")
		for _, route := range h.routes(answer) {
			var form url.Values
			if route.method == http.MethodPost {
				form = url.Values{"csrf": {token}, "method": {"session"}}
			}
			got := b.do(route.method, route.path, form)
			refused := got.status == http.StatusForbidden && strings.Contains(got.body, "may not")
			if want := strings.Contains(rights[role], route.needs); refused == want {
				t.Errorf("%s %s as %s: %d, want it open: %v\n%s", route.method, route.path, role, got.status, want, got.body)
			}
			if !refused && !strings.Contains(route.path, "none") && got.status != http.StatusOK {
				t.Errorf("%s %s as %s: %d\n%s", route.method, route.path, role, got.status, got.body)
			}
			if got.status >= 500 {
				t.Errorf("%s %s as %s: %d", route.method, route.path, role, got.status)
			}
			clean(t, route.path, got)
		}
	}
	stranger := h.browser()
	for _, route := range h.routes(answer) {
		if got := stranger.do(route.method, route.path, nil); route.method == http.MethodGet && !strings.HasPrefix(got.location, "/login?next=") ||
			route.method == http.MethodPost && got.status != http.StatusForbidden {
			t.Errorf("%s %s without a session: %d %s", route.method, route.path, got.status, got.location)
		}
	}
}
