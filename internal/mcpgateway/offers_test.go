package mcpgateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/mcpgateway"
)

// fullServer offers everything a server of revision 2025-11-25 can.
func fullServer(name string) *fakeServer {
	f := newFakeServer(name)
	f.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{},"completions":{},"logging":{}},` +
		`"serverInfo":{"name":"full","version":"1"},"instructions":"Be kind."}`
	f.answers["resources/list"] = `{"resources":[{"uri":"note://` + name + `/1","name":"one"}]}`
	f.answers["resources/templates/list"] = `{"resourceTemplates":[{"uriTemplate":"note://` + name + `/{id}","name":"any"}]}`
	f.answers["resources/read"] = `{"contents":[{"uri":"note://x","blob":"AA=="}]}`
	f.answers["resources/subscribe"], f.answers["resources/unsubscribe"], f.answers["logging/setLevel"] = `{}`, `{}`, `{}`
	f.answers["prompts/list"] = `{"prompts":[{"name":"greet","arguments":[{"name":"who"}]}]}`
	f.answers["prompts/get"] = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`
	f.answers["completion/complete"] = `{"completion":{"values":["a"]}}`
	return f
}

func TestResourcesPromptsAndCompletion(t *testing.T) {
	a, b, book := fullServer("a"), fullServer("b"), newFakeLog()
	c := join(t, newGateway(t, book, nil, a, b))
	hello := c.shake("{}")
	for _, want := range []string{`"resources":{"listChanged":true,"subscribe":true}`, `"prompts":{"listChanged":true}`,
		`"completions":{}`, `"logging":{}`, `"instructions":"# a\n\nBe kind.\n\n# b\n\nBe kind."`} {
		if !strings.Contains(hello, want) {
			t.Errorf("the handshake lacks %s: %s", want, hello)
		}
	}
	for _, test := range []struct{ method, params, want, sent string }{
		{"resources/list", `{}`, `{"resources":[{"uri":"note://a/1","name":"one"},{"uri":"note://b/1","name":"one"}]}`, ""},
		{"resources/templates/list", `{}`,
			`{"resourceTemplates":[{"uriTemplate":"note://a/{id}","name":"any"},{"uriTemplate":"note://b/{id}","name":"any"}]}`, ""},
		{"prompts/list", `{}`, `{"prompts":[{"name":"a.greet","arguments":[{"name":"who"}]},{"name":"b.greet","arguments":[{"name":"who"}]}]}`, ""},
		{"resources/read", `{"uri":"note://b/1","x":1}`, b.answers["resources/read"], `{"uri":"note://b/1"}`},
		{"resources/read", `{"uri":"note://b/7"}`, b.answers["resources/read"], `{"uri":"note://b/7"}`},
		{"prompts/get", `{"name":"b.greet","arguments":{"who":"x"}}`, b.answers["prompts/get"], `{"name":"greet","arguments":{"who":"x"}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"b.greet"},"argument":{"name":"who","value":"x"}}`, b.answers["completion/complete"],
			`{"argument":{"name":"who","value":"x"},"ref":{"name":"greet","type":"ref/prompt"}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"note://b/{id}"},"argument":{"name":"id","value":""}}`, b.answers["completion/complete"],
			`{"argument":{"name":"id","value":""},"ref":{"type":"ref/resource","uri":"note://b/{id}"}}`},
		{"logging/setLevel", `{"level":"debug"}`, `{}`, `{"level":"debug"}`},
	} {
		answer := c.call(test.method, test.params)
		if answer.Error != nil || string(answer.Result) != test.want {
			t.Errorf("%s %s: have %s %+v, want %s", test.method, test.params, answer.Result, answer.Error, test.want)
		}
		if test.sent == "" {
			continue
		}
		sent := b.sent(test.method)
		var m message
		if len(sent) == 0 || json.Unmarshal([]byte(sent[len(sent)-1]), &m) != nil || string(m.Params) != test.sent {
			t.Errorf("%s: sent was %v, want %s", test.method, sent, test.sent)
		}
	}
	if n := len(a.sent("resources/read")) + len(a.sent("prompts/get")) + len(a.sent("completion/complete")); n != 0 {
		t.Errorf("the other server was sent %d requests", n)
	}
	for _, test := range []struct{ method, params, want string }{
		{"resources/read", `{"uri":"other://x"}`, "not found"},
		{"resources/read", `{}`, "uri is missing"},
		{"resources/read", `{"uri":1}`, "must be a string"},
		{"prompts/get", `{"name":"greet"}`, "unknown prompt"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"c.greet"}}`, "ref names no"},
		{"logging/setLevel", `{"level":"loud"}`, "level"},
	} {
		if answer := c.call(test.method, test.params); answer.Error == nil || !strings.Contains(answer.Error.Message, test.want) {
			t.Errorf("%s %s: have %s %+v, want %s", test.method, test.params, answer.Result, answer.Error, test.want)
		}
	}
	// A refusal of these is a JSON-RPC error, and nothing is forwarded.
	book.refuse = func(interlock.Proposal) *interlock.Finding {
		return &interlock.Finding{Rule: "r", Verdict: interlock.Deny, Reason: "closed"}
	}
	before := len(b.sent("resources/read"))
	answer := c.call("resources/read", `{"uri":"note://b/1"}`)
	if answer.Error == nil || answer.Error.Code != -32001 || !strings.Contains(string(answer.Error.Data), `"status":"denied"`) ||
		len(b.sent("resources/read")) != before {
		t.Errorf("a refused read is answered with %s %+v", answer.Result, answer.Error)
	}
}

// What is subscribed to on standard streams is told of there.
func TestNoticesOverLines(t *testing.T) {
	server := fullServer("a")
	c := newLineClient(t, newGateway(t, newFakeLog(), nil, server))
	c.write(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note://a/1"}}` + "\n")
	c.answer("1")
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://a/1"}}`)
	if line, err := c.read.ReadString('\n'); err != nil || !strings.Contains(line, "notifications/resources/updated") {
		t.Errorf("told was %s %v", line, err)
	}
}

