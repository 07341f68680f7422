package mcpgateway_test

import (
	"strings"
	"testing"

	"interlock"
)

// TestAnswersNobodyCanRead: a call whose server's answer can't be read has ended nobody knows how, at once, and that is what log and
// client are told. An answer that can be read beside it is one.
func TestAnswersNobodyCanRead(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   interlock.OutcomeStatus
	}{
		"it breaks off":                 {`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"te`, interlock.OutcomeUnknown},
		"it breaks off after an escape": {`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"te\`, interlock.OutcomeUnknown},
		"an error that breaks off":      {`{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"mess`, interlock.OutcomeUnknown},
		"100,000 brackets":              {`{"jsonrpc":"2.0","id":ID,"result":{"content":` + strings.Repeat("[", 100_000), interlock.OutcomeUnknown},
		"closed again": {`{"jsonrpc":"2.0","id":ID,"result":{"content":` + strings.Repeat("[", 100_000) +
			strings.Repeat("]", 100_000) + `}}`, interlock.OutcomeUnknown},
		"a bad escape":              {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":"\q"}}`, interlock.OutcomeUnknown},
		"not UTF-8":                 {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":"` + "\xff" + `"}}`, interlock.OutcomeUnknown},
		"a member twice":            {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"content":[]}}`, interlock.OutcomeUnknown},
		"result and error":          {`{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}}`, interlock.OutcomeUnknown},
		"neither":                   {`{"jsonrpc":"2.0","id":ID}`, interlock.OutcomeUnknown},
		"another version":           {`{"jsonrpc":"1.0","id":ID,"result":{"content":[]}}`, interlock.OutcomeUnknown},
		"a text for a result":       {`{"jsonrpc":"2.0","id":ID,"result":"done"}`, interlock.OutcomeUnknown},
		"nothing for a result":      {`{"jsonrpc":"2.0","id":ID,"result":null}`, interlock.OutcomeUnknown},
		"a list for a result":       {`{"jsonrpc":"2.0","id":ID,"result":[{"content":[]}]}`, interlock.OutcomeUnknown},
		"the id as a text":          {`{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}`, interlock.OutcomeUnknown},
		"one that can be read":      {`{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`, interlock.OutcomeSuccess},
		"an error that can be read": {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":true}}`, interlock.OutcomeFailure},
	} {
		t.Run(name, func(t *testing.T) {
			server, book := newFakeServer("notes"), newFakeLog()
			server.on = func(l *fakeLink, m message) bool {
				if m.Method != "tools/call" {
					return false
				}
				l.say(`{"jsonrpc":"2.0","id":999,"resul`) // nobody's
				l.say(`{"jsonrpc":"2.0","method":"notifications/mess`)
				l.say("%s", strings.ReplaceAll(test.answer, "ID", string(m.ID)))
				return true
			}
			c := join(t, newGateway(t, book, nil, server))
			c.shake("{}")
			a := c.call("tools/call", `{"name":"notes.write_note"}`)
			if o := book.outcome(t, 0); o.Status != test.want {
				t.Errorf("the outcome is %+v", o)
			}
			if told := strings.Contains(string(a.Result), "unknown_outcome"); told != (test.want == interlock.OutcomeUnknown) {
				t.Errorf("the client is told %s %+v", a.Result, a.Error)
			}
		})
	}
}

// TestAnUnreadableLastBreath: it is unknown as well if the server goes away right behind its answer.
func TestAnUnreadableLastBreath(t *testing.T) {
	for range 20 { // whichever is noticed first
		server, book := newFakeServer("notes"), newFakeLog()
		server.on = func(l *fakeLink, m message) bool {
			if m.Method == "tools/call" {
				l.say(`{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":1}}`, string(m.ID))
				l.Close()
				return true
			}
			return false
		}
		c := join(t, newGateway(t, book, nil, server))
		c.shake("{}")
		a := c.call("tools/call", `{"name":"notes.write_note"}`)
		if o := book.outcome(t, 0); o.Status != interlock.OutcomeUnknown || !strings.Contains(string(a.Result), "unknown_outcome") {
			t.Fatalf("the outcome is %+v; the client is told %s %+v", o, a.Result, a.Error)
		}
	}
}
