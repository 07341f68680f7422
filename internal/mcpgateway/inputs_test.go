package mcpgateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/test/wait"
)

// modernServer speaks revision 2026-07-28 alone.
func modernServer(name string) *fakeServer {
	f := newFakeServer(name)
	delete(f.answers, "initialize")
	f.answers["server/discover"] = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"instructions":"Be kind."}`
	f.answers["resources/list"] = `{"resources":[{"uri":"note://` + name + `/1","name":"one"}]}`
	f.answers["resources/templates/list"] = `{"resourceTemplates":[]}`
	f.answers["resources/read"] = `{"contents":[],"ttlMs":5,"cacheScope":"public"}`
	f.on = func(l *fakeLink, m message) bool {
		if m.Method != "subscriptions/listen" {
			return false
		}
		var p struct {
			Notifications json.RawMessage `json:"notifications"`
		}
		_ = json.Unmarshal(m.Params, &p)
		l.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, p.Notifications, m.ID)
		return true
	}
	return f
}

// metaWith is what a client says of itself with each request.
func metaWith(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// metaOfOurs is what the gateway says of it to a server.
func metaOfOurs(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"interlock","version":"test"},"io.modelcontextprotocol/clientCapabilities":` + capabilities
}

// wants has a server answer calls by asking, until it is brought answers.
func wants(f *fakeServer, question string) {
	others := f.on
	f.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" && !strings.Contains(string(m.Params), `"inputResponses"`) {
			l.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, question)
			return true
		}
		return others(l, m)
	}
}

const (
	asksBoth = `{"resultType":"input_required","x":1,"inputRequests":{"name":{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{}},"message":"who?","_meta":{"a":1}}},` +
		`"where":{"method":"roots/list"}},"requestState":"s\u0031/=="}`
	takesBoth  = `{"roots":{},"elicitation":{"form":{}},"vendor":{"x":1}}`
	passesBoth = `{"roots":{},"elicitation":{"form":{}}}`
	writesNote = `"name":"notes.write_note","arguments":{"z":1.0,"a":"x"}`
)

// TestAServerAsksInItsResult: each of its questions is decided as its own action, the client is shown them as they were judged, and
// with the same call, decided again, exactly the answers to them and the server's own state go back.
func TestAServerAsksInItsResult(t *testing.T) {
	server, book := modernServer("notes"), newFakeLog()
	wants(server, asksBoth)
	c := join(t, newGateway(t, book, nil, server))
	a := c.call("tools/call", `{`+writesNote+`,`+metaWith(takesBoth)+`}`)
	shown := `{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"properties":{},"type":"object"}}},` +
		`"where":{"method":"roots/list","params":{}}},"requestState":"s\u0031/=="}`
	if a.Error != nil || string(a.Result) != shown {
		t.Fatalf("the client is shown %s %+v", a.Result, a.Error)
	}
	type decision struct{ Agent, Tool string }
	var decided []decision
	for _, p := range book.proposed() {
		decided = append(decided, decision{p.Requester.Agent, p.Action.Tool})
	}
	if diff := cmp.Diff([]decision{{"tester", "notes.write_note"}, {"server:notes", "notes.elicitation/show-form"},
		{"server:notes", "notes.roots/list"}}, decided); diff != "" {
		t.Error(diff)
	}
	for n := range 3 {
		if o := book.outcome(t, n); o.Status != interlock.OutcomeSuccess {
			t.Errorf("outcome %d is %+v", n, o)
		}
	}
	answers := `"inputResponses":{"name":{"action":"accept","content":{"n":"Ann"}},"other":{"payload":1}},"requestState":"s1/=="`
	a = c.call("tools/call", `{`+writesNote+`,`+answers+`,`+metaWith(takesBoth)+`}`)
	if want := `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`; a.Error != nil || string(a.Result) != want {
		t.Errorf("the answer is %s %+v", a.Result, a.Error)
	}
	if n := len(book.proposed()); n != 4 {
		t.Errorf("%d proposals", n)
	}
	var sent []string
	for _, text := range server.sent("tools/call") {
		_, params, _ := strings.Cut(text, `"params":`)
		sent = append(sent, params)
	}
	call := `{"name":"write_note","arguments":{"a":"x","z":1},`
	want := []string{call + metaOfOurs(passesBoth) + `}}}`,
		call + `"inputResponses":{"name":{"action":"accept","content":{"n":"Ann"}}},"requestState":"s1/==",` + metaOfOurs(passesBoth) + `}}}`}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if hands := server.sent("initialize"); len(hands) != 0 {
		t.Errorf("it was sent %v", hands)
	}
}

