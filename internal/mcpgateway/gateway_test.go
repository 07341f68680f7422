package mcpgateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpgateway"
)

func TestACallIsDecidedForwardedAndReported(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	a := c.call("tools/call", `{"name":"notes.write_note","arguments":{"z":1.0,"a":"x"},"_meta":{"progressToken":"p","vendor/secret":"s","traceparent":"00-1-2-3"},"other":1}`)
	if a.Error != nil || string(a.Result) != server.answers["tools/call"] {
		t.Fatalf("the call was answered with %s, %+v", a.Result, a.Error)
	}
	// Exactly what was judged goes on, once, under an id and a token of the gateway's own.
	want := []string{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write_note","arguments":{"a":"x","z":1},"_meta":{"progressToken":3,"traceparent":"00-1-2-3"}}}`}
	if diff := cmp.Diff(want, server.sent("tools/call")); diff != "" {
		t.Error(diff)
	}
	proposals := book.proposed()
	if len(proposals) != 1 {
		t.Fatalf("%d proposals", len(proposals))
	}
	p := proposals[0]
	if p.Requester.Agent != "tester" || p.Requester.Principal != "alice" || p.Requester.Run == "" || p.Requester.Call == "" || p.Door != "gateway" ||
		p.Action.Kind != interlock.KindTool || p.Action.Tool != "notes.write_note" || string(p.Action.Arguments) != `{"a":"x","z":1}` || p.Action.Dir == "" {
		t.Errorf("proposed was %+v", p)
	}
	if p.View.Annotations == nil || p.View.Annotations.ReadOnly == nil || *p.View.Annotations.ReadOnly {
		t.Errorf("the tool's annotations are %+v", p.View.Annotations)
	}
	wantOutcome := interlock.Outcome{Action: interlock.Digest(`{"a":"x","z":1}`), Event: "event-1", Status: interlock.OutcomeSuccess}
	if diff := cmp.Diff(wantOutcome, book.outcome(t, 0)); diff != "" {
		t.Error(diff)
	}
	if book.reported[0] != p.Requester {
		t.Errorf("reported for %+v, proposed by %+v", book.reported[0], p.Requester)
	}
}

func TestWhatIsRefusedIsNotForwarded(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	book.refuse = func(p interlock.Proposal) *interlock.Finding {
		return &interlock.Finding{Gate: "rules", Rule: "secret.rule", Verdict: interlock.Deny, Reason: "notes are closed"}
	}
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	a := c.call("tools/call", `{"name":"notes.write_note"}`)
	var result struct {
		IsError    bool `json:"isError"`
		Structured struct {
			Status string `json:"status"`
			Code   string `json:"code"`
			Reason string `json:"reason"`
			Event  string `json:"event_id"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(a.Result, &result); err != nil {
		t.Fatal(err)
	}
	if s := result.Structured; !result.IsError || s.Status != "denied" || s.Code != "policy_denied" || s.Reason != "notes are closed" || s.Event != "event-1" {
		t.Errorf("the refusal is %s", a.Result)
	}
	if strings.Contains(string(a.Result), "secret.rule") {
		t.Errorf("the refusal names the rule: %s", a.Result)
	}
	if sent := server.sent("tools/call"); len(sent) > 0 {
		t.Errorf("forwarded was %v", sent)
	}
}

// A tool that declares an outputSchema promises a form of its structured content, and clients let nothing else through. What is
// ours to say stands in _meta there.
func TestRefusalsOfToolsWithADeclaredForm(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	server.answers["tools/list"] = `{"tools":[{"name":"write_note","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}]}`
	server.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" {
			l.Close()
		}
		return m.Method == "tools/call"
	}
	deny := true
	book.refuse = func(interlock.Proposal) *interlock.Finding {
		if !deny {
			return nil
		}
		return &interlock.Finding{Gate: "rules", Rule: "secret.rule", Verdict: interlock.Deny, Reason: "notes are closed"}
	}
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	want := `{"_meta":{"interlock/answer":{"code":"policy_denied","event_id":"event-1","reason":"notes are closed","status":"denied"}},` +
		`"content":[{"text":"Interlock did not let this call through: notes are closed.","type":"text"}],"isError":true}`
	if diff := cmp.Diff(want, string(c.call("tools/call", `{"name":"notes.write_note"}`).Result)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	deny = false
	lost := c.call("tools/call", `{"name":"notes.write_note"}`).Result
	if text := string(lost); strings.Contains(text, "structuredContent") || !strings.Contains(text, `{"_meta":{"interlock/answer":{"code":"unknown_outcome"`) {
		t.Errorf("an unknown outcome: %s", lost)
	}
}

// What is no call of a known tool with arguments that can be judged goes no further, and costs nobody else anything.
func TestBadCalls(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Message = 10_000 }, server))
	for _, test := range []struct{ message, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "initialize"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}`, "unsupported"},
	} {
		c.send(test.message)
		if a := c.until(func(m message) bool { return m.Error != nil && strings.Contains(m.Error.Message, test.want) }); string(a.ID) != "1" {
			t.Errorf("%s: %s", test.message, a.ID)
		}
	}
	c.shake("{}")
	for _, test := range []struct{ message, id, want string }{
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"notes.nothing"}}`, "7", "unknown tool"},
		{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"write_note"}}`, "8", "unknown tool"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"notes.write_note","arguments":[]}}`, "9", "must be an object"},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"notes.write_note","arguments":{"n":9007199254740993}}}`, "10", "2^53"},
		{`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"notes.write_note","arguments":{"n":"\u0000"}}}`, "11", "NUL"},
		{`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"notes.write_note","arguments":{"n":1,"\u006e":2}}}`, "12", "twice"},
		{`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{}}`, "13", "name is missing"},
		{`{"jsonrpc":"2.0","id":14,"method":"tools/nothing"}`, "14", "no such method"},
		{`{"jsonrpc":"2.0","id":15,"method":"initialize","params":{}}`, "15", "before"},
		{`{"jsonrpc":"2.0","id":16,"method":"tools/list","params":{"cursor":"x"}}`, "16", "cursor"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", "batches"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "id must be"},
		{`{"jsonrpc":"2.0","id":17,"method":"ping"`, "17", "not valid JSON"},
		{`{"jsonrpc":"2.0","id":18,"id":18,"method":"ping"}`, "18", "twice"},
		{strings.Repeat(" ", 10_001), "null", "longer"},
	} {
		c.send(test.message)
		c.until(func(m message) bool {
			return m.Error != nil && strings.Contains(m.Error.Message, test.want) && (string(m.ID) == test.id || m.ID == nil && test.id == "null")
		})
	}
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error != nil {
		t.Errorf("after all that: %+v", a.Error)
	}
	if n := len(server.sent("tools/call")); n != 1 {
		t.Errorf("%d calls were forwarded", n)
	}
}

func TestListsAreMergedAndPaged(t *testing.T) {
	a, b, bad := newFakeServer("a"), newFakeServer("b"), newFakeServer("bad")
	bad.down = func() error { return interlock.Errorf(interlock.CodeUnavailable, "", "no") }
	a.on = func(l *fakeLink, m message) bool {
		if m.Method != "tools/list" {
			return false
		}
		if strings.Contains(string(m.Params), `"cursor":"two"`) {
			l.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"second"},{"name":"first"}]}}`, m.ID)
		} else {
			l.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"first","title":"T"}],"nextCursor":"two"}}`, m.ID)
		}
		return true
	}
	c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Limits.Page = 2 }, a, bad, b))
	hello := c.shake("{}")
	if want := `"capabilities":{"tools":{"listChanged":true}}`; !strings.Contains(hello, want) {
		t.Errorf("the handshake says %s", hello)
	}
	var names []string
	cursor := "{}"
	for range 10 {
		var page struct {
			Tools []struct{ Name, Title string }
			Next  string `json:"nextCursor"`
		}
		if err := json.Unmarshal(c.call("tools/list", cursor).Result, &page); err != nil {
			t.Fatal(err)
		}
		for _, tool := range page.Tools {
			names = append(names, tool.Name+tool.Title)
		}
		if page.Next == "" {
			break
		}
		cursor = `{"cursor":"` + page.Next + `"}`
	}
	if diff := cmp.Diff([]string{"a.firstT", "a.second", "b.read_note", "b.write_note"}, names); diff != "" {
		t.Error(diff)
	}
}

// A server that goes away in the middle of a call leaves an outcome nobody knows. It is never tried again, the client is
// told, and the server is found again with its handshake.
func TestAServerThatDiesMidCall(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	die := true
	server.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" && die {
			die = false
			l.Close()
			return true
		}
		return false
	}
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	a := c.call("tools/call", `{"name":"notes.write_note"}`)
	if !strings.Contains(string(a.Result), `"status":"unknown_outcome"`) || !strings.Contains(string(a.Result), `"isError":true`) {
		t.Errorf("the client is told %s %+v", a.Result, a.Error)
	}
	if o := book.outcome(t, 0); o.Status != interlock.OutcomeUnknown || o.Event != "event-1" {
		t.Errorf("the outcome is %+v", o)
	}
	c.notice("notifications/tools/list_changed")
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error != nil || string(a.Result) != server.answers["tools/call"] {
		t.Errorf("the next call is answered with %s %+v", a.Result, a.Error)
	}
	if n, hands := len(server.sent("tools/call")), len(server.sent("initialize")); n != 2 || hands != 2 {
		t.Errorf("%d calls and %d handshakes were sent", n, hands)
	}
}

func TestProgressAndCancellation(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	begun := make(chan *fakeLink, 1)
	server.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" {
			var p struct {
				Meta struct {
					Token int `json:"progressToken"`
				} `json:"_meta"`
			}
			_ = json.Unmarshal(m.Params, &p)
			l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1,"total":2,"message":"half","x":1}}`, p.Meta.Token)
			begun <- l
			return true
		}
		return false
	}
	c := join(t, newGateway(t, book, nil, server))
	c.shake("{}")
	id := c.begin("tools/call", `{"name":"notes.write_note","_meta":{"progressToken":"mine"}}`)
	<-begun
	if diff := cmp.Diff(`{"progressToken":"mine","progress":1,"total":2,"message":"half"}`, string(c.notice("notifications/progress").Params)); diff != "" {
		t.Error(diff)
	}
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`) // the same id while the first is under way
	c.until(func(m message) bool { return m.Error != nil && strings.Contains(m.Error.Message, "under way") })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	if o := book.outcome(t, 0); o.Status != interlock.OutcomeUnknown {
		t.Errorf("the outcome is %+v", o)
	}
	if sent := server.sent("notifications/cancelled"); len(sent) != 1 || !strings.Contains(sent[0], `"requestId":3`) {
		t.Errorf("the server was told %v", sent)
	}
}

func TestServersThatMisbehave(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	other := newFakeServer("other")
	answers := make(chan string, 1)
	server.on = func(l *fakeLink, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		l.say("Server started on stdio")
		l.say(`{"jsonrpc":"2.0","id":999,"result":{}}`)
		l.say(`{"jsonrpc":"2.0","id":"x","result":{}}`)
		l.say("%s", strings.ReplaceAll(<-answers, "ID", string(m.ID)))
		return true
	}
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Result = 1000 }, server, other))
	c.shake("{}")
	for i, test := range []struct {
		answer, want string
		status       interlock.OutcomeStatus
	}{
		{`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":true}}`, `{"content":[],"isError":true}`, interlock.OutcomeFailure},
		{`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"content":[]}}`, "unknown_outcome", interlock.OutcomeUnknown},
		{`{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"dropped","data":{"interlock":"answer_dropped"}}}`,
			"result_too_large", interlock.OutcomeUnknown},
		{`{"jsonrpc":"2.0","id":ID,"result":{"content":["` + strings.Repeat("x", 1000) + `"]}}`, "result_too_large", interlock.OutcomeSuccess},
	} {
		answers <- test.answer
		a := c.call("tools/call", `{"name":"notes.write_note"}`)
		if !strings.Contains(string(a.Result), test.want) {
			t.Errorf("%s becomes %s %+v", test.answer, a.Result, a.Error)
		}
		if o := book.outcome(t, i); o.Status != test.status {
			t.Errorf("%s: the outcome is %+v", test.answer, o)
		}
	}
	answers <- `{"jsonrpc":"2.0","id":ID,"error":{"code":-5,"message":"own","data":[1]}}`
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error == nil || a.Error.Code != -5 || string(a.Error.Data) != "[1]" {
		t.Errorf("a server's own error becomes %s %+v", a.Result, a.Error)
	}
	if a := c.call("tools/call", `{"name":"other.write_note"}`); a.Error != nil {
		t.Errorf("the other server's answer: %+v", a.Error)
	}
}

func TestAServerThatIsSlow(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	server.on = func(_ *fakeLink, m message) bool { return m.Method == "tools/call" }
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Call = 50 * time.Millisecond }, server))
	c.shake("{}")
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); !strings.Contains(string(a.Result), "unknown_outcome") {
		t.Errorf("the client is told %s %+v", a.Result, a.Error)
	}
	if o := book.outcome(t, 0); o.Status != interlock.OutcomeUnknown {
		t.Errorf("the outcome is %+v", o)
	}
}
