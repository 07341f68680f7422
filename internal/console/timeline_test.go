package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

var (
	indices = regexp.MustCompile(`<span class="index">([0-9,]+)</span>`)
)

// plain is a page as one reads it.
func plain(page answer) string {
	return strings.Join(strings.Fields(text(page.body)), " ")
}

// inOrder fails the test unless a page says these one after the other.
func (h *house) inOrder(what string, page answer, words ...string) {
	h.t.Helper()
	said := plain(page)
	_, rest, _ := strings.Cut(said, "IndexWhenTypeWhoWhat")
	for _, word := range words {
		before, after, found := strings.Cut(rest, word)
		if !found {
			h.t.Fatalf("%s: %q does not follow:\n%s", what, word, said)
		}
		_, rest = before, after
	}
}

// TestTimeline: what was decided about an agent, its phases and breakers, the signals and the stops stand in the order of the log; of
// other agents nothing does; and it goes back page by page.
func TestTimeline(t *testing.T) {
	h := open(t)
	ada, vera := h.in("ada", quorum.RoleAdmin), h.in("vera", quorum.RoleViewer)
	h.act("builder", "r1", shell("ls first"))
	h.act("other", "r2", shell("ls elsewhere"))
	const page = "/system/phases"
	if _, err := h.backend.Signal(t.Context(), "watcher", interlock.Signal{Kind: interlock.SignalAnomaly, Agent: "builder", Value: 55,
		Reason: "it is not itself"}); err != nil {
		t.Fatal(err)
	}
	ada.ordered(page, "verb", "trip-breaker", "subject", "agent:builder", "reason", "it repeats itself")
	h.act("builder", "r1", shell("ls second"))
	ada.ordered(page, "verb", "tighten-phase", "subject", "agent:other", "to", "A", "reason", "another matter")
	ada.ordered("/system", "verb", "kill", "subject", "everything", "how", "hard", "reason", "the fraud desk called")
	ada.ordered("/system", "verb", "release-kill", "subject", "everything", "reason", "a false alarm")
	got := ada.get("/agents/timeline?on=agent:builder")
	clean(t, "timeline", got)
	h.inOrder("an agent", got, "ls first", "SIGNAL", "it is not itself", "BREAKER_TRIPPED", "it repeats itself", "ls second", "KILL_SWITCH",
		"the fraud desk called", "KILL_RELEASED")
	for _, not := range []string{"ls elsewhere", "another matter"} {
		if strings.Contains(got.body, not) {
			t.Errorf("the timeline tells of another agent: %q", not)
		}
	}
	h.want("what is over it", got, http.StatusOK, "breaker open")
	only := ada.get("/agents/timeline?on=agent:builder&show=control")
	h.inOrder("what steers", only, "SIGNAL", "BREAKER_TRIPPED", "KILL_SWITCH")
	if strings.Contains(only.body, "ls first") || strings.Contains(ada.get("/agents/timeline?on=agent:builder&show=decisions").body,
		"BREAKER_TRIPPED") {
		t.Error("the choice leaves nothing out")
	}
	h.inOrder("a run", ada.get("/agents/timeline?on=run:r1"), "ls first", "ls second")
	h.inOrder("the system", ada.get("/agents/timeline?on=system"), "BREAKER_TRIPPED", "PHASE_CHANGED", "agent:other", "KILL_SWITCH")
	if body := vera.get("/agents/timeline?on=agent:builder").body; strings.Contains(body, "ls first") || strings.Contains(body, "fraud desk") {
		t.Error("a viewer is shown words of actions")
	}
	for _, wrong := range []string{"", "?on=builder", "?on=planet:mars", "?on=agent:", "?on=agent:x&show=all",
		"?on=agent:x&before=y", "?on=agent:" + strings.Repeat("x", 300)} {
		if got := ada.get("/agents/timeline" + wrong); got.status != http.StatusBadRequest {
			t.Errorf("%q: %d", wrong, got.status)
		}
	}
	h.want("nobody", ada.get("/agents/timeline?on=type:"+url.QueryEscape(hostile[:40])), http.StatusOK, "KILL_SWITCH")
}

// TestTimelineGoesBack: no event stands on two pages, and none is left out.
func TestTimelineGoesBack(t *testing.T) {
	h := open(t)
	ada := h.in("ada", quorum.RoleAdmin)
	var want []string
	for n := range 120 {
		a := h.act("builder", "r1", shell(fmt.Sprint("ls ", n)))
		want = append(want, fmt.Sprint(a.Index))
	}
	var seen []string
	for next := "/agents/timeline?on=agent:builder"; next != ""; {
		page := ada.get(next)
		var here []string
		for _, match := range indices.FindAllStringSubmatch(page.body, -1) {
			here = append(here, strings.ReplaceAll(match[1], ",", ""))
		}
		seen = append(here, seen...)
		next = ""
		if match := regexp.MustCompile(`<a href="([^"]+)">(?:Earlier|Search further back)</a>`).FindStringSubmatch(page.body); match != nil {
			next = text(match[1])
		}
	}
	if strings.Join(seen, " ") != strings.Join(want, " ") {
		t.Errorf("the pages hold\n%v, want\n%v", seen, want)
	}
}