// TestWhatWasNotAskedStaysHere: a state is good for the request it was given for, and an answer for its question.
func TestWhatWasNotAskedStaysHere(t *testing.T) {
	server, book := modernServer("notes"), newFakeLog()
	wants(server, asksBoth)
	c := join(t, newGateway(t, book, nil, server))
	responses := `"inputResponses":{"name":{"action":"accept"}},`
	c.call("tools/call", `{`+writesNote+`,`+responses+metaWith(takesBoth)+`}`)
	if sent := server.sent("tools/call"); len(sent) != 1 || strings.Contains(sent[0], "inputResponses") {
		t.Errorf("answers that nothing asked for went on: %v", sent)
	}
	for _, params := range []string{
		`"name":"notes.write_note","arguments":{"z":2},` + responses + `"requestState":"s1/=="`,          // another call
		`"name":"notes.read_note","arguments":{"z":1.0,"a":"x"},` + responses + `"requestState":"s1/=="`, // another tool
		writesNote + `,` + responses + `"requestState":"s1/==x"`,
		writesNote + `,` + responses + `"requestState":""`,
		writesNote + `,` + responses + `"requestState":1`,
	} {
		if a := c.call("tools/call", `{`+params+`,`+metaWith(takesBoth)+`}`); a.Error == nil || a.Error.Code != -32602 ||
			!strings.Contains(a.Error.Message, "requestState") {
			t.Errorf("%s: %s %+v", params, a.Result, a.Error)
		}
	}
	if a := c.call("resources/read", `{"uri":"note://notes/1",`+responses+`"requestState":"s1/==",`+metaWith(takesBoth)+`}`); a.Error == nil {
		t.Errorf("another method: %s", a.Result)
	}
	if n := len(server.sent("tools/call")) + len(server.sent("resources/read")); n != 1 || book.refusals != 5 {
		t.Errorf("%d requests were forwarded, %d refusals recorded", n, book.refusals)
	}
}

// TestARefusedQuestionIsNotShown: where one is refused, none is shown, and the call is answered with the refusal.
func TestARefusedQuestionIsNotShown(t *testing.T) {
	server, book := modernServer("notes"), newFakeLog()
	wants(server, asksBoth)
	book.refuse = func(p interlock.Proposal) *interlock.Finding {
		if p.Action.Tool != "notes.roots/list" {
			return nil
		}
		return &interlock.Finding{Gate: "rules", Rule: "secret.rule", Verdict: interlock.Deny, Reason: "nobody is told where we are"}
	}
	c := join(t, newGateway(t, book, nil, server))
	a := c.call("tools/call", `{`+writesNote+`,`+metaWith(takesBoth)+`}`)
	for _, want := range []string{`"isError":true`, `"resultType":"complete"`, `"status":"denied"`, `"code":"policy_denied"`,
		`"reason":"nobody is told where we are"`} {
		if a.Error != nil || !strings.Contains(string(a.Result), want) {
			t.Errorf("the client is told %s %+v without %s", a.Result, a.Error, want)
		}
	}
	if text := string(a.Result); strings.Contains(text, "who?") || strings.Contains(text, "s1/==") || strings.Contains(text, "secret.rule") {
		t.Errorf("the client is shown %s", text)
	}
	ended := map[string]interlock.OutcomeStatus{}
	for n := range 2 {
		o := book.outcome(t, n)
		ended[o.Event] = o.Status
	}
	if diff := cmp.Diff(map[string]interlock.OutcomeStatus{"event-1": interlock.OutcomeSuccess, "event-2": interlock.OutcomeSkipped}, ended); diff != "" {
		t.Error(diff)
	}
	server.answers["tools/list"] = `{"tools":[{"name":"write_note","outputSchema":{"type":"object"}}]}`
	c.call("tools/list", `{`+metaWith(takesBoth)+`}`)
	a = c.call("tools/call", `{`+writesNote+`,`+metaWith(takesBoth)+`}`)
	if text := string(a.Result); !strings.Contains(text, `"_meta":{"interlock/answer":{"code":"policy_denied"`) || strings.Contains(text, "structuredContent") {
		t.Errorf("where results have a declared form the client is told %s", text)
	}
	if a := c.call("tools/call", `{`+writesNote+`,"requestState":"s1/==",`+metaWith(takesBoth)+`}`); a.Error == nil {
		t.Errorf("the state of what was refused counts: %s", a.Result)
	}
}