func TestNotices(t *testing.T) {
	server, book := fullServer("a"), newFakeLog()
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	link := server.last()
	if a := c.call("resources/subscribe", `{"uri":"note://a/1"}`); a.Error != nil {
		t.Fatalf("%+v", a.Error)
	}
	link.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://a/1","title":"x"}}`)
	link.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"x":1}}}`)
	server.answers["resources/list"] = `{"resources":[]}`
	link.say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	for method, want := range map[string]string{
		"notifications/resources/updated": `{"uri":"note://a/1"}`,
		"notifications/message":           `{"logger":"a.l","level":"info","data":{"x":1}}`,
	} {
		if diff := cmp.Diff(want, string(c.notice(method).Params)); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
	c.notice("notifications/resources/list_changed")
	if a := c.call("resources/list", ""); string(a.Result) != `{"resources":[]}` {
		t.Errorf("after the change the list is %s", a.Result)
	}
	// A server that comes back has the subscription again.
	link.Close()
	c.notice("notifications/prompts/list_changed")
	if n := len(server.sent("resources/subscribe")); n != 2 {
		t.Errorf("%d subscriptions were sent", n)
	}
	if a := c.call("resources/unsubscribe", `{"uri":"note://a/1"}`); a.Error != nil || len(server.sent("resources/unsubscribe")) != 1 {
		t.Errorf("unsubscribing: %+v", a.Error)
	}
}

// What a server asks of the client is decided as an action of that server, and answered under the server's own id.
func TestRequestsOfServers(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	answers := make(chan message, 10)
	server.on = func(_ *fakeLink, m message) bool {
		if m.Method == "" {
			answers <- m
		}
		return false
	}
	book.refuse = func(p interlock.Proposal) *interlock.Finding {
		if strings.Contains(string(p.Action.Arguments), "forbidden") {
			return &interlock.Finding{Rule: "r", Verdict: interlock.Deny, Reason: "closed"}
		}
		return nil
	}
	c := join(t, newGateway(t, book, nil, server))
	c.answer = func(m message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"method":%q,"params":%s}}`, m.ID, m.Method, m.Params)
	}
	c.shake(anyCapabilities)
	if sent := server.sent("initialize"); !strings.Contains(sent[0], `"capabilities":`+anyCapabilities) {
		t.Errorf("the server was told %v", sent)
	}
	link := server.last()
	for _, test := range []struct{ request, want, failure string }{
		{`"id":"s","method":"ping"`, `{}`, ""},
		{`"id":5,"method":"roots/list"`, `{"method":"roots/list","params":{}}`, ""},
		{`"id":6,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"_meta":{"progressToken":9}}`,
			`{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`, ""},
		{`"id":7,"method":"elicitation/create","params":{"message":"forbidden","requestedSchema":{}}`, "", "closed"},
		{`"id":8,"method":"tools/call","params":{}`, "", "does not take"},
	} {
		link.say(`{"jsonrpc":"2.0",%s}`, test.request)
		a := <-answers
		if test.want != "" && string(a.Result) != test.want || test.failure != "" && (a.Error == nil || !strings.Contains(a.Error.Message, test.failure)) {
			t.Errorf("%s: %s %+v", test.request, a.Result, a.Error)
		}
		if id, _, _ := strings.Cut(strings.TrimPrefix(test.request, `"id":`), ","); string(a.ID) != id {
			t.Errorf("%s is answered as %s", test.request, a.ID)
		}
	}
	proposals := book.proposed()
	if len(proposals) != 3 || proposals[0].Requester.Agent != "server:a" || proposals[0].Action.Tool != "a.roots/list" ||
		proposals[0].Requester.Principal != "alice" {
		t.Errorf("proposed was %+v", proposals)
	}
	if o := book.outcome(t, 1); o.Status != interlock.OutcomeSuccess {
		t.Errorf("the outcome is %+v", o)
	}
}

