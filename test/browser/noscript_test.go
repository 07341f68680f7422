package browser_test

import (
	"strings"
	"testing"
)

// Without script there is no passkey: an SSH key lets the operator in, and the server is the witness of what they answer.
func TestApproveAndDenyWorkWithoutScript(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.operator("olga", "operator")
	olga := newPage(t, startChromium(t), h.origin, device{noScripts: true, noPasskey: true})
	olga.open("/")
	olga.sees("Passkeys need script")
	olga.enter(h, "olga")
	olga.sees("No decision yet")

	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	request := agent.asks(push)
	olga.open("/")
	olga.sees("1 action waits for an answer")
	olga.follows(`//a[contains(., "1 action waits")]`)
	olga.sees(push)
	olga.follows(`//main//a[.="` + request + `"]`)
	olga.presses("Approve once")
	olga.sees("Approved and not used yet")
	agent.goesOn(push)

	second := agent.asks(push)
	olga.open("/pending/" + second)
	olga.writes(`//form[@id="no"]//input[@name="reason"]`, "which branch is this for?")
	olga.presses("Send back and ask for more")
	olga.sees("Nothing waits")

	// Several at once, from the list.
	third := agent.asks(push)
	olga.open("/pending")
	olga.touches(`//input[@name="id" and @value="` + third + `"]`)
	olga.presses("Deny what is ticked")
	olga.sees("Nothing waits")
	if events := h.logged(); strings.Count(events, `"method":"session"`) < 3 {
		t.Errorf("not every answer is told to be a session's:\n%s", events)
	}
	h.run("audit", "verify")
}

// A grant answers in advance, within what was shown before it was given.
func TestAStandingGrantIsShownGivenAndUsedUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	olga.open("/pending/" + agent.asks(push))
	olga.touches(`//summary[contains(., "standing grant")]`)
	olga.writes(`//input[@name="tool"]`, push)
	olga.writes(`//input[@name="times"]`, "2")
	olga.writes(`//input[@name="hours"]`, "1")
	olga.presses("Show what would be signed")
	olga.sees("This is the whole grant")
	olga.sees(push)
	olga.presses("Give it, with a passkey")
	olga.sees("olga (operator)")
	agent.goesOn(push)
	agent.goesOn(push)
	agent.asks(push)
}