// TestResultsThatAreNone: what a server may not answer reaches nobody.
func TestResultsThatAreNone(t *testing.T) {
	form := `"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}}`
	for _, test := range []struct{ result, capabilities, want string }{
		{`{"resultType":"task","taskId":"t"}`, takesBoth, "unknown_outcome"},
		{`{"resultType":7,"content":[]}`, takesBoth, "unknown_outcome"},
		{`{"resultType":"input_required"}`, takesBoth, "unknown_outcome"},
		{`{"resultType":"input_required","requestState":"ilk1.x"}`, takesBoth, "unknown_outcome"},
		{`{"resultType":"input_required","inputRequests":[]}`, takesBoth, "unknown_outcome"},
		{`{"resultType":"input_required",` + form + `}`, `{}`, "invalid_request"},
		{`{"resultType":"input_required",` + form + `}`, `{"elicitation":{"url":{}}}`, "invalid_request"},
		{`{"resultType":"input_required","inputRequests":{"q":{"method":"tools/call","params":{}}}}`, takesBoth, "invalid_request"},
		{`{"resultType":"input_required","inputRequests":{"q":7}}`, takesBoth, "invalid_request"},
		{strings.Replace(`{"resultType":"input_required",`+form+`}`, `"q"`, `"`+strings.Repeat("q", 257)+`"`, 1), takesBoth, "unknown_outcome"},
		{`{"resultType":"input_required","requestState":"later"}`, `{}`, `{"resultType":"input_required","requestState":"later"}`},
	} {
		for _, server := range []*fakeServer{modernServer("notes"), newFakeServer("notes")} { // one with a handshake can't either
			server.answers["tools/call"] = test.result
			c := join(t, newGateway(t, newFakeLog(), nil, server))
			a := c.call("tools/call", `{`+writesNote+`,`+metaWith(test.capabilities)+`}`)
			if a.Error != nil || !strings.Contains(string(a.Result), test.want) || strings.Contains(string(a.Result), `"message"`) {
				t.Errorf("%s becomes %s %+v", test.result, a.Result, a.Error)
			}
		}
	}
}

// TestWhichRevisionAServerIsSpokenTo: its client's if it knows that, else the one of the handshake.
func TestWhichRevisionAServerIsSpokenTo(t *testing.T) {
	t.Run("it does not know", func(t *testing.T) {
		server := newFakeServer("notes")
		c := join(t, newGateway(t, newFakeLog(), nil, server))
		if a := c.call("tools/call", `{`+writesNote+`,`+metaWith("{}")+`}`); a.Error != nil {
			t.Errorf("%+v", a.Error)
		}
		if sent := server.sent("tools/call"); len(server.sent("initialize")) != 1 || strings.Contains(sent[0], "2026-07-28") {
			t.Errorf("sent was %v", server.heard)
		}
	})
	t.Run("it ends where it is asked", func(t *testing.T) {
		server := newFakeServer("notes")
		server.on = func(l *fakeLink, m message) bool {
			if m.Method != "server/discover" {
				return false
			}
			l.Close()
			return true
		}
		c := join(t, newGateway(t, newFakeLog(), nil, server))
		c.call("subscriptions/listen", `{`+metaWith("{}")+`}`)
		wait.Until(t, "what was begun comes", func() bool { return len(server.sent("notifications/initialized")) > 0 })
		if n := len(server.sent("server/discover")); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
	t.Run("it says nothing before the handshake", func(t *testing.T) {
		server := newFakeServer("notes")
		server.on = func(_ *fakeLink, m message) bool { return m.Method == "server/discover" }
		c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Limits.Start = 2 * time.Second }, server))
		if a := c.call("tools/call", `{`+writesNote+`,`+metaWith("{}")+`}`); a.Error != nil {
			t.Errorf("%+v", a.Error)
		}
	})
	t.Run("its client shakes hands", func(t *testing.T) {
		server := newFakeServer("notes")
		server.answers["server/discover"] = modernServer("notes").answers["server/discover"]
		c := join(t, newGateway(t, newFakeLog(), nil, server))
		c.shake("{}")
		if a := c.call("tools/call", `{`+writesNote+`}`); a.Error != nil || len(server.sent("server/discover")) != 0 {
			t.Errorf("%+v; sent was %v", a.Error, server.heard)
		}
	})
}

