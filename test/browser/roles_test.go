package browser_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// sends does what a person without scruples does with a page's own form: post an answer that no button offers.
func (p *page) sends(path, fields string) (status int) {
	p.t.Helper()
	quoted, _ := json.Marshal(path)
	p.evaluate(`(async () => {
		const body = new URLSearchParams(`+fields+`);
		body.set("csrf", document.querySelector("input[name=csrf]").value);
		return (await fetch(`+string(quoted)+`, {method: "POST", body, redirect: "manual"})).status;
	})()`, &status)
	return status
}

// Who may not answer sees that and why, and an answer sent all the same is refused and recorded.
func TestTheWrongPersonCannotAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, role := range map[string]string{"vera": "viewer", "anton": "auditor", "carl": "council", "dana": "admin", "olga": "operator"} {
		h.operator(name, role)
	}
	token := strings.TrimSpace(h.run("agent", "add", "builder", "--trust", "validated", "--principal", "dana"))
	agent := h.overHTTP(token)
	agent.begins()
	const push = "git push --force origin release"
	request := agent.asks(push)
	browser := startChromium(t)
	for _, name := range []string{"vera", "anton", "carl", "dana"} {
		p := newPage(t, browser, h.origin, device{noPasskey: true})
		p.enter(h, name)
		p.open("/pending/" + request)
		p.sees("You can't answer this")
		for _, button := range []string{"Approve once", "Deny", "Show what would be signed"} {
			if p.has(`//button[normalize-space()="` + button + `"]`) {
				t.Errorf("%s is offered the button %q", name, button)
			}
		}
		before := strings.Count(h.logged(), `"APPROVAL_REFUSED"`)
		for _, verb := range []string{"approve", "deny"} {
			if status := p.sends("/pending/"+request, `{verb: "`+verb+`", method: "session", reason: "mine"}`); status != 403 {
				t.Errorf("%s sends %s: %d", name, verb, status)
			}
		}
		if status := p.sends("/pending", `{verb: "approve", method: "session", id: "`+request+`"}`); status != 403 {
			t.Errorf("%s answers the list: %d", name, status)
		}
		if status := p.sends("/pending/"+request+"/grant", `{tool: "git push", times: 5, hours: 8}`); status != 403 {
			t.Errorf("%s drafts a grant: %d", name, status)
		}
		if after := strings.Count(h.logged(), `"APPROVAL_REFUSED"`); after < before+3 {
			t.Errorf("%s: %d refusals are recorded, want 3 more than %d", name, after, before)
		}
		p.do("Page.close", nil, nil)
	}
	// The agent's own credential opens nothing, and its retry waits still.
	if again := agent.asks(push); again != request {
		t.Errorf("the question was closed by somebody who may not: %s", again)
	}
	olga := newPage(t, browser, h.origin, device{noPasskey: true})
	olga.enter(h, "olga")
	olga.open("/pending/" + request)
	olga.presses("Approve once")
	agent.goesOn(push)
	h.run("audit", "verify")
}
