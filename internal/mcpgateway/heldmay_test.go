package mcpgateway_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/mcpgateway"
)

// TestAHeldCallOfWhoMayNoMore: who may not call a tool any more, because the agent was blocked or the tool put into quarantine since
// the call was forwarded, answers nothing to its server, and is not shown what comes of the call.
func TestAHeldCallOfWhoMayNoMore(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	answers := asking(server, asksName)
	p := &pins{hidden: map[string]bool{}, verdict: func(tool string) pinning.PinVerdict {
		return pinning.PinVerdict{Tool: tool, Definition: interlock.Digest("sha256:" + tool), Approved: true}
	}}
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Pins = p }, server))
	state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
	p.hide("notes.write_note")
	a := c.again(state, name, `{"action":"accept","content":{"n":"Ann"}}`)
	if text := string(a.Result); a.Error != nil || !strings.Contains(text, `"status":"denied"`) || strings.Contains(text, "done") {
		t.Errorf("the answer is %s %+v", a.Result, a.Error)
	}
	if got := <-answers; !strings.Contains(got, `"error"`) || strings.Contains(got, "Ann") {
		t.Errorf("the server got %s", got)
	}
	p.approve("notes.write_note")
	if a := c.again(state, name, `{"action":"accept","content":{"n":"Ann"}}`); a.Error == nil || len(answers) > 0 {
		t.Errorf("the state counts twice: %s", a.Result)
	}
	if n := len(server.sent("tools/call")); n != 1 {
		t.Errorf("it was forwarded %d times", n)
	}
}
