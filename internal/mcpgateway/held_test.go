package mcpgateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/test/wait"
)

// asking has a server of the handshake revisions send these requests while a call runs, one after another, each when the one
// before is answered, and then end the call. It returns what it was answered with.
func asking(f *fakeServer, requests ...string) (answers chan string) {
	answers = make(chan string, 100)
	var mu sync.Mutex
	var call json.RawMessage
	last, step := 899, 0
	next := func(l *fakeLink, n int) {
		if n < len(requests) {
			last++
			l.say(`{"jsonrpc":"2.0","id":%d,%s}`, last, requests[n])
			return
		}
		l.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call, f.answers["tools/call"])
	}
	f.on = func(l *fakeLink, m message) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case m.Method == "tools/call":
			call, step = m.ID, 0
			next(l, 0)
			return true
		case m.Method == "" && string(m.ID) == fmt.Sprint(last):
			text, _ := json.Marshal(m)
			answers <- string(text)
			step++
			next(l, step)
			return true
		}
		return false
	}
	return answers
}

const (
	asksName  = `"method":"elicitation/create","params":{"message":"who?","elicitationId":"e1","requestedSchema":{"type":"object","properties":{}},"_meta":{"a":1}}`
	asksRoots = `"method":"roots/list"`
	modelled  = `"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}`
	takesAll  = `{"roots":{},"sampling":{},"elicitation":{"form":{}}}`
)

// A round is a result that asks for input.
type round struct {
	Type   string `json:"resultType"`
	State  string `json:"requestState"`
	Inputs map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"inputRequests"`
}

// asks reads a result that asks for one thing, and returns its state and the name of the question.
func asks(t *testing.T, a message, method string) (state, name string) {
	t.Helper()
	var r round
	if err := json.Unmarshal(a.Result, &r); err != nil || r.Type != "input_required" || len(r.Inputs) != 1 || !strings.HasPrefix(r.State, "ilkh1.") {
		t.Fatalf("nothing is asked: %s %+v", a.Result, a.Error)
	}
	for name = range r.Inputs {
		if r.Inputs[name].Method != method {
			t.Fatalf("asked is %s", a.Result)
		}
	}
	return r.State, name
}

// again makes the call again with an answer.
func (c *client) again(state, name, response string) message {
	c.t.Helper()
	return c.call("tools/call", `{`+writesNote+`,"inputResponses":{"`+name+`":`+response+`,"other":{"payload":1}},"requestState":"`+state+`",`+metaWith(takesAll)+`}`)
}

// TestAServerAsksAModernClient: a call whose server asks by requests of its own is forwarded once and decided once, whatever many
// rounds it takes; each question is decided as the server's action, shown as it was judged, and answered with what the client
// brings.
func TestAServerAsksAModernClient(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	answers := asking(server, asksName, asksRoots, modelled)
	c := join(t, newGateway(t, book, nil, server))
	a := c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`)
	state, name := asks(t, a, "elicitation/create")
	want := `{"resultType":"input_required","inputRequests":{"` + name + `":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"properties":{},"type":"object"}}}},"requestState":"` + state + `"}`
	if diff := cmp.Diff(want, string(a.Result)); diff != "" {
		t.Error(diff)
	}
	second, name2 := asks(t, c.again(state, name, `{"action":"accept","content":{"n":"Ann"}}`), "roots/list")
	if second == state || name2 == name {
		t.Error("two rounds are the same")
	}
	third, name3 := asks(t, c.again(second, name2, `{"roots":[]}`), "sampling/createMessage")
	a = c.again(third, name3, `{"role":"assistant"}`)
	if want := `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`; a.Error != nil || string(a.Result) != want {
		t.Errorf("the answer is %s %+v", a.Result, a.Error)
	}
	for n, want := range []string{`{"action":"accept","content":{"n":"Ann"}}`, `{"roots":[]}`, `{"role":"assistant"}`} {
		if got := <-answers; got != fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, 900+n, want) {
			t.Errorf("the server got %s", got)
		}
	}
	type decision struct{ Agent, Tool string }
	var decided []decision
	for _, p := range book.proposed() {
		decided = append(decided, decision{p.Requester.Agent, p.Action.Tool})
	}
	if diff := cmp.Diff([]decision{{"tester", "notes.write_note"}, {"server:notes", "notes.elicitation/show-form"},
		{"server:notes", "notes.roots/list"}, {"server:notes", "notes.sampling/createMessage"}}, decided); diff != "" {
		t.Error(diff)
	}
	ended := map[string]interlock.OutcomeStatus{}
	for n := range 4 {
		o := book.outcome(t, n)
		ended[o.Event] = o.Status
	}
	if diff := cmp.Diff(map[string]interlock.OutcomeStatus{"event-1": "success", "event-2": "success", "event-3": "success",
		"event-4": "success"}, ended); diff != "" {
		t.Error(diff)
	}
	if sent := server.sent("tools/call"); len(sent) != 1 || !strings.Contains(sent[0], `"params":{"name":"write_note","arguments":{"a":"x","z":1}}`) {
		t.Errorf("forwarded was %v", sent)
	}
	if hands := server.sent("initialize"); len(hands) != 1 ||
		!strings.Contains(hands[0], `"capabilities":{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}`) {
		t.Errorf("the handshake is %v", hands)
	}
}

