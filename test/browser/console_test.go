package browser_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interlock/spec"
)

// enrol registers a passkey by a one-time link, which leaves its operator signed in.
func (p *page) enrol(link, name string) {
	p.t.Helper()
	p.open(link)
	p.sees("This registers a passkey for the operator " + name)
	p.presses("Register a passkey")
	p.sees(name + " (")
}

// enter logs in by a link that an operator's SSH key signed.
func (p *page) enter(h *house, name string) {
	p.t.Helper()
	p.open(h.link("operator", "login", name, "--key", name))
	p.sees("This link logs " + name + " in, once.")
	p.presses("Log in as " + name)
	p.sees(name + " (")
}

// The guard of all these tests must bite: a script in the page, something from elsewhere, a raw control character.
func TestTheBrowserTellsWhatAPageMustNotDo(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src *")
		if r.URL.Path == "/script" {
			_, _ = w.Write([]byte("<script>document.title = 'ran'</script>"))
		}
		if r.URL.Path == "/image" {
			_, _ = w.Write([]byte("<img src='http://127.0.0.1:1/x.png'>"))
		}
		if r.URL.Path == "/turned" {
			_, _ = w.Write([]byte("<p data-after='rm \u202e'>"))
		}
	}))
	defer pages.Close()
	browser := startChromium(t)
	for path, want := range map[string]string{"/script": "content security policy", "/image": "from elsewhere"} {
		p := newPage(t, browser, pages.URL, device{})
		p.open(path)
		p.awaits("a complaint", func() bool { return strings.Contains(strings.Join(p.complained(), "\n"), want) })
		p.mu.Lock()
		p.complaints = nil
		p.mu.Unlock()
		p.do("Page.close", nil, nil)
	}
	p := newPage(t, browser, pages.URL, device{})
	p.do("Page.navigate", options{"url": pages.URL + "/turned"}, nil)
	p.awaits("the hidden character to be noticed", func() bool { return p.unseen() == '\u202e' })
}

func TestAnOperatorEnrolsAndAnswersAnMCPClientWithAPasskey(t *testing.T) {
	spec.Covers(t, "AQL-8.7.3s")
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	link := h.link("operator", "add", "olga", "--role", "operator", "--enrol")
	olga.enrol(link, "olga")
	olga.presses("Log out")
	olga.presses("Log in with a passkey")
	olga.sees("olga (operator)")
	again := newPage(t, browser, h.origin, device{})
	again.open(link)
	again.presses("Register a passkey")
	again.sees("Back to the first page")
	again.misses("olga (operator)")

	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	request := agent.asks(push)
	if got := agent.call("mcp_aql_execute", "confirm_operation", options{"request_id": request}); got.Data.Confirmed {
		t.Fatalf("the agent confirmed itself: %s", got.text)
	}
	olga.open("/pending")
	olga.sees(push)
	olga.follows(`//main//a[.="` + request + `"]`)
	olga.sees(push)
	olga.touches(`//summary[.="This is what is signed"]`)
	olga.sees(`request: "` + request + `"`)
	olga.presses("Approve once, with a passkey")
	olga.sees("Approved and not used yet")
	if got := agent.call("mcp_aql_execute", "confirm_operation", options{"request_id": request}); !got.Data.Confirmed {
		t.Errorf("the agent is not told of the yes: %s", got.text)
	}
	agent.goesOn(push)
	if next := agent.asks(push); next == request {
		t.Error("one yes let two pass")
	} else {
		olga.open("/pending/" + next)
		olga.writes(`//form[@id="no"]//input[@name="reason"]`, "not during the freeze")
		olga.presses("Deny")
		olga.sees("Nothing waits")
	}
	if events := h.logged(); !strings.Contains(events, `"method":"passkey"`) {
		t.Errorf("no event names the passkey:\n%s", events)
	}
	h.run("audit", "verify")
}