// TestTimelineOfAnOrchestration: what is done in a run and in those that it delegated stands in one timeline, and nothing of others.
func TestTimelineOfAnOrchestration(t *testing.T) {
	h := open(t, "types: [{name: planner, accountable: ada, tools: ['*']}, {name: clerk, accountable: ada, tools: ['*']}]\nmaso: {tier: 2}")
	ada := h.in("ada", quorum.RoleAdmin)
	put := func(id, kind string) {
		t.Helper()
		if err := h.backend.PutAgent(t.Context(), interlock.AgentRecord{ID: id, Principal: "dana", Type: kind,
			Created: h.now().Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	put("boss", "planner")
	put("hand", "clerk")
	by := interlock.Requester{Agent: "boss", Principal: "dana"}
	root, err := h.backend.RegisterRun(t.Context(), by, interlock.RunRequest{Task: "the whole"})
	child, problem := h.backend.RegisterRun(t.Context(), by, interlock.RunRequest{Task: "a part", Parent: root.ID, Agent: "hand"})
	if err != nil || problem != nil {
		t.Fatal(errors.Join(err, problem))
	}
	h.act("boss", root.ID, shell("ls whole"))
	h.act("hand", child.ID, shell("ls part"))
	h.act("hand", "elsewhere", shell("ls aside"))
	page := ada.get("/agents/timeline?on=orchestration:" + root.ID)
	clean(t, "orchestration", page)
	h.inOrder("an orchestration", page, "RUN_REGISTERED", "RUN_REGISTERED", "ls whole", "ls part")
	if strings.Contains(page.body, "ls aside") {
		t.Error("what is done outside of it stands in its timeline")
	}
	if strings.Contains(ada.get("/agents/timeline?on=agent:boss").body, "ls part") {
		t.Error("what somebody did for an agent stands in that agent's timeline as its own")
	}
	h.inOrder("a type", ada.get("/agents/timeline?on=type:clerk"), "ls part", "ls aside")
	if strings.Contains(ada.get("/agents/timeline?on=type:clerk").body, "ls whole") {
		t.Error("a type's timeline tells of another type")
	}
}

// TestDecisionIsTraced: the page of a decision says step by step how it came about: the gates in their order, what was charged, whom it
// waited for, and what came of it, with the way to its proof and to the timeline.
func TestDecisionIsTraced(t *testing.T) {
	h := open(t, bounded)
	ada, vera := h.in("ada", quorum.RoleAdmin), h.in("vera", quorum.RoleViewer)
	allowed := h.act("claude", "r1", shell("ls -la"))
	if err := h.backend.Report(t.Context(), interlock.Requester{Agent: "claude", Principal: "dana"},
		interlock.Outcome{Event: allowed.Event, Status: interlock.OutcomeSuccess}); err != nil {
		t.Fatal(err)
	}
	page := ada.get("/decisions/" + allowed.Event)
	clean(t, "trace", page)
	said := plain(page)
	_, said, _ = strings.Cut(said, "How it came about, step by step")
	for _, step := range []string{"Proposed by claude", "Gates", "none objected", "found nothing to object to", "standing", "profile",
		"Judge: none was asked", "Limits that it was charged to", "team.calls: 1 actions of 8 for agent claude", "team.run: 1 actions of 1,000",
		"People: nobody was asked", "Answer: allow", "its proof", "Outcome: It ran and succeeded"} {
		before, after, found := strings.Cut(said, step)
		if !found {
			t.Fatalf("the trace does not go on with %q after %q", step, before)
		}
		said = after
	}
	for _, link := range []string{`href="/agents/timeline?on=run%3ar1"`, `href="/agents/timeline?on=agent%3aclaude"`,
		`href="#proof"`, `href="/system/limits?on=agent%3aclaude"`} {
		if !strings.Contains(page.body, link) {
			t.Errorf("the trace has no link %s", link)
		}
	}
	request := h.ask("claude", "DELETE FROM users")
	if got := ada.byTicket("ada").bySession(request, "deny", "not today"); got.status != http.StatusSeeOther {
		t.Fatalf("denying: %d", got.status)
	}
	asked := ada.get("/pending/" + request)
	match := regexp.MustCompile(`/decisions/([0-9a-f]+)`).FindStringSubmatch(asked.body)
	if match == nil {
		t.Fatalf("no decision behind the request:\n%s", text(asked.body))
	}
	said = plain(ada.get("/decisions/" + match[1]))
	for _, want := range []string{"rules ask", request, "deny by ada", "not today", "charged to none"} {
		if !strings.Contains(said, want) {
			t.Errorf("the trace of what was asked lacks %q:\n%s", want, said)
		}
	}
	if body := vera.get("/decisions/" + allowed.Event).body; strings.Contains(body, "ls -la") {
		t.Error("a viewer is shown the action")
	}
}
