package browser_test

import (
	"strings"
	"testing"
)

// hostile is an action whose text tries to be read as another: it turns the writing direction, hides characters, moves a
// terminal's cursor and looks like the page's own words.
const hostile = "git push --force origin 'main\u202e\u2066gnp.yllamrah\u2069' \u200b\u00ad\x1b[2K\r<b>Approved</b> # \u2028looks harmless \u3164"

// On a phone nothing stands outside of the screen, what is touched is large enough, and the agent's text is whole and tame.
func TestAPhoneIsEnoughToAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	olga := newPage(t, startChromium(t), h.origin, device{phone: true})
	olga.enrol(h.link("operator", "add", "olga", "--role", "admin", "--enrol"), "olga")
	agent := h.overStdio("builder")
	agent.begins()
	request := agent.asks(hostile)
	for _, path := range []string{"/", "/feed", "/sessions", "/pending"} {
		olga.open(path)
	}
	olga.sees("⟦U+202E⟧")
	olga.sees("⟦U+001B⟧")
	olga.sees("<b>Approved</b>")
	olga.follows(`//main//a[.="` + request + `"]`)
	olga.sees("⟦U+3164⟧")
	olga.presses("Approve once, with a passkey")
	agent.goesOn(hostile)

	// What was decided proves itself in the page.
	olga.open("/")
	olga.follows(`(//main//ol//a[starts-with(@href, "/decisions/")])[1]`)
	olga.sees("U+202E")
	olga.sees("hashes lead from")
	olga.sees("and the key signed the checkpoint")
}

// On a narrow phone the navigation is one line that shows where one is, and the answer lies under the thumb: in the lower half of the
// screen, large enough, before and after reading on, and what is read is not hidden behind it.
func TestAnAnswerLiesUnderTheThumb(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	olga := newPage(t, startChromium(t), h.origin, device{phone: true})
	olga.enrol(h.link("operator", "add", "olga", "--role", "admin", "--enrol"), "olga")
	agent := h.overStdio("builder")
	agent.begins()
	request := agent.asks("git push --force origin release")
	for _, path := range []string{"/", "/pending", "/grants", "/system"} {
		olga.open(path)
		var nav struct {
			Lines int
			Here  bool // the page one is on is in sight
		}
		olga.evaluate(`(() => {
			const tabs = [...document.querySelectorAll(".top nav a")], here = document.querySelector(".top nav [aria-current]").getBoundingClientRect();
			return {Lines: new Set(tabs.map((a) => Math.round(a.getBoundingClientRect().top))).size, Here: here.left >= 0 && here.right <= innerWidth};
		})()`, &nav)
		if nav.Lines != 1 || !nav.Here {
			t.Errorf("the navigation of %s: %+v", path, nav)
		}
	}
	olga.open("/pending/" + request)
	olga.sees("Approve once, with a passkey")
	for _, to := range []string{"0", "document.body.scrollHeight"} {
		var wrong []string
		olga.evaluate(`(async () => {
			scrollTo(0, `+to+`);
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const wrong = [], sheet = document.querySelector(".answer").getBoundingClientRect();
			for (const button of document.querySelectorAll(".answer button")) {
				const box = button.getBoundingClientRect(), high = button.classList.contains("plain") ? 30 : 44;
				if (box.width > 0 && (box.top < innerHeight / 2 || box.bottom > innerHeight || box.height < high))
					wrong.push(button.textContent + ": " + JSON.stringify(box));
			}
			const last = [...document.querySelectorAll("main section > p, main details")].pop().getBoundingClientRect();
			if (scrollY > 0 && last.bottom > sheet.top) wrong.push("what stands last is hidden");
			return wrong;
		})()`, &wrong)
		if len(wrong) > 0 {
			t.Errorf("scrolled to %s: %q", to, wrong)
		}
	}
	olga.accessible(axeEngine(t), "a request on a phone")
	olga.presses("Approve once, with a passkey")
	agent.goesOn("git push --force origin release")
}

// Every page of the console keeps what an agent wrote tame, and fits a phone, whatever the agent put where.
func TestNoPageShowsWhatAnAgentHid(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := newPage(t, startChromium(t), h.origin, device{phone: true})
	anna.enrol(h.link("operator", "add", "anna", "--role", "superadmin", "--enrol"), "anna")
	token := strings.TrimSpace(h.run("agent", "add", "builder", "--trust", "validated"))
	long := strings.Repeat("averylongnamewithoutanybreak", 20)
	for _, action := range []options{
		{"kind": "shell", "input": hostile, "run": "r\u202e1", "call_id": "c\u200b1", "hint": hostile, "dir": "/srv/\u202eevil"},
		{"kind": "shell", "input": "git push --force origin " + long, "run": long[:120]},
		{"kind": "tool", "tool": "mail\u202e_send", "arguments": options{"to\u2066": "a\u200bb@example.com", "text": hostile + long}},
		{"kind": "file", "tool": "Write", "arguments": options{"path": "/etc/\u202epasswd", "content": "root\u3164\n" + long}},
		{"kind": "http", "input": options{"method": "POST", "url": "https://example.com/\u202e" + long, "body": "x\u0007"}},
		{"kind": "sql", "input": "DROP TABLE \u202eusers -- " + long},
	} {
		h.decide(token, action)
	}
	agent := h.overStdio("rival")
	agent.begins()
	agent.stops("sudo rm -rf / #" + hostile)
	seen := map[string]bool{}
	for _, path := range append([]string{"/", "/feed", "/pending", "/agents", "/challenges", "/trust", "/grants", "/rules",
		"/rules/git.force-push", "/rules/try", "/rules/past?days=7", "/audit", "/system", "/sessions"},
		anna.linked("/", "/pending", "/audit")...) {
		if !seen[path] {
			seen[path] = true
			anna.open(path)
			if anna.has(`//*[contains(., "something went wrong here")]`) {
				t.Errorf("%s: %s", path, anna.text())
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were found", len(seen))
	}
}

// linked returns the addresses of decisions, requests and events that pages link to.
func (p *page) linked(pages ...string) (paths []string) {
	p.t.Helper()
	for _, one := range pages {
		p.open(one)
		var found []string
		p.evaluate(`[...document.querySelectorAll("main a[href^='/decisions/'], main a[href^='/pending/'], main a[href^='/events/']")].map(a => a.getAttribute("href"))`, &found)
		paths = append(paths, found...)
	}
	return paths
}
