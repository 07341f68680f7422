package browser_test

import (
	"strings"
	"testing"
)

// Without any script an operator tries an action on a page, keeps the rule that asks too often silent, has it speak again, and keeps a
// filter under a name.
func TestRulesAreTriedAndKeptSilentWithoutScript(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.operator("olga", "operator")
	olga := newPage(t, startChromium(t), h.origin, device{noScripts: true, noPasskey: true})
	olga.enter(h, "olga")
	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	before := strings.Count(h.logged(), "\n")

	olga.open("/rules")
	olga.follows(`//a[.="Try an action"]`)
	olga.writes(`//textarea[@name="input"]`, push)
	olga.presses("Explain it")
	olga.sees("a forced push replaces what others have fetched")
	olga.sees("interlock rules suppress git.force-push")
	told, _ := h.command("check", "--explain", push).Output() // which ends with a status of its own where a person is asked
	_, said, found := strings.Cut(string(told), "> ASK git.force-push (layer 3): ")
	said, _, _ = strings.Cut(said, "\n")
	if !found || !strings.Contains(olga.text(), said) {
		t.Errorf("the page does not say %q, as `interlock check --explain` does:\n%s\n%s", said, told, olga.text())
	}
	if after := strings.Count(h.logged(), "\n"); after != before {
		t.Errorf("trying an action left %d events", after-before)
	}

	agent.asks(push)
	olga.open("/rules/git.force-push")
	olga.writes(`//input[@name="command"]`, "git push *")
	olga.writes(`//form[contains(@action, "/suppress")]//input[@name="reason"]`, "a release day")
	olga.presses("Show what is signed")
	olga.sees(`command: "git push *"`)
	olga.presses("Give it")
	olga.sees("a release day")
	if events := h.logged(); !strings.Contains(events, `"method":"session"`) {
		t.Errorf("the order does not say how it was signed:\n%s", events)
	}
	olga.open("/rules?from=silent")
	olga.sees("silent in 1 place")
	olga.presses("Let it speak again")
	olga.open("/rules?from=silent")
	olga.sees("No rule is kept silent anywhere")

	olga.open("/feed?verdict=ask")
	olga.touches(`//summary[.="Keep this filter"]`)
	olga.writes(`//input[@name="name"]`, "Questions")
	olga.presses("Keep it in this browser")
	olga.open("/feed")
	olga.follows(`//nav//a[.="Questions"]`)
	olga.sees(push)
	olga.fits()
	h.run("audit", "verify")
}

// A filter that answers while one types is kept as it was when it was kept.
func TestAFilterIsKeptAsItWasTyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := newPage(t, startChromium(t), h.origin, device{})
	p.enrol(h.link("operator", "add", "anna", "--role", "admin", "--enrol"), "anna")
	p.open("/rules")
	p.writes(`//input[@type="search"]`, "force-push")
	p.awaits("the list to answer", func() bool {
		var here string
		p.evaluate(`location.search`, &here)
		return strings.Contains(here, "q=force-push")
	})
	p.touches(`//summary[.="Keep this filter"]`)
	p.writes(`//input[@name="name"]`, "Pushes")
	p.presses("Keep it in this browser")
	p.open("/rules")
	p.follows(`//nav//a[.="Pushes"]`)
	p.sees("1 of ")
	p.key("k", "KeyK", 2)
	p.awaits("the palette", func() bool { return p.has(`//dialog//a[.="Pushes"]`) })
}