// Pins are asked at list time and named at call time; what may not be shown is not listed, and a call of it is proposed all
// the same, so that what refuses it is the one rule.
type pins struct {
	verdict func(tool string) pinning.PinVerdict
	failed  error

	mu     sync.Mutex
	hidden map[string]bool
}

func (p *pins) Examine(_ context.Context, l pinning.Listing) ([]pinning.PinVerdict, error) {
	var all []pinning.PinVerdict
	for _, d := range l.Definitions {
		var named struct{ Name string }
		if err := json.Unmarshal(d, &named); err != nil {
			return nil, err
		}
		all = append(all, p.verdict(named.Name))
	}
	return all, p.failed
}

func (p *pins) Take(_ context.Context, r pinning.Reading) (interlock.Upstream, error) {
	return interlock.Upstream{Server: r.Server, Identity: r.Identity}, p.failed
}

func (p *pins) Visible(_ context.Context, _ interlock.Requester, targets []pinning.Target) ([]bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []bool
	for _, target := range targets {
		all = append(all, !p.hidden[target.Name])
	}
	return all, nil
}

// approve is what an operator does somewhere else.
func (p *pins) approve(tool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hidden[tool] = false
}

func (p *pins) hide(tool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hidden[tool] = true
}

func TestPins(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	server.answers["tools/list"] = `{"tools":[{"name":"seen"},{"name":"hidden"},{"name":"changed"}]}`
	server.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"},"instructions":"Be kind."}`
	p := &pins{hidden: map[string]bool{"a.hidden": true, "a.changed": true}, verdict: func(tool string) pinning.PinVerdict {
		return pinning.PinVerdict{Tool: tool, Definition: interlock.Digest("sha256:" + tool), Approved: tool != "changed"}
	}}
	g := newGateway(t, book, func(c *mcpgateway.Config) { c.Pins = p }, server)
	c := join(t, g)
	if told := c.shake("{}"); !strings.Contains(told, "Be kind.") {
		t.Errorf("the approved instructions are missing: %s", told)
	}
	if a := c.call("tools/list", ""); string(a.Result) != `{"tools":[{"name":"a.seen"}]}` {
		t.Errorf("listed is %s", a.Result)
	}
	c.call("tools/call", `{"name":"a.changed"}`)
	want := &interlock.Upstream{Server: "a", Identity: "sha256:a", Tool: "changed", Definition: "sha256:changed"}
	if diff := cmp.Diff(want, book.proposed()[0].Upstream); diff != "" {
		t.Error(diff)
	}
	p.approve("a.changed")
	book.move()
	c.notice("notifications/tools/list_changed")
	if a := c.call("tools/list", ""); string(a.Result) != `{"tools":[{"name":"a.seen"},{"name":"a.changed"}]}` {
		t.Errorf("once it is approved, listed is %s", a.Result)
	}
	p.hide("a.initialize.instructions")
	wary := join(t, g)
	if told := wary.shake("{}"); strings.Contains(told, "Be kind.") {
		t.Errorf("instructions in quarantine are passed on: %s", told)
	}
	p.failed = fmt.Errorf("the store is gone")
	c2 := join(t, g)
	c2.shake("{}")
	if a := c2.call("tools/list", ""); string(a.Result) != `{"tools":[]}` {
		t.Errorf("what was not examined is listed: %s", a.Result)
	}
}

const statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestStatelessClients(t *testing.T) {
	server, book := fullServer("a"), newFakeLog()
	c := join(t, newGateway(t, book, nil, server))
	for _, test := range []struct{ method, params, want string }{
		{"server/discover", "", `"supportedVersions":["2026-07-28","2025-11-25"`},
		{"server/discover", "", `"resultType":"complete","ttlMs":0,"cacheScope":"private"`},
		{"tools/list", "", `{"resultType":"complete","tools":[{"name":"a.read_note"`},
		{"tools/list", "", `"ttlMs":0,"cacheScope":"private"}`},
		{"tools/call", `"name":"a.read_note",`, `{"resultType":"complete","content":[`},
		{"resources/read", `"uri":"note://a/1",`, `"ttlMs":0,"cacheScope":"private"}`},
		{"prompts/get", `"name":"a.greet",`, `{"resultType":"complete","messages":[`},
	} {
		a := c.call(test.method, `{`+test.params+statelessMeta+`}`)
		if a.Error != nil || !strings.Contains(string(a.Result), test.want) {
			t.Errorf("%s: have %s %+v, want %s", test.method, a.Result, a.Error, test.want)
		}
	}
	for _, method := range []string{"ping", "initialize", "logging/setLevel", "resources/subscribe", "tools/nothing"} {
		if a := c.call(method, `{`+statelessMeta+`}`); a.Error == nil || a.Error.Code != -32601 {
			t.Errorf("%s: %s %+v", method, a.Result, a.Error)
		}
	}
	if a := c.call("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("without capabilities: %s %+v", a.Result, a.Error)
	}
	if a := c.call("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}`); a.Error == nil ||
		a.Error.Code != -32022 || !strings.Contains(string(a.Error.Data), `"supported":["2026-07-28"`) {
		t.Errorf("another revision: %s %+v", a.Result, a.Error)
	}
	// Notices come to those who listen for them, marked with the request that asked.
	id := c.begin("subscriptions/listen",
		`{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["note://a/1","other://x"]},`+statelessMeta+`}`)
	acknowledged := string(c.notice("notifications/subscriptions/acknowledged").Params)
	if want := `{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["note://a/1"`; !strings.HasPrefix(acknowledged, want) || !strings.Contains(acknowledged, id) {
		t.Errorf("acknowledged is %s", acknowledged)
	}
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://a/1"}}`)
	want := `{"uri":"note://a/1","_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`
	if diff := cmp.Diff(want, string(c.notice("notifications/resources/updated").Params)); diff != "" {
		t.Error(diff)
	}
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	c.notice("notifications/resources/list_changed")
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	for len(server.sent("resources/unsubscribe")) == 0 {
		c.call("tools/list", `{`+statelessMeta+`}`)
	}
}

// TestAServerThatComesLate: a client waits a little for a server that takes long to start; it is not given up meanwhile, and the
// client is told when it is there.
func TestAServerThatComesLate(t *testing.T) {
	server := newFakeServer("notes")
	late := make(chan message, 1)
	server.on = func(_ *fakeLink, m message) bool {
		if m.Method != "initialize" {
			return false
		}
		late <- m
		return true
	}
	c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Limits.Start = 50 * time.Millisecond }, server))
	c.shake("{}")
	if a := c.call("tools/list", `{}`); strings.Contains(string(a.Result), "notes.") {
		t.Fatalf("a server that has said nothing offers %s", a.Result)
	}
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error == nil {
		t.Fatalf("a call of it is answered %s", a.Result)
	}
	if links := len(server.links); links != 1 {
		t.Errorf("it was started %d times", links)
	}
	server.last().say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, (<-late).ID, server.answers["initialize"])
	c.notice("notifications/tools/list_changed")
	if a := c.call("tools/list", `{}`); !strings.Contains(string(a.Result), "notes.write_note") {
		t.Errorf("the list is %s %+v", a.Result, a.Error)
	}
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error != nil {
		t.Errorf("a call: %+v", a.Error)
	}
}
