package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/quorum"
)

// TestAskedInTheHarness: a question that a harness has put to its own user is told apart from what waits, with what it is about for who
// may read it, and is counted as answered there once its run goes on.
func TestAskedInTheHarness(t *testing.T) {
	h := open(t)
	b, viewer := h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	at := func(command, call string) interlock.Answer {
		return h.backend.Propose(t.Context(), interlock.Proposal{Door: "hook", CanAsk: true,
			Action:    interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: command, Dir: "/srv/shop"},
			Requester: interlock.Requester{Principal: "dana", Agent: "claude", Run: "r1", Call: call}})
	}
	asked := at("git push --force origin one\n# and a second line", "c1")
	h.want("while it is asked", b.get("/pending"), http.StatusOK, "Asked in the harness")
	told := func(b *browser) bool { return strings.Contains(b.get("/pending").body, "</mark> origin one</code>") }
	if !told(b) || told(viewer) {
		t.Errorf("the command is told to who answers: %v, to who may not read it: %v", told(b), told(viewer))
	}
	if got := tile(b.counted("/"), "Waiting now"); got != "0" {
		t.Errorf("%q wait", got)
	}
	h.want("before it is over", b.counted("/"), http.StatusOK, "and 0 expired. The others wait.")
	at("ls", "c2")
	said := html.UnescapeString(b.counted("/").body)
	if !strings.Contains(said, "1 question was put; people said yes to 0 and no to 0, and 0 expired. 1 was answered in the harness.") ||
		strings.Contains(said, "The others wait.") {
		t.Errorf("afterwards:\n%s", said)
	}
	h.want("its link", b.get("/pending/"+asked.Request), http.StatusOK, "went on")
	if told(viewer) {
		t.Error("it is told afterwards to who may not read it")
	}
}
