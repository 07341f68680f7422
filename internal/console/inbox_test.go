package console_test

import (
	"bufio"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
)

// cards are the requests that the inbox shows by themselves, in its order, and alike those it shows within others.
func cards(page answer) (own, alike []string) {
	for _, match := range regexp.MustCompile(`<article class="panel card" id="([^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		own = append(own, match[1])
	}
	for _, match := range regexp.MustCompile(`<li id="([^"]+)" class="alike"`).FindAllStringSubmatch(page.body, -1) {
		alike = append(alike, match[1])
	}
	return own, alike
}

// asks proposes a command in a directory and returns the request it left.
func (h *house) asks(agent, command, dir string) string {
	h.t.Helper()
	answer := h.act(agent, "r1", interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: command, Dir: dir})
	if answer.Request == "" {
		h.t.Fatalf("%q asks nobody: %+v", command, answer.Findings)
	}
	return answer.Request
}

// TestInbox: newest first, the command whole and first, alike ones together, and found by every field of the filter.
func TestInbox(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	h.want("nothing", b.get("/pending"), http.StatusOK, "Nothing waits")
	first := h.asks("claude", "git push --force origin one", "/srv/shop")
	drop := h.ask("codex", "DROP TABLE users")
	second := h.asks("claude", "git push --force origin two", "/srv/shop")
	other := h.asks("claude", "git push --force origin two", "/srv/blog")
	page := b.get("/pending")
	clean(t, "the inbox", page)
	own, alike := cards(page)
	if fmt.Sprint(own) != fmt.Sprint([]string{other, second, drop}) || fmt.Sprint(alike) != fmt.Sprint([]string{first}) {
		t.Errorf("it shows %v and within them %v, want %v and %v", own, alike, []string{other, second, drop}, first)
	}
	for _, want := range []string{`<mark class="danger">DROP</mark> TABLE users`, "in blog", "in shop", "1 more like it", "just now", "left",
		"risk", `<option value="blog">`, `<option value="codex">`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the inbox lacks %q:\n%s", want, page.body)
		}
	}
	if at, asked := strings.Index(page.body, "origin two"), strings.Index(page.body, "/rules/git.force-push"); at < 0 || asked < at {
		t.Error("the reason stands before the command")
	}
	for query, want := range map[string][]string{"agent=codex": {drop}, "project=shop": {second, first}, "q=DROP+table": {drop}, "q=" + first: {first},
		"rule=git.force-push": {other, second, first}, "age=minute": {other, second, drop, first}, "age=older": nil, "q=nothing": nil} {
		own, alike := cards(b.get("/pending?" + query))
		if got := append(own, alike...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	h.want("no such age", b.get("/pending?age=x"), http.StatusBadRequest, "is no age")
	h.want("a long text", b.get("/pending?q="+strings.Repeat("x", 201)), http.StatusBadRequest, "is longer than")
	h.want("no such page", b.get("/pending?page=-1"), http.StatusBadRequest, "is not an index")
	viewer := h.in("vera", quorum.RoleViewer)
	page = viewer.get("/pending")
	if strings.Contains(page.body, "origin two") || strings.Contains(page.body, "blog") || strings.Contains(page.body, `value="approve"`) {
		t.Errorf("a viewer reads or answers:\n%s", page.body)
	}
	if own, _ := cards(viewer.get("/pending?q=origin")); len(own) > 0 {
		t.Errorf("a viewer's search finds %v", own)
	}
}

// TestAnswersFromTheInbox: a button of the list answers its own request and no other, for what was shown there.
func TestAnswersFromTheInbox(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	one, two := h.ask("claude", "DELETE FROM a"), h.ask("codex", "DELETE FROM b")
	page := b.get("/pending")
	form := b.form(page, "/pending")
	if form.Get("display:"+one) == "" || form.Get("display:"+one) == form.Get("display:"+two) {
		t.Fatalf("the form does not say what was shown: %v", form)
	}
	if !strings.Contains(page.body, `<button type="submit" disabled hidden>`) {
		t.Error("the enter key in a field would press the first button there is")
	}
	form.Set("verb", "deny")
	form.Set("reason", "not today")
	form["id"] = []string{two} // ticked, and not what the button is about
	wrong := url.Values{}
	for name, values := range form {
		wrong[name] = slices.Clone(values)
	}
	wrong.Set("display:"+one, form.Get("display:"+two))
	h.want("what was shown is another", b.do(http.MethodPost, "/pending/"+one, wrong), http.StatusConflict, "showed something else")
	if got := b.do(http.MethodPost, "/pending/"+one, form); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := h.request(two); got.Status != interlock.RequestPending {
		t.Errorf("the other is %s", got.Status)
	}
	// A yes takes the passkey's signature over this one request.
	yes := b.form(b.get("/pending"), "/pending", "verb", "approve")
	h.want("a yes without it", b.do(http.MethodPost, "/pending/"+two, yes), http.StatusForbidden, "you came in with a passkey")
	button := regexp.MustCompile(`formaction="/pending/` + two + `" name="verb" value="approve" data-hash="([^"]+)"`)
	hash := button.FindStringSubmatch(b.get("/pending").body)
	if hash == nil {
		t.Fatalf("no button says yes:\n%s", b.get("/pending").body)
	}
	yes.Set("assertion", b.sign(decoded(t, hash[1])))
	if got := b.do(http.MethodPost, "/pending/"+two, yes); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	page = b.get("/pending")
	h.want("afterwards", page, http.StatusOK, "Approved and not used yet")
	for _, want := range []string{`<span data-became="` + two + `">approved by olga, not used yet</span>`,
		`<span data-became="` + one + `">denied by olga</span>`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("it is not told what became of it, %s:\n%s", want, page.body)
		}
	}
}

