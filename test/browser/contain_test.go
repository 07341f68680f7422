package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Somebody contains an agent on the page, is told who may loosen that, and whoever may loosens it with a passkey. How much of a limit is
// used stands as a bar that can be seen, and a decision's page says step by step how it came about.
func TestAPhaseIsLoosenedOnThePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := os.MkdirAll(filepath.Join(h.dir, "home", "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := "limits:\n  - {id: team.calls, per: agent, measure: actions, most: 8, within: 1h}\n"
	if err := os.WriteFile(filepath.Join(h.dir, "home", "rules", "team.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(h.run("agent", "add", "builder", "--trust", "validated"))
	h.run("rules", "adopt", "--reason", "how much an agent may do", "--key", h.governor())
	engine := axeEngine(t)
	browser := startChromium(t)
	ada, olga := newPage(t, browser, h.origin, device{}), newPage(t, browser, h.origin, device{})
	ada.enrol(h.link("operator", "add", "ada", "--role", "admin", "--enrol"), "ada")
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	for n := range 6 {
		h.decide(token, options{"kind": "shell", "input": fmt.Sprint("ls ", n), "run": "r1", "dir": "/srv/shop"})
	}

	olga.open("/system/limits")
	olga.sees("6 of 8 actions, 75 %")
	var share float64
	olga.evaluate(`(() => {
		const bar = [...document.querySelectorAll("[role=meter]")].find((b) => b.getAttribute("aria-label") === "team.calls for agent builder");
		const [track, used] = bar.querySelectorAll("rect");
		return bar.getAttribute("aria-valuenow") === "75" ? used.getBoundingClientRect().width / track.getBoundingClientRect().width : 0;
	})()`, &share)
	if share < .74 || share > .76 {
		t.Errorf("the bar is as long as %.2f of its track", share)
	}
	olga.accessible(engine, "limits")

	olga.open("/system/phases")
	olga.writes(`//section[@id="tighten"]//form[.//select]//input[@name="subject"]`, "agent:builder")
	olga.writes(`//section[@id="tighten"]//form[.//select]//input[@name="reason"]`, "it read a poisoned page")
	olga.presses("Tighten")
	olga.sees("This is the whole order, and exactly what is signed.")
	olga.presses("Sign it with a passkey")
	olga.sees("A (alternate)")
	olga.sees("the step back to phase P (primary) takes an operator with the role admin or superadmin")
	olga.accessible(engine, "phases")
	h.decide(token, options{"kind": "shell", "input": "ls held", "run": "r1", "dir": "/srv/shop"})

	ada.open("/system/phases")
	ada.writes(`//form[.//input[@value="loosen-phase"]]//input[@name="proof"]`, "ticket 7")
	ada.writes(`//form[.//input[@value="loosen-phase"]]//input[@name="reason"]`, "its memory is clean")
	ada.presses("Back to phase P (primary)")
	ada.sees("At once agent:builder goes back to phase P (primary)")
	ada.presses("Sign it with a passkey")
	ada.sees("Everything is in phase P (primary).")

	ada.open("/agents/timeline?on=agent:builder")
	ada.sees("agent:builder · P to A")
	ada.sees("agent:builder · A to P")
	ada.accessible(engine, "timeline")
	ada.follows(`//a[contains(@class, "cell")][contains(., "ls held")]`)
	ada.sees("How it came about, step by step")
	ada.sees("phase.isolated")
	ada.sees("holds: ") // its proof, which the browser has checked by itself
	ada.accessible(engine, "trace")
	if log := h.logged(); strings.Count(log, `"PHASE_CHANGED"`) != 2 || !strings.Contains(log, `"method":"passkey"`) {
		t.Errorf("the log does not hold who ordered it: %s", log)
	}
}
