package console_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"interlock/internal/quorum"
)

// kept are the filters that a page shows as somebody's own, with where they lead.
func kept(page answer) string {
	var out []string
	for _, part := range strings.Split(page.body, `class="own"`)[1:] {
		out = append(out, between(part, `<a href="`, `"`)+" "+between(part[strings.Index(part, "<a href"):], ">", "<"))
	}
	return strings.Join(out, ", ")
}

// TestKeptFilters: an operator gives a filter a name without any script, finds it on its page alone, in that browser alone, and forgets
// it; what a browser sends for one is never more than a filter of a page.
func TestKeptFilters(t *testing.T) {
	h := open(t)
	b, other := h.in("ada", quorum.RoleAdmin), h.in("bert", quorum.RoleAdmin)
	before, err := h.backend.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keep := func(b *browser, from, name string) answer {
		t.Helper()
		page := b.get(from)
		return b.do(http.MethodPost, "/filters", b.form(answer{body: page.body[strings.Index(page.body, "Keep this filter"):]}, "/filters", "name", name))
	}
	if got := keep(b, "/feed?agent=claude&verdict=deny&before=7", "Claude's <denials>"); got.status != http.StatusSeeOther ||
		got.location != "/feed?agent=claude&verdict=deny" {
		t.Fatalf("keeping it: %d %s %s", got.status, got.location, got.body)
	}
	page := b.get("/feed")
	clean(t, "a page with a filter", page)
	if got := kept(page); got != "/feed?agent=claude&amp;verdict=deny Claude&#39;s &lt;denials&gt;" {
		t.Errorf("the feed keeps %q", got)
	}
	if got := kept(b.get("/rules")) + kept(other.get("/feed")); got != "" {
		t.Errorf("it is also kept as %q", got)
	}
	h.want("the filter itself", b.get("/feed?agent=claude&verdict=deny"), http.StatusOK, `verdict=deny" aria-current="true"`)
	// What a browser says it comes from counts for more than what its page was made with.
	b.header.Set("Referer", h.url+"/audit?type=ALERT&event=x")
	if got := keep(b, "/audit?type=APPROVAL", ""); got.location != "/audit?type=ALERT" {
		t.Errorf("kept from an address that changed: %d %s", got.status, got.location)
	}
	b.header.Set("Referer", "http://evil.example/audit?type=ALERT")
	if got := keep(b, "/audit?type=APPROVAL", ""); got.location != "/audit?type=APPROVAL" {
		t.Errorf("kept from elsewhere: %d %s", got.status, got.location)
	}
	b.header.Del("Referer")
	h.want("one without a name is called by what it looks for", b.get("/audit"), http.StatusOK, "Forget APPROVAL")
	page = b.get("/feed")
	if got := b.do(http.MethodPost, "/filters", b.form(page, "/filters", "forget", "0")); got.status != http.StatusSeeOther ||
		kept(b.get("/feed")) != "" {
		t.Errorf("it is not forgotten: %d %s", got.status, kept(b.get("/feed")))
	}
	for want, got := range map[string]answer{
		"nothing is filtered":      keep(b, "/feed", "all"),
		"longer than 160 bytes":    keep(b, "/feed?q=x", strings.Repeat("n", 161)),
		"what does not show":       keep(b, "/feed?q=x", "a\u202eb"),
		"this page has no filter":  b.do(http.MethodPost, "/filters", b.form(b.get("/feed?q=x"), "/filters", "path", "/system")),
		"keeps no such filter":     b.do(http.MethodPost, "/filters", b.form(b.get("/feed?q=x"), "/filters", "forget", "40")),
		"did not come from a page": b.do(http.MethodPost, "/filters", url.Values{"path": {"/feed"}, "query": {"q=x"}}),
	} {
		if got.status/100 != 4 || !strings.Contains(got.body, want) {
			t.Errorf("%d, want a refusal with %q", got.status, want)
		}
	}
	for i := 0; ; i++ {
		if got := keep(b, fmt.Sprintf("/feed?q=x%d", i), fmt.Sprint(i)); got.status != http.StatusSeeOther {
			h.want("too many", got, http.StatusTooManyRequests, "forget one first")
			break
		}
		if i > 12 {
			t.Fatal("any number is kept")
		}
	}
	base, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.client.Jar.Cookies(base) {
		if !strings.HasPrefix(cookie.Name, "interlock-filters-") {
			continue
		}
		for _, wrong := range []string{"x", "!",
			base64.RawURLEncoding.EncodeToString([]byte(`[{"p":"/feed","q":"%zz","n":"a"},{"p":"//evil.example","q":"","n":"b"},` +
				`{"p":"/feed","q":"evil=1","n":"c"},{"p":"/feed","q":"q=1","n":""}]`))} {
			cookie.Value = wrong
			b.client.Jar.SetCookies(base, []*http.Cookie{cookie})
			page := b.get("/feed")
			clean(t, "a cookie of somebody's own making", page)
			if page.status != http.StatusOK || strings.Contains(page.body, "evil") {
				t.Errorf("%q: %d", wrong, page.status)
			}
		}
	}
	if after, err := h.backend.Store.Head(t.Context()); err != nil || after.Size != before.Size {
		t.Errorf("%v: keeping filters left %d events", err, after.Size-before.Size)
	}
}
