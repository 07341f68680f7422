package browser_test

import (
	"strings"
	"testing"
)

// key presses a key on the page.
func (p *page) key(key, code string, modifiers int) {
	p.t.Helper()
	text := key
	if modifiers != 0 || len(key) > 1 {
		text = ""
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := options{"type": kind, "key": key, "code": code, "text": text, "modifiers": modifiers}
		if key == "Escape" {
			event["windowsVirtualKeyCode"] = 27 // by which a browser knows what closes a dialog
		}
		p.do("Input.dispatchKeyEvent", event, nil)
	}
}

// What waits is answered where it stands, by hand and by key, and every page that is open sees it within half a second.
func TestTheInboxIsAnsweredInPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	otto := newPage(t, browser, h.origin, device{phone: true})
	otto.enrol(h.link("operator", "add", "otto", "--role", "operator", "--enrol"), "otto")
	olga.open("/pending")
	olga.sees("Nothing waits")
	otto.open("/pending")

	// It comes by itself, on every page, also where one counts what waits.
	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	request := agent.asks(push)
	for _, p := range []*page{olga, otto} {
		p.sees("origin release")
		p.sees("Approve")
	}
	olga.touches(`//button[normalize-space()="Approve"]`)
	olga.sees("Approved by olga, not used yet")
	otto.sees("Approved by olga, not used yet") // without being loaded again
	if otto.has(`//article[@id="` + request + `"]//button`) {
		t.Error("what is answered is asked of somebody else")
	}
	var at string
	if olga.evaluate("location.pathname", &at); at != "/pending" {
		t.Errorf("answering led to %s", at)
	}
	agent.goesOn(push)

	// By key: the next, a no, and a yes with the passkey.
	rival := h.overStdio("rival")
	rival.begins()
	second, third := agent.asks(push), rival.asks("npm publish")
	olga.sees("npm publish")
	olga.awaits("what moved to stand still", func() bool { return !olga.has(`//*[contains(@class, "settling")]`) })
	olga.key("j", "KeyJ", 0)
	olga.awaits("the newest to be the current one", func() bool { return olga.has(`//article[@id="` + third + `"][contains(@class, "current")]`) })
	olga.key("d", "KeyD", 0)
	olga.awaits("the no", func() bool { return olga.has(`//article[@id="` + third + `"]//*[contains(., "denied by olga")]`) })
	olga.key("j", "KeyJ", 0)
	olga.awaits("the other to be the current one", func() bool { return olga.has(`//article[@id="` + second + `"][contains(@class, "current")]`) })
	olga.key("a", "KeyA", 0)
	olga.awaits("the yes", func() bool { return olga.has(`//article[@id="` + second + `"]//*[contains(., "approved by olga")]`) })
	agent.goesOn(push)
	olga.key("?", "Slash", 0)
	olga.sees("next and previous")
	olga.key("Escape", "Escape", 0)
	olga.key("/", "Slash", 0)
	olga.awaits("the field to search", func() bool {
		var name string
		olga.evaluate("document.activeElement.name || ''", &name)
		return name == "q"
	})
	olga.key("k", "KeyK", 2)
	olga.sees("Challenges")
	if !olga.has(`//dialog//a[@href="/rules"]`) {
		t.Error("Ctrl-K leads nowhere")
	}

	// A link that was kept tells what became of it.
	olga.open("/pending/" + third)
	olga.sees("denied by olga")
	if events := h.logged(); strings.Count(events, `"method":"passkey"`) != 2 {
		t.Errorf("not every yes is the passkey's:\n%s", events)
	}
}

// Several that are alike are ticked and answered together, each signed; who came without a passkey says yes twice by key.
func TestSeveralAreAnsweredTogether(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	token := strings.TrimSpace(h.run("agent", "add", "pusher", "--trust", "validated"))
	h.decide(token, options{"kind": "shell", "input": "git push --force origin one", "run": "r1", "dir": "/srv/shop"})
	h.decide(token, options{"kind": "shell", "input": "git push --force origin two", "run": "r1", "dir": "/srv/shop"})
	olga.do("Emulation.setDeviceMetricsOverride", options{"width": 1280, "height": 1400, "deviceScaleFactor": 1, "mobile": false}, nil)
	olga.open("/pending")
	olga.touches(`//summary[.="1 more like it"]`)
	olga.touches(`//article//p[@class="meta"][1]//input[@name="id"]`)
	olga.touches(`//li[@class="alike"]//input[@name="id"]`)
	olga.awaits("both to be ticked", func() bool {
		var ticked int
		olga.evaluate(`document.querySelectorAll("input[name=id]:checked").length`, &ticked)
		return ticked == 2 && !olga.has(`//*[contains(@class, "settling")]`)
	})
	olga.touches(`//button[.="Approve what is ticked, with a passkey"]`)
	olga.sees("Approved and not used yet")
	olga.awaits("both to be told", func() bool { return strings.Count(strings.ToLower(olga.text()), "approved by olga, not used yet") >= 2 })

	agent := h.overStdio("builder")
	agent.begins()
	h.operator("ruben", "operator")
	ruben := newPage(t, browser, h.origin, device{noPasskey: true})
	ruben.enter(h, "ruben")
	three := agent.asks("git push --force origin three")
	ruben.open("/pending")
	ruben.key("j", "KeyJ", 0)
	ruben.key("a", "KeyA", 0)
	ruben.sees("Press a once more to approve")
	if ruben.has(`//article[@id="` + three + `"][contains(@class, "gone")]`) {
		t.Error("one key said yes")
	}
	ruben.key("a", "KeyA", 0)
	ruben.sees("Approved by ruben, not used yet")
	agent.goesOn("git push --force origin three")
	h.run("audit", "verify")
}

// The overview counts what happens, and its bars lead to it.
func TestTheOverviewLeadsToWhatItCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ada := newPage(t, startChromium(t), h.origin, device{})
	ada.enrol(h.link("operator", "add", "ada", "--role", "admin", "--enrol"), "ada")
	agent := h.overStdio("builder")
	agent.begins()
	agent.goesOn("list the files of the project")
	agent.asks("git push --force origin release")
	ada.open("/")
	ada.sees("1 question was put")
	ada.sees("enforcing, profile")
	ada.follows(`(//figure//*[local-name()="svg"]//*[local-name()="a"])[1]`)
	ada.sees("git push --force origin release")
	ada.open("/")
	ada.follows(`//a[contains(., "Asked")]`)
	ada.sees("git push --force origin release")
	ada.misses("list the files")
}