// TestAStateOfAHeldCallIsBound: it counts once, for the session and the very call it was given for, and what does not fit costs
// that call nothing.
func TestAStateOfAHeldCallIsBound(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	server.answers["prompts/list"] = `{"prompts":[{"name":"write_note"}]}`
	answers := asking(server, asksName)
	g := newGateway(t, book, nil, server)
	c := join(t, g)
	state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
	other := &client{t: t, news: make(chan struct{})}
	session, err := g.Open(mcpgateway.Caller{Agent: "another", Principal: "alice", Connection: "memory"}, other)
	if err != nil {
		t.Fatal(err)
	}
	other.session = session
	restarted := join(t, newGateway(t, book, nil, server))
	tail := `,"inputResponses":{"` + name + `":{"action":"accept"}},"requestState":"` + state + `",` + metaWith(takesAll) + `}`
	refused := func(what string, c *client, method, params string) {
		t.Helper()
		if a := c.call(method, `{`+params); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(string(a.Error.Data), `"invalid_state"`) {
			t.Errorf("%s: %s %+v", what, a.Result, a.Error)
		}
	}
	refused("other arguments", c, "tools/call", `"name":"notes.write_note","arguments":{"z":2}`+tail)
	refused("another tool", c, "tools/call", `"name":"notes.read_note","arguments":{"z":1.0,"a":"x"}`+tail)
	refused("another method", c, "prompts/get", `"name":"notes.write_note","arguments":{"z":1.0,"a":"x"}`+tail)
	refused("another agent", other, "tools/call", writesNote+tail)
	refused("another session of the agent", join(t, g), "tools/call", writesNote+tail)
	refused("after a restart", restarted, "tools/call", writesNote+tail)
	refused("a state that was changed", c, "tools/call", writesNote+strings.Replace(tail, state, state[:len(state)-2], 1))
	if len(server.sent("tools/call")) != 1 || len(answers) != 0 || len(book.proposed()) != 2 || book.refusals != 7 {
		t.Errorf("forwarded %v, %d answers, %d proposals, %d refusals", server.sent("tools/call"), len(answers), len(book.proposed()), book.refusals)
	}
	if a := c.call("tools/call", `{`+writesNote+tail); a.Error != nil || !strings.Contains(string(a.Result), `"done"`) {
		t.Fatalf("with its own state the call ends as %s %+v", a.Result, a.Error)
	}
	refused("a second time", c, "tools/call", writesNote+tail)
	if n := len(server.sent("tools/call")); n != 1 {
		t.Errorf("it was forwarded %d times", n)
	}
}

