package clients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everythingAsks is what is asked of server-everything: each tool, prompt, resource and template, well and badly.
var everythingAsks = [][2]string{
	{"tools/list", `{}`},
	{"prompts/list", `{}`},
	{"resources/list", `{}`},
	{"resources/templates/list", `{}`},
	{"tools/call", `{"name":"NAME.echo","arguments":{"message":"héllo \"x\"\n  "}}`},
	{"tools/call", `{"name":"NAME.echo","arguments":{}}`},
	{"tools/call", `{"name":"NAME.echo"}`},
	{"tools/call", `{"name":"NAME.get-sum","arguments":{"a":1.50,"b":2e3}}`},
	{"tools/call", `{"name":"NAME.get-sum","arguments":{"a":"one","b":2}}`},
	{"tools/call", `{"name":"NAME.get-env","arguments":{}}`},
	{"tools/call", `{"name":"NAME.get-tiny-image"}`},
	{"tools/call", `{"name":"NAME.get-structured-content","arguments":{"location":"Chicago"}}`},
	{"tools/call", `{"name":"NAME.get-structured-content","arguments":{"location":"Paris"}}`},
	{"tools/call", `{"name":"NAME.get-annotated-message","arguments":{"messageType":"error","includeImage":true}}`},
	{"tools/call", `{"name":"NAME.get-annotated-message","arguments":{"messageType":"debug"}}`},
	{"tools/call", `{"name":"NAME.get-resource-links","arguments":{"count":3}}`},
	{"tools/call", `{"name":"NAME.get-resource-reference","arguments":{"resourceType":"Text","resourceId":7}}`},
	{"tools/call", `{"name":"NAME.get-resource-reference","arguments":{"resourceType":"Blob","resourceId":8}}`},
	{"tools/call", `{"name":"NAME.get-resource-reference","arguments":{"resourceType":"Blob","resourceId":-1}}`},
	{"tools/call", `{"name":"NAME.gzip-file-as-resource","arguments":{"name":"z.gz","data":"data:text/plain,zipped","outputType":"resource"}}`},
	{"tools/call", `{"name":"NAME.gzip-file-as-resource","arguments":{"name":"y.gz","data":"data:text/plain,linked"}}`},
	{"tools/call", `{"name":"NAME.gzip-file-as-resource","arguments":{"name":"x.gz","data":"ftp://example.com/x"}}`},
	{"tools/call", `{"name":"NAME.get-roots-list","arguments":{}}`},
	{"tools/call", `{"name":"NAME.trigger-sampling-request","arguments":{"prompt":"hi","maxTokens":5}}`},
	{"tools/call", `{"name":"NAME.trigger-elicitation-request","arguments":{}}`},
	{"tools/call", `{"name":"NAME.trigger-url-elicitation","arguments":{"url":"https://example.com/go","elicitationId":"e1"}}`},
	{"tools/call", `{"name":"NAME.trigger-url-elicitation","arguments":{"url":"https://example.com/go","errorPath":true}}`},
	{"tools/call", `{"name":"NAME.simulate-research-query","arguments":{"topic":"x"}}`}, // needs the tasks of 2025-11-25
	{"tools/call", `{"name":"NAME.trigger-long-running-operation","arguments":{"duration":0.4,"steps":4},"_meta":{"progressToken":"tok"}}`},
	{"tools/call", `{"name":"NAME.trigger-long-running-operation","arguments":{"duration":0.2,"steps":2},"_meta":{"progressToken":7}}`},
	{"tools/call", `{"name":"NAME.trigger-long-running-operation","arguments":{"duration":0.1,"steps":2}}`},
	{"prompts/get", `{"name":"NAME.simple-prompt"}`},
	{"prompts/get", `{"name":"NAME.args-prompt","arguments":{"city":"Paris","state":"x"}}`},
	{"prompts/get", `{"name":"NAME.args-prompt"}`},
	{"prompts/get", `{"name":"NAME.completable-prompt","arguments":{"department":"Sales","name":"Eve"}}`},
	{"prompts/get", `{"name":"NAME.resource-prompt","arguments":{"resourceType":"Text","resourceId":"3"}}`},
	{"prompts/get", `{"name":"NAME.resource-prompt","arguments":{"resourceType":"Blob","resourceId":"4"}}`},
	{"prompts/get", `{"name":"NAME.resource-prompt","arguments":{"resourceType":"Other","resourceId":"4"}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.completable-prompt"},"argument":{"name":"department","value":"S"}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.completable-prompt"},"argument":{"name":"name","value":""},"context":{"arguments":{"department":"Sales"}}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.resource-prompt"},"argument":{"name":"resourceType","value":"B"}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.args-prompt"},"argument":{"name":"city","value":"P"}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.nothing"},"argument":{"name":"city","value":"P"}}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"12"}}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/blob/{resourceId}"},"argument":{"name":"resourceId","value":"x"}}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"demo://nothing/{x}"},"argument":{"name":"x","value":"x"}}`},
	{"resources/read", `{"uri":"demo://resource/static/document/architecture.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/extension.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/features.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/how-it-works.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/instructions.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/startup.md"}`},
	{"resources/read", `{"uri":"demo://resource/static/document/structure.md"}`},
	{"resources/read", `{"uri":"demo://resource/session/z.gz"}`},
	{"resources/read", `{"uri":"demo://resource/session/y.gz"}`},
	{"resources/read", `{"uri":"demo://resource/dynamic/text/5"}`},
	{"resources/read", `{"uri":"demo://resource/dynamic/blob/6"}`},
	{"resources/read", `{"uri":"demo://resource/dynamic/text/x"}`},
	{"resources/read", `{"uri":"demo://nothing"}`},
	{"resources/list", `{}`}, // two more than before
}