// TestNoticesOfAModernServer: what it is listened for reaches the client, and its lists are read whether it says so or not.
func TestNoticesOfAModernServer(t *testing.T) {
	server := modernServer("notes")
	c := join(t, newGateway(t, newFakeLog(), nil, server))
	for range 2 {
		if a := c.call("tools/list", `{`+metaWith("{}")+`}`); a.Error != nil || !strings.Contains(string(a.Result), "notes.write_note") {
			t.Fatalf("%s %+v", a.Result, a.Error)
		}
	}
	if n := len(server.sent("tools/list")); n != 3 {
		t.Errorf("the list was read %d times", n)
	}
	if a := c.call("resources/read", `{"uri":"note://notes/1",`+metaWith("{}")+`}`); !strings.Contains(string(a.Result), `"cacheScope":"private"`) {
		t.Errorf("what was decided for one is kept for all: %s", a.Result)
	}
	id := c.begin("subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["note://notes/1"]},`+metaWith("{}")+`}`)
	if told := string(c.notice("notifications/subscriptions/acknowledged").Params); !strings.Contains(told, `"resourceSubscriptions":["note://notes/1"]`) {
		t.Errorf("acknowledged is %s", told)
	}
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://notes/1","_meta":{"io.modelcontextprotocol/subscriptionId":9}}}`)
	want := `{"uri":"note://notes/1","_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`
	if diff := cmp.Diff(want, string(c.notice("notifications/resources/updated").Params)); diff != "" {
		t.Error(diff)
	}
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`)
	c.notice("notifications/tools/list_changed")
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	for len(server.sent("notifications/cancelled")) == 0 {
		c.call("tools/list", `{`+metaWith("{}")+`}`)
	}
	if sent := append(server.sent("resources/subscribe"), server.sent("notifications/initialized")...); len(sent) != 0 {
		t.Errorf("it was sent %v", sent)
	}
}

// askedDesk is a desk whose server asks its user something in the result of each call, until it is told.
func askedDesk(t *testing.T, state string) *desk {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	modern := modernServer("mail")
	d.server.answers["server/discover"], d.server.on = modern.answers["server/discover"], modern.on
	wants(d.server, `{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}}`+state+`}`)
	return d
}

const (
	takesForms = `{"elicitation":{"form":{},"url":{}}}`
	saysYes    = `,"inputResponses":{"sure":{"action":"accept"}}`
)

// approved makes a call that is asked about, has it approved, and comes back with the state it was given.
func (d *desk) approved(brings string) string {
	d.t.Helper()
	a := d.stateless("tools/call", letter+brings, takesForms)
	var asks round
	if err := json.Unmarshal(a.Result, &asks); err != nil || !mcpgateway.OwnState(asks.State) {
		d.t.Fatalf("no human is asked: %s %+v", a.Result, a.Error)
	}
	d.house.answer(d.process, d.house.waiting(d.process), interlock.Allow)
	return string(d.stateless("tools/call", letter+`,"requestState":"`+asks.State+`"`, takesForms).Result)
}

// TestAnApprovalIsForTheWholeCall: the retry of an approved call, with what its server has asked for, needs no second yes; a second
// retry and a call without answers do.
func TestAnApprovalIsForTheWholeCall(t *testing.T) {
	for name, state := range map[string]string{"with a state": `,"requestState":"theirs"`, "without one": ``} {
		t.Run(name, func(t *testing.T) {
			d := askedDesk(t, state)
			if shown := d.approved(""); !strings.Contains(shown, "sure?") {
				t.Fatalf("the server's question is %s", shown)
			}
			if a := d.stateless("tools/call", letter, takesForms); !strings.Contains(string(a.Result), `"interlock:apr_`) {
				t.Errorf("a call of its own passes: %s %+v", a.Result, a.Error)
			}
			if a := d.stateless("tools/call", letter+`,"inputResponses":{"other":{}}`, takesForms); !strings.Contains(string(a.Result), `"interlock:apr_`) {
				t.Errorf("one that answers nothing passes: %s %+v", a.Result, a.Error)
			}
			if a := d.stateless("tools/call", strings.Replace(letter, "all@", "more@", 1)+saysYes+state,
				takesForms); strings.Contains(string(a.Result), `"done"`) {
				t.Errorf("other arguments pass: %s", a.Result)
			}
			if a := d.stateless("tools/call", letter+saysYes+state, takesForms); !strings.Contains(string(a.Result), `"done"`) {
				t.Errorf("its retry is answered with %s %+v", a.Result, a.Error)
			}
			if a := d.stateless("tools/call", letter+saysYes+state, takesForms); !strings.Contains(string(a.Result), `"interlock:apr_`) {
				t.Errorf("the second retry passes: %s %+v", a.Result, a.Error)
			}
			sent := d.server.sent("tools/call")
			if len(sent) != 2 || !strings.Contains(sent[1], `"inputResponses":{"sure":{"action":"accept"}}`+state+`,`) {
				t.Errorf("sent was %v", sent)
			}
		})
	}
	t.Run("for as long as it was given", func(t *testing.T) {
		d := askedDesk(t, `,"requestState":"theirs"`)
		d.approved("")
		d.house.later(3 * time.Hour)
		if a := d.stateless("tools/call", letter+saysYes+`,"requestState":"theirs"`, takesForms); !strings.Contains(string(a.Result), `"interlock:apr_`) {
			t.Errorf("it passes: %s %+v", a.Result, a.Error)
		}
	})
	t.Run("round for round", func(t *testing.T) {
		d := askedDesk(t, `,"requestState":"theirs"`)
		rounds := 0
		others := d.server.on
		d.server.on = func(l *fakeLink, m message) bool {
			if m.Method == "tools/call" && rounds < 3 {
				rounds++
				m.Params = json.RawMessage(`{}`)
			}
			return others(l, m)
		}
		shown := d.approved("")
		for n := range 3 {
			if strings.Contains(shown, `"sure?"`) != (n < 3) {
				t.Errorf("in round %d it is %s", n, shown)
			}
			shown = string(d.stateless("tools/call", letter+saysYes+`,"requestState":"theirs"`, takesForms).Result)
		}
		if !strings.Contains(shown, `"done"`) {
			t.Errorf("at last it is %s", shown)
		}
	})
}

// TestAHumanIsAskedBetweenQuestions: what a client brings for a server is not lost while a human is asked about the call anew.
func TestAHumanIsAskedBetweenQuestions(t *testing.T) {
	d := askedDesk(t, `,"requestState":"theirs"`)
	if shown := d.approved(""); !strings.Contains(shown, "sure?") || !strings.Contains(shown, `"requestState":"theirs"`) {
		t.Fatalf("the server's question is %s", shown)
	}
	d.house.later(3 * time.Hour)
	if done := d.approved(saysYes + `,"requestState":"theirs"`); !strings.Contains(done, `"text":"done"`) {
		t.Errorf("after the second approval: %s", done)
	}
	sent := d.server.sent("tools/call")
	if len(sent) != 2 || !strings.Contains(sent[1], `"inputResponses":{"sure":{"action":"accept"}},"requestState":"theirs",`) {
		t.Errorf("sent was %v", sent)
	}
}