// TestAClientThatBringsNothing is asked the same again, in the same call.
func TestAClientThatBringsNothing(t *testing.T) {
	server := newFakeServer("notes")
	answers := asking(server, asksName)
	c := join(t, newGateway(t, newFakeLog(), nil, server))
	state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
	for _, brings := range []string{`"inputResponses":{},`, `"inputResponses":{"` + name + `":7},`, `"inputResponses":[],`, ``} {
		next, same := asks(t, c.call("tools/call", `{`+writesNote+`,`+brings+`"requestState":"`+state+`",`+metaWith(takesAll)+`}`), "elicitation/create")
		if same != name || next == state {
			t.Errorf("asked is %s", same)
		}
		state = next
	}
	if a := c.again(state, name, `{"action":"decline"}`); !strings.Contains(string(a.Result), `"done"`) || !strings.Contains(<-answers, "decline") {
		t.Errorf("%s %+v", a.Result, a.Error)
	}
}

// TestAnswersAheadOfTheQuestion stay here: what is asked while the client is away it is shown first. A round that finds several
// questions shows them together.
func TestAnswersAheadOfTheQuestion(t *testing.T) {
	server, book := newFakeServer("notes"), newFakeLog()
	answers := make(chan string, 10)
	server.on = func(l *fakeLink, m message) bool {
		switch {
		case m.Method == "tools/call":
			l.say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
		case m.Method == "" && m.ID[0] == '9':
			answers <- string(m.ID) + string(m.Result)
		}
		return m.Method == "tools/call"
	}
	c := join(t, newGateway(t, book, nil, server))
	state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
	for n, request := range []string{asksRoots, modelled} {
		server.last().say(`{"jsonrpc":"2.0","id":%d,%s}`, 901+n, request)
	}
	wait.Until(t, "what was begun comes", func() bool { return len(book.proposed()) >= 4 })
	server.last().say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	wait.Until(t, "what was begun comes", func() bool {
		return strings.Contains(strings.Join(server.sentAll(), ""), `"id":"p","result"`)
	})
	both := func(state string) message {
		return c.call("tools/call", `{`+writesNote+`,"inputResponses":{"`+name+`":{"action":"accept"},"question-2":{"n":2},"question-3":{"n":3}},"requestState":"`+state+`",`+metaWith(takesAll)+`}`)
	}
	var next round
	if a := both(state); json.Unmarshal(a.Result, &next) != nil || next.Type != "input_required" || next.Inputs[name].Method != "" {
		t.Fatalf("%s %+v", a.Result, a.Error)
	}
	if got := <-answers; got != `900{"action":"accept"}` || len(answers) != 0 {
		t.Errorf("the server got %s and %d more", got, len(answers))
	}
	c.begin("tools/call", `{`+writesNote+`,"inputResponses":{"question-2":{"n":2},"question-3":{"n":3}},"requestState":"`+next.State+`",`+metaWith(takesAll)+`}`)
	for len(next.Inputs) > 0 { // those that were shown in that round
		<-answers
		for name := range next.Inputs {
			delete(next.Inputs, name)
			break
		}
	}
}