// withSessions is what only the revisions with sessions have.
var withSessions = [][2]string{
	{"ping", `{}`},
	{"logging/setLevel", `{"level":"debug"}`},
	{"resources/subscribe", `{"uri":"demo://resource/static/document/features.md"}`},
	{"resources/unsubscribe", `{"uri":"demo://resource/static/document/startup.md"}`},
}

// telling has the server tell something that is not an answer: log messages, and that a resource has changed.
var telling = [][2]string{
	{"tools/call", `{"name":"NAME.toggle-simulated-logging","arguments":{},"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`},
	{"tools/call", `{"name":"NAME.toggle-simulated-logging","arguments":{}}`},
	{"tools/call", `{"name":"NAME.toggle-subscriber-updates","arguments":{}}`},
	{"tools/call", `{"name":"NAME.toggle-subscriber-updates","arguments":{}}`},
}

// ownAnswers are what the gateway answers by itself, where a server would have said the same in words of its own, or not known.
var ownAnswers = []struct{ method, params, fault, why string }{
	{"tools/call", `{"name":"NAME.nothing","arguments":{}}`, `{"code":-32602,"message":"unknown tool: every.nothing"}`,
		"a tool that no server lists was never approved, so nobody is asked about it; this server makes a tool's error of it"},
	{"prompts/get", `{"name":"NAME.nothing"}`, `{"code":-32602,"message":"unknown prompt: every.nothing"}`,
		"the server's answer but for its words"},
	{"logging/setLevel", `{"level":"nonsense"}`, `{"code":-32602,"message":"params/level is no level of logging"}`,
		"a level is for all servers; this one's answer is an internal error (-32603)"},
}

// TestGatewayChangesNothingOfEverything holds what a client gets of server-everything through the gateway against what it gets of
// it directly.
func TestGatewayChangesNothingOfEverything(t *testing.T) {
	t.Parallel()
	for _, w := range []way{
		{"stdio", "stdio", "2025-11-25"}, {"http", "stdio", "2025-11-25"}, {"stdio", "http", "2025-11-25"}, {"http", "http", "2025-11-25"},
		{"stdio", "stdio", "2025-06-18"}, {"stdio", "stdio", stateless}, {"http", "stdio", stateless},
	} {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			kind := map[string]string{"stdio": "stdio", "http": "streamableHttp"}[w.back]
			p := newPair(t, w, "every", "monitoring", w.spokenBefore(), steadily(t, "@modelcontextprotocol/server-everything/dist/index.js", kind))
			p.begin()
			for _, ask := range everythingAsks {
				p.same(ask[0], ask[1])
			}
			if w.revision != stateless {
				for _, ask := range withSessions {
					p.same(ask[0], ask[1])
				}
			}
			for _, ask := range telling {
				p.same(ask[0], ask[1])
			}
			for _, own := range ownAnswers {
				if w.revision == stateless && own.method == "logging/setLevel" {
					continue // not in this revision
				}
				if have := p.through.call(own.method, p.asked(1, own.params)); string(have.Error) != own.fault {
					t.Errorf("%s %s: %s%s; want %s, because %s", own.method, own.params, have.Result, have.Error, own.fault, own.why)
				}
			}
			p.cancelled()
			p.unasked()
			p.complete()
		})
	}
}

// begin waits until the server has asked its client what it asks at once, and has a client without a session say what it wants to
// be told.
func (p *pair) begin() {
	p.t.Helper()
	const listen = `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["demo://resource/static/document/features.md"]}}`
	if p.through.revision == stateless {
		p.direct.call("resources/subscribe", `{"uri":"demo://resource/static/document/features.md"}`)
		p.through.start("subscriptions/listen", listen)
		p.through.until("the acknowledgement", func(e rpcMessage) bool { return e.Method == "notifications/subscriptions/acknowledged" })
	} else {
		for _, c := range []*plain{p.direct, p.through} {
			c.until("the client's roots were asked for", func(e rpcMessage) bool { return e.Method == "roots/list" })
		}
		told := func(c *plain) string {
			first, _ := value(c.until("the handshake", func(e rpcMessage) bool { return string(e.ID) == "1" && e.Method == "" }).Result).(map[string]any)
			about, _ := first["instructions"].(string)
			return about
		}
		if diff := cmp.Diff("# "+p.name+"\n\n"+strings.TrimSpace(told(p.direct)), told(p.through)); diff != "" {
			p.t.Errorf("the server's instructions (-direct +through):\n%s", diff)
		}
	}
	_, p.began = p.direct.since(0)
}

// cancelled cancels a call that is under way: neither side answers it, though one that began later, and takes as long, is answered.
func (p *pair) cancelled() {
	p.t.Helper()
	for side, c := range []*plain{p.direct, p.through} {
		call := `{"name":"NAME.trigger-long-running-operation","arguments":{"duration":1,"steps":4},"_meta":{"progressToken":"%s"}}`
		id := c.start("tools/call", p.asked(side, fmt.Sprintf(call, "cancelled")))
		c.until("progress", func(e rpcMessage) bool {
			return e.Method == "notifications/progress" && value(e.Params).(map[string]any)["progressToken"] == "cancelled"
		})
		c.cancel(id)
		c.call("tools/call", p.asked(side, fmt.Sprintf(call, "later")))
		came, _ := c.since(0)
		for _, e := range came {
			if e.Method == "" && string(e.ID) == id {
				p.t.Errorf("a cancelled call is answered (side %d): %s%s", side, e.Result, e.Error)
			}
		}
	}
}
