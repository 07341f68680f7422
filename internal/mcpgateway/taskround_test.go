package mcpgateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock"
	"interlock/test/wait"
)

const takesTasksAndForms = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"form":{}},"roots":{}}`

// begun makes a task of a call that a human has approved, and polls it until it is asked for input.
func (d *desk) begun() (id string) {
	d.t.Helper()
	made := d.sees(d.stateless("tools/call", letter, takesTasksAndForms))
	d.house.answer(d.process, d.house.waiting(d.process), interlock.Allow)
	return made.ID
}

// asked polls a task until it wants something that was not seen before, and returns the names of what.
func (d *desk) asked(id string, before ...string) (names []string) {
	d.t.Helper()
	wait.Until(d.t, "the task asks", func() bool {
		now := d.sees(d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasksAndForms))
		if now.Status != "working" && now.Status != "input_required" {
			d.t.Fatalf("it ended: %+v", now)
		}
		names = names[:0]
		for name := range now.Inputs {
			if !strings.Contains(strings.Join(before, " "), name) {
				names = append(names, name)
			}
		}
		return len(names) > 0 && now.Status == "input_required"
	})
	return names
}

func (d *desk) tell(id, name, response string) {
	d.t.Helper()
	told, _ := json.Marshal(map[string]any{name: json.RawMessage(response), "1:other": map[string]any{}})
	if a := d.stateless("tasks/update", `"taskId":"`+id+`","inputResponses":`+string(told),
		takesTasksAndForms); string(a.Result) != `{"resultType":"complete"}` {
		d.t.Errorf("%s %+v", a.Result, a.Error)
	}
}

// ended polls a task until it has ended.
func (d *desk) ended(id string) seen {
	d.t.Helper()
	var now seen
	wait.Until(d.t, "the task ends", func() bool {
		now = d.sees(d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasksAndForms))
		return now.Status != "working" && now.Status != "input_required"
	})
	return now
}

// TestATaskCarriesAHeldCallsQuestions: they are the task's, in order, under names of their own; the call is forwarded once.
func TestATaskCarriesAHeldCallsQuestions(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	answers := asking(d.server, asksName, asksRoots)
	id := d.begun()
	first := d.asked(id)
	if blind := d.sees(d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasks)); blind.Inputs != nil || blind.Status != "working" {
		t.Errorf("a client that takes no forms is shown %+v", blind)
	}
	d.tell(id, first[0], `7`)
	if same := d.asked(id); len(same) != 1 || same[0] != first[0] {
		t.Errorf("what is no answer counts: %v", same)
	}
	d.tell(id, first[0], `{"action":"accept","content":{"n":"Ann"}}`)
	second := d.asked(id, first...)
	d.tell(id, second[0], `{"roots":[]}`)
	if done := d.ended(id); done.Status != "completed" || done.Result.Content[0].Text != "done" {
		t.Errorf("it ends as %+v", done)
	}
	for _, want := range []string{`"result":{"action":"accept","content":{"n":"Ann"}}`, `"result":{"roots":[]}`} {
		if got := <-answers; !strings.Contains(got, want) {
			t.Errorf("the server got %s", got)
		}
	}
	if sent := d.server.sent("tools/call"); len(sent) != 1 {
		t.Errorf("forwarded was %v", sent)
	}
}

// TestATaskCarriesItsServersQuestions, which that asks in results: round for round, with one approval, under names that do not
// come twice though the server's do.
func TestATaskCarriesItsServersQuestions(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	modern := modernServer("mail")
	d.server.answers["server/discover"], d.server.on = modern.answers["server/discover"], modern.on
	wants(d.server, `{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"theirs"}`)
	rounds, others := 0, d.server.on
	d.server.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" {
			if rounds++; rounds < 3 {
				m.Params = json.RawMessage(`{}`)
			}
		}
		return others(l, m)
	}
	id := d.begun()
	first := d.asked(id)
	d.tell(id, first[0], `{"action":"accept"}`)
	second := d.asked(id, first...)
	d.tell(id, second[0], `{"action":"accept","content":{"really":true}}`)
	if done := d.ended(id); done.Status != "completed" || done.Result.Content[0].Text != "done" {
		t.Errorf("it ends as %+v", done)
	}
	sent := d.server.sent("tools/call")
	if len(sent) != 3 || !strings.Contains(sent[1], `"inputResponses":{"sure":{"action":"accept"}},"requestState":"theirs",`) ||
		!strings.Contains(sent[2], `"inputResponses":{"sure":{"action":"accept","content":{"really":true}}},"requestState":"theirs",`) {
		t.Errorf("sent was %v", sent)
	}
	if requests, err := d.process.Requests(t.Context(), 0); err != nil || requests.All != 0 {
		t.Errorf("a human is asked again: %+v, %v", requests, err)
	}
}

// TestATaskIsGivenUpWhileItsServerAsks: the server is told, and nobody knows how its call ended.
func TestATaskIsGivenUpWhileItsServerAsks(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	d.server.on = func(l *fakeLink, m message) bool {
		if m.Method == "tools/call" {
			l.say(`{"jsonrpc":"2.0","id":900,%s}`, asksName)
		}
		return m.Method == "tools/call"
	}
	id := d.begun()
	d.asked(id)
	d.stateless("tasks/cancel", `"taskId":"`+id+`"`, takesTasksAndForms)
	if done := d.ended(id); done.Status != "failed" || !strings.Contains(done.Error.Message, "nobody knows how it ended") {
		t.Errorf("it ends as %+v", done)
	}
	wait.Until(t, "what was begun comes", func() bool { return len(d.server.sent("notifications/cancelled")) > 0 })
}

// TestAListenerHearsOfItsTasks: of its own, without a poll, each time they stand otherwise.
func TestAListenerHearsOfItsTasks(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	answers := asking(d.server, asksRoots)
	made := d.sees(d.stateless("tools/call", letter, takesTasksAndForms))
	request := d.house.waiting(d.process)
	listen := `"notifications":{"taskIds":["` + made.ID + `","interlock-apr_000000000000","` + made.ID + `"]}`
	if a := d.stateless("subscriptions/listen", listen, `{}`); a.Error == nil || a.Error.Code != -32021 {
		t.Errorf("without the extension: %s %+v", a.Result, a.Error)
	}
	subscription := d.begin("subscriptions/listen",
		`{`+listen+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+takesTasksAndForms+`}}`)
	if told := string(d.notice("notifications/subscriptions/acknowledged").Params); !strings.Contains(told, `"notifications":{"taskIds":["`+made.ID+`"]}`) {
		t.Errorf("acknowledged is %s", told)
	}
	hears := func(status string) seen {
		t.Helper()
		m := d.until(func(m message) bool {
			return m.Method == "notifications/tasks" && strings.Contains(string(m.Params), `"status":"`+status+`"`)
		})
		if text := string(m.Params); !strings.Contains(text, `"_meta":{"io.modelcontextprotocol/subscriptionId":`+subscription+`}`) {
			t.Errorf("told is %s", text)
		}
		told := d.sees(message{Result: m.Params})
		if told.Type != "" {
			t.Errorf("it is told as a result: %+v", told)
		}
		return told
	}
	hears("working")
	d.house.answer(d.process, request, interlock.Allow)
	for name := range hears("input_required").Inputs {
		d.tell(made.ID, name, `{"roots":[]}`)
	}
	if done := hears("completed"); done.ID != made.ID || done.Result.Content[0].Text != "done" || !strings.Contains(<-answers, `{"roots":[]}`) {
		t.Errorf("told is %+v", done)
	}
}