// TestAClientThatNeverReturns: its server is told so, has its time to end the call, and what came of it is recorded once.
func TestAClientThatNeverReturns(t *testing.T) {
	short := func(c *mcpgateway.Config) { c.Limits.Call = 300 * time.Millisecond }
	t.Run("the server ends the call", func(t *testing.T) {
		server, book := newFakeServer("notes"), newFakeLog()
		server.answers["tools/call"] = `{"content":[{"type":"text","text":"nobody said anything"}],"isError":true}`
		answers := asking(server, asksName, asksRoots)
		c := join(t, newGateway(t, book, short, server))
		state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
		for range 2 { // the second is not shown to anybody
			if got := <-answers; !strings.Contains(got, `"error":{"code":-32603,"message":"the client did not answer"}`) {
				t.Errorf("the server got %s", got)
			}
		}
		ended := map[string]interlock.OutcomeStatus{}
		for n := range 3 {
			o := book.outcome(t, n)
			ended[o.Event] = o.Status
		}
		if diff := cmp.Diff(map[string]interlock.OutcomeStatus{"event-1": "failure", "event-2": "unknown", "event-3": "skipped"}, ended); diff != "" {
			t.Error(diff)
		}
		if a := c.again(state, name, `{"action":"accept"}`); a.Error == nil {
			t.Errorf("it comes back too late and is told %s", a.Result)
		}
	})
	t.Run("the server does not", func(t *testing.T) {
		server, book := newFakeServer("notes"), newFakeLog()
		server.on = func(l *fakeLink, m message) bool {
			if m.Method == "tools/call" {
				l.say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
			}
			return m.Method == "tools/call"
		}
		c := join(t, newGateway(t, book, short, server))
		asks(t, c.call("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`), "elicitation/create")
		if o := book.outcome(t, 0); o.Event != "event-2" || o.Status != interlock.OutcomeUnknown {
			t.Errorf("%+v", o)
		}
		if o := book.outcome(t, 1); o.Event != "event-1" || o.Status != interlock.OutcomeUnknown || !strings.Contains(o.Detail, "in time") {
			t.Errorf("%+v", o)
		}
		wait.Until(t, "what was begun comes", func() bool { return len(server.sent("notifications/cancelled")) > 0 })
	})
}

// TestHowAHeldCallEnds without its client's answers.
func TestHowAHeldCallEnds(t *testing.T) {
	const wantsAnswer = `{` + writesNote + `,`
	begin := func(t *testing.T) (*fakeServer, *fakeLog, *client, string, string) {
		server, book := newFakeServer("notes"), newFakeLog()
		server.on = func(l *fakeLink, m message) bool {
			if m.Method == "tools/call" {
				l.say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
			}
			return m.Method == "tools/call"
		}
		c := join(t, newGateway(t, book, nil, server))
		state, name := asks(t, c.call("tools/call", wantsAnswer+metaWith(takesAll)+`}`), "elicitation/create")
		return server, book, c, state, name
	}
	// once holds the outcome of the call against what is wanted, and sees that there is one.
	once := func(t *testing.T, book *fakeLog, status interlock.OutcomeStatus, detail string) {
		t.Helper()
		var found []interlock.Outcome
		for n := 0; len(found) == 0; n++ {
			if o := book.outcome(t, n); o.Event == "event-1" {
				found = append(found, o)
			}
		}
		if found[0].Status != status || !strings.Contains(found[0].Detail, detail) {
			t.Errorf("the outcome is %+v", found)
		}
	}
	t.Run("the server goes away", func(t *testing.T) {
		server, book, c, state, name := begin(t)
		server.down = func() error { return interlock.Errorf(interlock.CodeUnavailable, "", "down") }
		server.last().Close()
		once(t, book, interlock.OutcomeUnknown, "went away")
		if a := c.again(state, name, `{"action":"accept"}`); !strings.Contains(string(a.Result), `"status":"unknown_outcome"`) {
			t.Errorf("%s %+v", a.Result, a.Error)
		}
	})
	t.Run("the server ends it", func(t *testing.T) {
		server, book, c, state, name := begin(t)
		server.last().say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900}}`)
		call := server.sent("tools/call")[0]
		var m message
		if err := json.Unmarshal([]byte(call), &m); err != nil {
			t.Fatal(err)
		}
		server.last().say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"waited long enough"}]}}`, m.ID)
		once(t, book, interlock.OutcomeSuccess, "")
		if a := c.again(state, name, `{"action":"accept"}`); !strings.Contains(string(a.Result), "waited long enough") {
			t.Errorf("%s %+v", a.Result, a.Error)
		}
	})
	t.Run("the client cancels", func(t *testing.T) {
		server, book, c, state, name := begin(t)
		others := server.on
		server.on = func(l *fakeLink, m message) bool { return m.Method == "" || others(l, m) }
		id := c.begin("tools/call", wantsAnswer+`"inputResponses":{"`+name+`":{"action":"accept"}},"requestState":"`+state+`",`+metaWith(takesAll)+`}`)
		wait.Until(t, "what was begun comes", func() bool { return answeredIt(server) })
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		once(t, book, interlock.OutcomeUnknown, "cancelled")
		wait.Until(t, "what was begun comes", func() bool { return len(server.sent("notifications/cancelled")) > 0 })
	})
	t.Run("the session ends", func(t *testing.T) {
		_, book, c, _, _ := begin(t)
		c.session.Close()
		once(t, book, interlock.OutcomeUnknown, "the session ended")
	})
}

