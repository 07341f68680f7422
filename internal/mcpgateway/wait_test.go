package mcpgateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestServerWaitsForAHuman: a server that wants the client's model is held until a human has answered, and the client hears
// nothing of it before; what is refused never reaches the client.
func TestServerWaitsForAHuman(t *testing.T) {
	for verdict, want := range map[interlock.Verdict]string{interlock.Allow: `"result":{"role":"assistant"}`, interlock.Deny: `"code":"approval_denied"`} {
		t.Run(verdict.String(), func(t *testing.T) {
			h := newHouse(t)
			process := h.process()
			backend := unpinned{process}
			server := newFakeServer("notes")
			answered := make(chan string, 1)
			server.on = func(l *fakeLink, m message) bool {
				switch {
				case m.Method == "notifications/initialized":
					l.say(`{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`)
				case m.Method == "" && string(m.ID) == "77":
					text, _ := json.Marshal(m)
					answered <- string(text)
				}
				return false
			}
			g := newGateway(t, backend, func(c *mcpgateway.Config) {
				c.Asker, c.CanAsk = h.asker(process, patient, func(c *mcpgateway.AskConfig) { c.Approvals = backend }), true
			}, server)
			c := join(t, g)
			asked := make(chan struct{}, 1)
			c.answer = func(m message) string {
				if m.Method != "sampling/createMessage" {
					return ""
				}
				asked <- struct{}{}
				return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"role":"assistant"}}`
			}
			c.shake(anyCapabilities)
			id := h.waiting(process)
			if len(asked) != 0 {
				t.Error("the client was asked before a human was")
			}
			request, err := process.Asked(t.Context(), interlock.Requester{Principal: "alice", Agent: "server:notes"}, id)
			if err != nil || request.Rule != "server.sampling" {
				t.Errorf("%+v %v", request, err)
			}
			h.answer(process, id, verdict)
			if got := <-answered; !strings.Contains(got, want) {
				t.Errorf("the server got %s", got)
			}
			if heard := len(asked) == 1; heard != (verdict == interlock.Allow) {
				t.Errorf("the client heard of it: %v", heard)
			}
		})
	}
}

// TestCallWaitsOnTheWire: a held call tells its client so where it can, asks it to have its user open the page, and is
// forwarded as soon as a human has said yes.
func TestCallWaitsOnTheWire(t *testing.T) {
	h := newHouse(t)
	process := h.process()
	backend := unpinned{process}
	server := newFakeServer("mail")
	server.answers["tools/list"] = `{"tools":[{"name":"send_email","inputSchema":{"type":"object"}}]}`
	g := newGateway(t, backend, func(c *mcpgateway.Config) {
		c.Asker, c.CanAsk = h.asker(process, patient, func(c *mcpgateway.AskConfig) { c.Approvals = backend }), true
	}, server)
	c := join(t, g)
	c.shake(anyCapabilities)
	id := c.begin("tools/call", `{`+letter+`,"_meta":{"progressToken":"mine"}}`)
	request := h.waiting(process)
	if notice := c.notice("notifications/progress"); !strings.Contains(string(notice.Params),
		`{"progressToken":"mine","progress":0e-6,"message":"waiting for a human to answer request `+request) {
		t.Errorf("told %s", notice.Params)
	}
	if sent := server.sent("tools/call"); len(sent) != 0 {
		t.Fatalf("forwarded unapproved: %s", sent)
	}
	h.answer(process, request, interlock.Allow)
	a := c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
	if !strings.Contains(string(a.Result), `"text":"done"`) || len(server.sent("tools/call")) != 1 {
		t.Errorf("%s; forwarded %s", a.Result, server.sent("tools/call"))
	}
	// One that is cancelled while it is held is never forwarded, and its question stays.
	id = c.begin("tools/call", `{`+letter+`}`)
	request = h.waiting(process)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	c.call("ping", "")
	h.answer(process, request, interlock.Allow)
	if passed := c.call("tools/call", `{`+letter+`}`); !strings.Contains(string(passed.Result), `"text":"done"`) || len(server.sent("tools/call")) != 2 {
		t.Errorf("%s; forwarded %s", passed.Result, server.sent("tools/call"))
	}
}
