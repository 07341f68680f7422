package mcpgateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/mcpgateway"
)

// lines is a log that a test looks into.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) all(with string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

// A server that says more than anybody wants to hear, messages or none, fills neither the log nor what its client reads, and does
// not have its lists read over and over.
func TestServersThatTalkWithoutEnd(t *testing.T) {
	const times = 500
	server, other := newFakeServer("notes"), newFakeServer("other")
	server.on = func(l *fakeLink, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		for n := range times {
			l.say("garbage")
			l.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			l.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, n)
		}
		return false
	}
	said := &lines{}
	c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Logger = slog.New(slog.NewTextHandler(said, nil)) }, server, other))
	c.shake("{}")
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error != nil {
		t.Errorf("the call: %+v", a.Error)
	}
	if a := c.call("tools/call", `{"name":"other.write_note"}`); a.Error != nil {
		t.Errorf("the other server: %+v", a.Error)
	}
	if told := said.all("no message"); len(told) != 20 || !strings.Contains(told[19], "further_left_out=true") {
		t.Errorf("the log has %d lines: %s", len(told), told)
	}
	heard := map[string]int{}
	c.mu.Lock()
	for _, m := range c.came {
		heard[m.Method]++
	}
	c.mu.Unlock()
	if n := heard["notifications/message"]; n == 0 || n >= times {
		t.Errorf("the client heard %d log messages of %d", n, times)
	}
	if changed, read := heard["notifications/tools/list_changed"], len(server.sent("tools/list")); changed > 20 || read > 20 {
		t.Errorf("the client heard %d times that the list has changed, and it was read %d times", changed, read)
	}
}

// Answers in an order of the server's own, twice, and after the fact, each reach the call they belong to, once.
func TestAnswersInAnotherOrder(t *testing.T) {
	server := newFakeServer("notes")
	var mu sync.Mutex
	var waiting []string
	server.on = func(l *fakeLink, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		var p struct{ Arguments json.RawMessage }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if waiting = append(waiting, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"of":%s}}`, m.ID, p.Arguments)); len(waiting) == 3 {
			for n := range waiting {
				l.say("%s", waiting[len(waiting)-1-n])
				l.say("%s", waiting[len(waiting)-1-n])
				l.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, m.ID)
			}
			waiting = nil
		}
		return true
	}
	c := join(t, newGateway(t, newFakeLog(), nil, server))
	c.shake("{}")
	for round := range 2 {
		var ids, want []string
		for n := range 3 {
			arguments := fmt.Sprintf(`{"n":%d}`, 10*round+n)
			ids, want = append(ids, c.begin("tools/call", `{"name":"notes.write_note","arguments":`+arguments+`}`)), append(want, arguments)
		}
		for n, id := range ids {
			a := c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
			if a.Error != nil || !strings.Contains(string(a.Result), `"of":`+want[n]) {
				t.Errorf("call %s is answered with %s %+v", want[n], a.Result, a.Error)
			}
		}
	}
	c.call("ping", "")
	answers := map[string]int{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.came {
		if answers[string(m.ID)]++; m.Method == "" && answers[string(m.ID)] > 1 {
			t.Errorf("%s is answered again with %s %+v", m.ID, m.Result, m.Error)
		}
	}
}

// A server that is silent keeps nobody from another's tools, and a client's handshake not for as long as it is waited for itself.
func TestAServerThatIsSilent(t *testing.T) {
	server, silent := newFakeServer("notes"), newFakeServer("silent")
	silent.on = func(*fakeLink, message) bool { return true }
	g := newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Limits.Start, c.Limits.Hello = time.Hour, 10*time.Millisecond }, silent, server)
	c := join(t, g)
	c.shake("{}")
	if a := c.call("tools/call", `{"name":"notes.write_note"}`); a.Error != nil {
		t.Errorf("the call: %+v", a.Error)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	stateless := join(t, g)
	if a := stateless.call("tools/call", `{"name":"notes.write_note",`+meta+`}`); a.Error != nil {
		t.Errorf("the call without a session: %+v", a.Error)
	}
	if a := stateless.call("server/discover", `{`+meta+`}`); a.Error != nil {
		t.Errorf("the question what there is: %+v", a.Error)
	}
}

// A choked server takes the first question about its tools and no other, as a program does that has stopped reading.
type choked struct {
	*fakeServer
	asked   atomic.Int64
	waiting chan struct{} // closed when somebody waits for it
}

type chokedLink struct {
	mcpgateway.Link
	server *choked
}

func (f *choked) Dial(ctx context.Context) (mcpgateway.Link, error) {
	l, err := f.fakeServer.Dial(ctx)
	return &chokedLink{Link: l, server: f}, err
}

func (l *chokedLink) Send(ctx context.Context, text []byte) error {
	if !strings.Contains(string(text), `"tools/list"`) || l.server.asked.Add(1) == 1 {
		return l.Link.Send(ctx, text)
	}
	close(l.server.waiting)
	<-ctx.Done()
	return interlock.Errorf(interlock.CodeUnavailable, "", "takes no messages now")
}

// What can't be asked because the session ends is not said to be wrong with the server: operators and doctor go by the log.
func TestTheEndOfASessionIsNoNewsOfItsServers(t *testing.T) {
	said := &lines{}
	server := &choked{fakeServer: newFakeServer("notes"), waiting: make(chan struct{})}
	c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) {
		c.Servers, c.Logger = []mcpgateway.Server{server}, slog.New(slog.NewTextHandler(said, nil))
	}))
	c.shake("{}")
	c.call("tools/list", "")
	server.last().say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	<-server.waiting
	if err := c.session.Close(); err != nil {
		t.Fatal(err)
	}
	if told := said.all("a server is not there"); len(told) > 0 {
		t.Errorf("the log says %s", told)
	}
}