// answeredIt reports whether the server's request has its answer.
func answeredIt(f *fakeServer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.heard {
		if strings.Contains(text, `"id":900,"result"`) {
			return true
		}
	}
	return false
}

// TestWhatAModernClientIsNotAsked: what it did not declare in this request, what is refused, and what belongs to no call of its
// alone; the server is told so and the call goes on.
func TestWhatAModernClientIsNotAsked(t *testing.T) {
	for _, test := range []struct{ asked, takes, want string }{
		{asksName, `{}`, `"code":-32601`},
		{asksName, `{"sampling":{}}`, `"code":-32601`},
		{modelled, `{"elicitation":{}}`, `"code":-32601`},
		{asksRoots, `{"elicitation":{}}`, `"code":-32601`},
		{`"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","elicitationId":"1","message":"m"}`, takesAll, `"code":-32601`},
		{`"method":"tools/call","params":{}`, takesAll, `"code":-32601`},
		{`"method":"sampling/createMessage","params":{"messages":["secret"]}`, takesAll, `"code":-32001`},
	} {
		server, book := newFakeServer("notes"), newFakeLog()
		book.refuse = func(p interlock.Proposal) *interlock.Finding {
			if !strings.Contains(string(p.Action.Arguments), "secret") {
				return nil
			}
			return &interlock.Finding{Gate: "rules", Rule: "r", Verdict: interlock.Deny, Reason: "no"}
		}
		answers := asking(server, test.asked)
		c := join(t, newGateway(t, book, nil, server))
		if a := c.call("tools/call", `{`+writesNote+`,`+metaWith(test.takes)+`}`); a.Error != nil || !strings.Contains(string(a.Result), `"done"`) {
			t.Errorf("%s of %s: %s %+v", test.asked, test.takes, a.Result, a.Error)
		}
		if got := <-answers; !strings.Contains(got, test.want) {
			t.Errorf("%s of %s: the server got %s", test.asked, test.takes, got)
		}
	}
	t.Run("two calls", func(t *testing.T) {
		server := newFakeServer("notes")
		come, answers := make(chan string, 10), make(chan string, 10)
		server.on = func(_ *fakeLink, m message) bool {
			if m.Method == "tools/call" {
				come <- string(m.ID)
			}
			if string(m.ID) == "900" && m.Method == "" {
				text, _ := json.Marshal(m)
				answers <- string(text)
			}
			return m.Method == "tools/call"
		}
		c := join(t, newGateway(t, newFakeLog(), nil, server))
		one := c.begin("tools/call", `{`+writesNote+`,`+metaWith(takesAll)+`}`)
		two := c.begin("tools/call", `{"name":"notes.read_note",`+metaWith("{}")+`}`)
		first, second := <-come, <-come
		server.last().say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
		if got := <-answers; !strings.Contains(got, `"code":-32603`) {
			t.Errorf("the server got %s", got)
		}
		for _, id := range []string{first, second} {
			server.last().say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
		}
		for _, id := range []string{one, two} {
			if a := c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id }); a.Error != nil {
				t.Errorf("%+v", a.Error)
			}
		}
	})
}

// TestHeldCallsAreBounded: one more than there may be has its server told so, and goes on; a place that is free again is given
// away again.
func TestHeldCallsAreBounded(t *testing.T) {
	var servers []*fakeServer
	var answers []chan string
	for n := range mcpgateway.MaxHeld + 1 {
		server := newFakeServer(fmt.Sprintf("s%d", n))
		servers, answers = append(servers, server), append(answers, asking(server, asksName))
	}
	c := join(t, newGateway(t, newFakeLog(), nil, servers...))
	call := func(n int, more string) message {
		return c.call("tools/call", fmt.Sprintf(`{"name":"s%d.read_note",%s%s}`, n, more, metaWith(takesAll)))
	}
	state, name := asks(t, call(0, ""), "elicitation/create")
	for n := 1; n < mcpgateway.MaxHeld; n++ {
		asks(t, call(n, ""), "elicitation/create")
	}
	if a := call(mcpgateway.MaxHeld, ""); !strings.Contains(string(a.Result), `"done"`) || !strings.Contains(<-answers[mcpgateway.MaxHeld], `"error"`) {
		t.Errorf("%s %+v", a.Result, a.Error)
	}
	if a := call(0, `"requestState":"`+state+`","inputResponses":{"`+name+`":{"action":"cancel"}},`); !strings.Contains(string(a.Result), `"done"`) {
		t.Errorf("%s %+v", a.Result, a.Error)
	}
	asks(t, call(mcpgateway.MaxHeld, ""), "elicitation/create")
}

