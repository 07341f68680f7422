package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// listed are the agents that a page lists, in its order.
func listed(page answer) (names []string) {
	_, body, _ := strings.Cut(page.body, `id="agents"`)
	body, _, _ = strings.Cut(body, "<h2>Runs</h2>")
	for _, part := range strings.Split(body, `<td><a class="name" href="/feed?agent=`)[1:] {
		names = append(names, between(part, "", `"`))
	}
	return names
}

// TestAgentsFilter: agents come newest activity first, a page at a time, and are found by name, by what stands about them and by when
// they were active.
func TestAgentsFilter(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	h.registered(interlock.AgentRecord{ID: "builder", Principal: "erin", Type: "ci", Trust: interlock.TrustValidated, Created: h.now()})
	h.act("first", "r1", shell("ls"))
	h.ask("second", "DELETE FROM users")
	h.block("third")
	b.counted("/")
	for query, want := range map[string]string{
		"": "third second first builder", "?q=ERIN": "builder", "?standing=held": "third", "?standing=waiting": "second",
		"?standing=unregistered": "third second first", "?standing=registered": "builder", "?standing=granted": "", "?standing=revoked": "",
		"?since=" + h.now().UTC().Format("2006-01-02T15:04"): "third second first", "?until=2020-01-01": "", "?q=first&standing=held": "",
	} {
		page := b.get("/agents" + query)
		clean(t, query, page)
		if got := strings.Join(listed(page), " "); got != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	h.want("nobody passes", b.get("/agents?standing=held&q=x"), http.StatusOK, "No agent passes the filter")
	for query, want := range map[string]string{"standing=odd": "nothing that agents are looked for by", "since=soon": "is no time",
		"page=-1": "is not an index", "q=" + strings.Repeat("x", 201): "is longer than"} {
		h.want(query, b.get("/agents?"+query), http.StatusBadRequest, want)
	}
	for i := range 60 {
		h.act(fmt.Sprintf("many%02d", i), "r", shell("ls"))
	}
	page := b.counted("/agents")
	if n := len(listed(page)); n != 50 {
		t.Errorf("a page lists %d agents", n)
	}
	if weight := len(page.body); weight > 100<<10 {
		t.Errorf("it weighs %d bytes", weight)
	}
	second := b.get(next(t, page, "Older activity"))
	if n := len(listed(second)); n != 14 || strings.Contains(second.body, "Older activity") {
		t.Errorf("the second page lists %d", n)
	}
	h.want("the way back", second, http.StatusOK, "Newer activity")
	// Whoever was active days ago stands there with when, though the newest events no longer tell.
	h.forward(5 * 24 * time.Hour)
	b = h.in("bert", quorum.RoleAdmin)
	page = b.counted("/agents?standing=unregistered&q=first")
	if got := listed(page); len(got) != 1 || !strings.Contains(page.body, "days ago") {
		t.Errorf("after five days it lists %q", got)
	}
}

func (h *house) registered(record interlock.AgentRecord) {
	h.t.Helper()
	if err := h.backend.PutAgent(h.t.Context(), record); err != nil {
		h.t.Fatal(err)
	}
}

// TestLadder: each level is told by what the gate that decides it lets it do, the agent's own is marked, and the next one says what it
// takes; of very many agents each is a line that leads to its own page.
func TestLadder(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	h.registered(interlock.AgentRecord{ID: "builder", Principal: "dana", Trust: interlock.TrustCommunityReviewed, Created: h.now()})
	h.registered(interlock.AgentRecord{ID: "zenith", Principal: "dana", Trust: interlock.TrustCertified, Created: h.now()})
	page := b.get("/trust")
	clean(t, "trust", page)
	for _, want := range []string{"may say what it is, and nothing else", "may do what is safe</span>",
		"may do what is safe or reversible; is asked about what is destructive",
		"may do what is safe, reversible or destructive; is asked about what is dangerous",
		"may do what is safe, reversible, destructive or dangerous; is asked about what is forbidden", `aria-current="step">community reviewed`,
		"certified: takes an admin's signed order that names the evidence, and an end within 400 days", "none: this is the highest level"} {
		if !strings.Contains(strings.ReplaceAll(page.body, "&#39;", "'"), want) {
			t.Errorf("the ladder lacks %q", want)
		}
	}
	one := b.get("/trust?agent=builder")
	if !strings.Contains(one.body, `id="ladder"`) || strings.Contains(one.body, "zenith") {
		t.Errorf("one agent's page:\n%s", text(one.body))
	}
	h.want("an agent that nobody registered", b.get("/trust?agent=nobody"), http.StatusOK, "No registered agent")
	h.want("the list", b.get("/agents"), http.StatusOK, "next: certified, on evidence, by an admin")
	for i := range 30 {
		h.registered(interlock.AgentRecord{ID: fmt.Sprintf("bot%02d", i), Principal: "dana", Created: h.now()})
	}
	page = b.get("/trust")
	if strings.Contains(page.body, "Evidence") || !strings.Contains(page.body, `href="/trust?agent=bot07"`) {
		t.Error("of very many agents each has its forms")
	}
	h.want("one of many", b.get("/trust?agent=bot07"), http.StatusOK, "Evidence")
}
