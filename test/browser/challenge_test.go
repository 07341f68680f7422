package browser_test

import (
	"strings"
	"testing"

	"interlock/spec"
)

// verifies hands in a code for a challenge.
func (a *agent) verifies(challenge, code string) answer {
	a.t.Helper()
	return a.call("mcp_aql_create", "verify_challenge", options{"challenge_id": challenge, "code": code})
}

// stops reports an action that must open a hard block, and returns the challenge.
func (a *agent) stops(action string) string {
	a.t.Helper()
	got := a.step(action)
	if !got.Data.Stopped || got.challenge() == "" {
		a.t.Fatalf("%q does not stop the agent: %s", action, got.text)
	}
	return got.challenge()
}

// newCode has a fresh code shown for the newest challenge.
func (p *page) newCode() string {
	p.t.Helper()
	p.open("/challenges")
	p.presses("Issue a new code")
	p.sees("This is the whole order, and exactly what is signed")
	p.presses("Sign it with a passkey")
	p.sees("shown once and kept nowhere")
	var code string
	p.evaluate(`document.querySelector(".code-shown").innerText`, &code)
	if len(code) < 26 {
		p.t.Fatalf("%q has less than 128 bits", code)
	}
	return strings.TrimSpace(code)
}

func TestABlockEndsWithACodeThatAHumanWasShown(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2c", "AQL-8.8.3a")
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	builder := h.overStdio("builder")
	builder.begins()
	challenge := builder.stops("sudo rm -rf /")
	olga.open("/")
	olga.sees("1 challenge stands")
	olga.follows(`//a[contains(., "1 challenge stands")]`)
	olga.sees(challenge)
	if olga.has(`//button[normalize-space()="Lift the block"]`) {
		t.Error("an operator is offered what takes an admin")
	}

	// Another process, another name for the task: the same agent, and stopped.
	again := h.overStdio("builder")
	if got := again.call("mcp_aql_execute", "execute_agent", options{"element_name": "something-else"}); got.Success {
		t.Fatalf("a new connection goes round the block: %s", got.text)
	}

	// A wrong code burns the one in force.
	first := olga.newCode()
	if got := again.verifies(challenge, strings.ToUpper("wrong-"+first)); got.Success {
		t.Fatalf("a wrong code passed: %s", got.text)
	}
	if got := again.verifies(challenge, first); got.Success {
		t.Fatalf("a burnt code passed: %s", got.text)
	}
	second := olga.newCode()
	if got := again.verifies(challenge, second); !got.Success {
		t.Fatalf("the right code is refused: %s", got.text)
	}
	if got := again.call("mcp_aql_execute", "execute_agent", options{"element_name": "something-else"}); !got.Success {
		t.Fatalf("the block stands after the right code: %s", got.text)
	}
	if got := again.verifies(challenge, second); got.Success {
		t.Errorf("a code counted twice: %s", got.text)
	}
	olga.open("/challenges")
	olga.sees("Nobody is held")
	events := h.logged()
	for _, code := range []string{first, second} {
		if strings.Contains(events, code) {
			t.Error("a code stands in the log")
		}
	}
	h.run("audit", "verify")
}

func TestAnAdminLiftsABlockOnAPhone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, role := range map[string]string{"vera": "viewer", "anton": "auditor", "carl": "council"} {
		h.operator(name, role)
	}
	browser := startChromium(t)
	anna := newPage(t, browser, h.origin, device{phone: true})
	anna.enrol(h.link("operator", "add", "anna", "--role", "admin", "--enrol"), "anna")
	builder := h.overStdio("builder")
	builder.begins()
	challenge := builder.stops("sudo rm -rf / #" + hostile)
	for _, name := range []string{"vera", "anton", "carl"} {
		p := newPage(t, browser, h.origin, device{noPasskey: true})
		p.enter(h, name)
		p.open("/challenges")
		p.sees("builder")
		if p.has(`//button[normalize-space()="Issue a new code" or normalize-space()="Lift the block"]`) {
			t.Errorf("%s is offered an order", name)
		}
		p.open("/orders/new?verb=new-code&subject=" + challenge)
		p.sees("may not") // do this, or give this order
		p.do("Page.close", nil, nil)
	}
	anna.open("/challenges")
	anna.writes(`//form[.//button[normalize-space()="Lift the block"]]//input[@name="reason"]`, "a rehearsal")
	anna.presses("Lift the block")
	anna.sees("The agent may act again at once")
	anna.presses("Sign it with a passkey")
	anna.open("/challenges")
	anna.sees("Nobody is held")
	builder.begins()
	h.run("audit", "verify")
}