// TestProgressOfAHeldCall goes to whichever request attends it, under that one's token, and to nobody while it is parked.
func TestProgressOfAHeldCall(t *testing.T) {
	server := newFakeServer("notes")
	var call, token json.RawMessage
	server.on = func(l *fakeLink, m message) bool {
		var p struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &p)
		switch {
		case m.Method == "tools/call":
			call, token = m.ID, p.Meta.Token
			l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, token)
			l.say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
		case m.Method == "" && string(m.ID) == "900":
			l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":3}}`, token)
			l.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, call)
		}
		return m.Method == "tools/call"
	}
	c := join(t, newGateway(t, newFakeLog(), nil, server))
	with := func(token string) string {
		return strings.Replace(metaWith(takesAll), `{`, `{"progressToken":"`+token+`",`, 1)
	}
	state, name := asks(t, c.call("tools/call", `{`+writesNote+`,`+with("one")+`}`), "elicitation/create")
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}`, token)
	server.last().say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	wait.Until(t, "what was begun comes", func() bool {
		return strings.Contains(strings.Join(server.sentAll(), ""), `"id":"p","result"`)
	})
	c.call("tools/call", `{`+writesNote+`,"inputResponses":{"`+name+`":{"action":"accept"}},"requestState":"`+state+`",`+with("two")+`}`)
	var told []string
	c.mu.Lock()
	for _, m := range c.came {
		if m.Method == "notifications/progress" {
			told = append(told, string(m.Params))
		}
	}
	c.mu.Unlock()
	if diff := cmp.Diff([]string{`{"progressToken":"one","progress":1}`, `{"progressToken":"two","progress":3}`}, told); diff != "" {
		t.Error(diff)
	}
}

func (f *fakeServer) sentAll() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.heard...)
}

// TestAHeldCallIsApprovedOnce: where calls of a tool need a human's yes, that which is held needs it once, and so does each use its
// server makes of the client's model.
func TestAHeldCallIsApprovedOnce(t *testing.T) {
	h := newHouse(t)
	d := newDesk(t, h, &memoryShelf{kept: map[string][]byte{}})
	answers := asking(d.server, asksName)
	const takes = `{"elicitation":{"form":{},"url":{}}}`
	a := d.stateless("tools/call", letter, takes)
	var first round
	if err := json.Unmarshal(a.Result, &first); err != nil || !mcpgateway.OwnState(first.State) || strings.HasPrefix(first.State, "ilkh1.") {
		t.Fatalf("no human is asked: %s %+v", a.Result, a.Error)
	}
	h.answer(d.process, h.waiting(d.process), interlock.Allow)
	state, name := asks(t, d.stateless("tools/call", letter+`,"requestState":"`+first.State+`"`, takes), "elicitation/create")
	a = d.stateless("tools/call", letter+`,"inputResponses":{"`+name+`":{"action":"accept"}},"requestState":"`+state+`"`, takes)
	if !strings.Contains(string(a.Result), `"done"`) || !strings.Contains(<-answers, "accept") {
		t.Errorf("%s %+v", a.Result, a.Error)
	}
	if n := len(d.server.sent("tools/call")); n != 1 {
		t.Errorf("it was forwarded %d times", n)
	}
	if requests, err := d.process.Requests(t.Context(), 0); err != nil || requests.All != 0 {
		t.Errorf("a human is asked again: %+v, %v", requests, err)
	}
}