// TestLinksOutliveTheAnswer: a link to a request says what became of it, whatever that was, and asks for nothing any more.
func TestLinksOutliveTheAnswer(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	id := h.ask("claude", "DELETE FROM users")
	h.want("while it waits", b.get("/pending/"+id), http.StatusOK, "waits for an answer")
	b.approve(id)
	h.want("approved", b.get("/pending/"+id), http.StatusOK, "approved by olga, not used yet")
	if again := h.propose("claude", "DELETE FROM users"); again.Answer != interlock.Allow {
		t.Fatalf("%+v", again)
	}
	page := b.get("/pending/" + id)
	h.want("used", page, http.StatusOK, "approved by olga, and used")
	if strings.Contains(page.body, `value="deny"`) || strings.Contains(page.body, "This is what is signed") {
		t.Errorf("it asks still:\n%s", page.body)
	}
	like := h.ask("claude", "DELETE FROM users")
	h.want("one like it", b.get("/pending/"+like), http.StatusOK, "1 like it lately: 1 yes, 0 no.")
	h.want("too late", b.do(http.MethodPost, "/pending/"+id, url.Values{"csrf": {b.form(page, "/logout").Get("csrf")}, "verb": {"deny"},
		"method": {"session"}}), http.StatusNotFound, "it is approved by olga, and used")
}

// TestTheInboxHoldsAThousand: a page of them weighs little and says how to go on, every one is on some page, and an answer is told to
// every open page within half a second.
func TestTheInboxHoldsAThousand(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator)
	want := map[string]bool{}
	now := time.Now().UTC()
	var rows []any
	for i := range 1000 {
		id := fmt.Sprintf("apr_%012x", i)
		want[id] = true
		rows = append(rows, waiting(id, now.Add(-time.Duration(i)*time.Second)))
	}
	h.stand(rows)
	pages := 0
	for path := "/pending"; path != ""; pages++ {
		page := b.get(path)
		h.want(path, page, http.StatusOK, "1000 wait")
		if len(page.body) > 100<<10 {
			t.Fatalf("%s has %d bytes", path, len(page.body))
		}
		own, alike := cards(page)
		for _, id := range append(own, alike...) {
			if !want[id] {
				t.Errorf("%s is shown twice", id)
			}
			delete(want, id)
		}
		path = ""
		if older := regexp.MustCompile(`<a href="([^"]+)">Older</a>`).FindStringSubmatch(page.body); older != nil {
			path = html.UnescapeString(older[1])
		}
	}
	if len(want) > 0 || pages < 10 {
		t.Errorf("%d are on no page of %d", len(want), pages)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/pending/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", b.agent)
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the stream ends before %q: %v", want, lines.Err())
	}
	next("event: inbox")
	next(`id="count-pending"`)
	b.byWord("apr_000000000000")
	next("event: inbox")
	next(`999`)
}

// stand has rows stand in the store.
func (h *house) stand(rows []any) {
	h.t.Helper()
	change := storagetest.Decision("requests")
	change.Writes = ledger.Rows(rows...)
	if _, err := h.backend.Store.Commit(h.t.Context(), change); err != nil {
		h.t.Fatal(err)
	}
}

// waiting is a request that waits.
func waiting(id string, created time.Time) interlock.ApprovalRequest {
	return interlock.ApprovalRequest{ID: id, Action: "sha256:" + interlock.Digest(strings.Repeat("a", 64)), Nonce: strings.Repeat("0", 32),
		Ruleset:   "sha256:" + interlock.Digest(strings.Repeat("b", 64)),
		Requester: interlock.Requester{Agent: "builder" + id[len(id)-2:], Principal: "dana", Run: "r1"}, Created: created,
		Expires: created.Add(2 * time.Hour), Status: interlock.RequestPending, Rule: "git.force-push",
		Reason:  "a forced push replaces what others have fetched",
		Display: "kind: shell\ntool: Bash\ndir: /home/dana/project\n\ngit push --force origin " + id + "\n"}
}

// BenchmarkInbox is what the inbox costs on the server with 1,000 requests that wait; the budget is 100 ms. One that waits stands beside it,
// as the floor that this machine has at this moment.
func BenchmarkInbox(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			h := open(b)
			var rows []any
			for i := range n {
				rows = append(rows, waiting(fmt.Sprintf("apr_%012x", i), time.Now().UTC().Add(-time.Duration(i)*time.Second)))
			}
			h.stand(rows)
			paints(b, h, h.in("olga", quorum.RoleOperator), "/pending")
		})
	}
}
