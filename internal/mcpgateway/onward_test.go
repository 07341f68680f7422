package mcpgateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/spec"
)

// A lineClient speaks to a gateway over a pair of streams.
type lineClient struct {
	t     *testing.T
	typed *io.PipeWriter
	read  *bufio.Reader
	ended chan error
}

func newLineClient(t *testing.T, g *mcpgateway.Gateway) *lineClient {
	in, typed := io.Pipe()
	read, out := io.Pipe()
	c := &lineClient{t: t, typed: typed, read: bufio.NewReader(read), ended: make(chan error, 1)}
	go func() { c.ended <- g.RunStdio(t.Context(), mcpgateway.Caller{Agent: "tester"}, in, out) }()
	t.Cleanup(func() {
		typed.Close()
		read.Close()
		<-c.ended
	})
	c.write(helloLine)
	c.answer(`"hello"`)
	return c
}

func (c *lineClient) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.typed, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *lineClient) call(id int) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a.read_note"}}`+"\n", id))
}

func (c *lineClient) ping(id int) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id))
}

// answer is the next answer, which must be to that request.
func (c *lineClient) answer(id string) message {
	c.t.Helper()
	for {
		line, err := c.read.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatal(err)
		}
		if m.Method != "" {
			continue
		}
		if string(m.ID) != id {
			c.t.Fatalf("an answer to %s where one to %s is due: %s", m.ID, id, line)
		}
		return m
	}
}

// silent is a server that answers no call until it is told to.
func silent() *fakeServer {
	server := newFakeServer("a")
	server.on = func(_ *fakeLink, m message) bool { return m.Method == "tools/call" }
	return server
}

// While a decision waits, for a human or a disk, whoever read the call does not keep others from being read.
func TestACallThatWaitsToBeDecidedHoldsUpNoOther(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	asked, decided := make(chan struct{}), make(chan struct{})
	book.refuse = func(p interlock.Proposal) *interlock.Finding {
		asked <- struct{}{}
		<-decided
		return nil
	}
	c := newLineClient(t, newGateway(t, book, nil, server))
	for round := range 3 { // goroutines that have read before read again
		c.call(10 + round)
		<-asked
		c.ping(20 + round)
		c.answer(fmt.Sprint(20 + round))
		decided <- struct{}{}
		c.answer(fmt.Sprint(10 + round))
	}
}

// While a server takes its time, others are answered, and the call is answered once: when its server answers, goes away, takes
// too long or its client cancels it.
func TestACallThatWaitsForItsServer(t *testing.T) {
	answered := func(server *fakeServer, id int64) {
		server.last().say(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"late"}]}}`, id)
	}
	forwarded := func(server *fakeServer) int64 {
		for {
			if sent := server.sent("tools/call"); len(sent) > 0 {
				var m struct{ ID int64 }
				if err := json.Unmarshal([]byte(sent[len(sent)-1]), &m); err != nil {
					t.Fatal(err)
				}
				return m.ID
			}
			time.Sleep(time.Millisecond)
		}
	}
	for _, test := range []struct {
		name   string
		limit  time.Duration
		after  func(*lineClient, *fakeServer)
		want   string // in the answer; empty: there is none
		status interlock.OutcomeStatus
	}{
		{"it answers", 0, func(_ *lineClient, s *fakeServer) { answered(s, forwarded(s)) }, "late", interlock.OutcomeSuccess},
		{"it answers with nothing", 0, func(_ *lineClient, s *fakeServer) {
			s.last().say(`{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}`, forwarded(s))
		}, "unknown_outcome", interlock.OutcomeUnknown},
		{"it goes away", 0, func(_ *lineClient, s *fakeServer) { forwarded(s); s.last().Close() },
			"unknown_outcome", interlock.OutcomeUnknown},
		{"it takes too long", 50 * time.Millisecond, func(_ *lineClient, s *fakeServer) {}, "unknown_outcome", interlock.OutcomeUnknown},
		{"its client cancels it", 0, func(c *lineClient, s *fakeServer) {
			forwarded(s)
			c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n")
		}, "", interlock.OutcomeUnknown},
		{"it shows progress and answers", 200 * time.Millisecond, func(_ *lineClient, s *fakeServer) {
			id := forwarded(s)
			for range 6 {
				time.Sleep(60 * time.Millisecond)
				s.last().say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}`, id)
			}
			answered(s, id)
		}, "late", interlock.OutcomeSuccess},
	} {
		t.Run(test.name, onItsOwnClock(func(t *testing.T) {
			server, book := silent(), newFakeLog()
			c := newLineClient(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Call = test.limit }, server))
			c.call(1)
			if test.limit == 0 {
				c.ping(2)
				c.answer("2")
			}
			test.after(c, server)
			if test.want != "" {
				if a := c.answer("1"); !strings.Contains(string(a.Result), test.want) {
					t.Errorf("it was answered with %s %+v", a.Result, a.Error)
				}
			}
			if o := book.outcome(t, 0); o.Status != test.status {
				t.Errorf("the outcome is %s", o.Status)
			}
			c.ping(3) // and nothing more was said of it
			c.answer("3")
		}))
	}
}

// So it is with what only reads: whoever read the request waits for no server, and the answer goes to the client as it came.
func TestAReadThatWaitsForItsServer(t *testing.T) {
	for method, params := range map[string]string{
		"resources/read":      `{"uri":"note://a/1"}`,
		"prompts/get":         `{"name":"a.greet","arguments":{"who":"x"}}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"a.greet"},"argument":{"name":"who","value":"x"}}`,
	} {
		server, book := fullServer("a"), newFakeLog()
		asked := make(chan string, 1)
		server.on = func(_ *fakeLink, m message) bool {
			if m.Method == method {
				asked <- string(m.ID)
			}
			return m.Method == method
		}
		c := newLineClient(t, newGateway(t, book, nil, server))
		for id := range 3 {
			c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params))
			forwarded := <-asked
			c.ping(100 + id)
			c.answer(fmt.Sprint(100 + id))
			server.last().say(`{"jsonrpc":"2.0","id":%s,"result":{"a":"%s"}}`, forwarded, "as it came")
			if a := c.answer(fmt.Sprint(id)); string(a.Result) != `{"a":"as it came"}` {
				t.Errorf("%s: answered with %s %+v", method, a.Result, a.Error)
			}
			if o := book.outcome(t, id); o.Status != interlock.OutcomeSuccess {
				t.Errorf("%s: the outcome is %s", method, o.Status)
			}
		}
	}
}

// A defect that comes up while an answer is looked at is answered, and its request's place is free again.
func TestADefectInAnAnswer(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	g := newGateway(t, book, func(c *mcpgateway.Config) { c.Hearer, c.Limits.Calls = brokenHearer{}, 2 }, server)
	c := newLineClient(t, g)
	for id := range 5 {
		c.call(id)
		if a := c.answer(fmt.Sprint(id)); a.Error == nil || a.Error.Message != "the request could not be completed" {
			t.Fatalf("call %d: %s %+v", id, a.Result, a.Error)
		}
	}
}

type brokenHearer struct{}

func (brokenHearer) Returned(interlock.Requester, interlock.View, interlock.Action, string) {
	panic("a defect")
}

// onItsOwnClock runs a test on a clock that goes on when everybody waits for it.
func onItsOwnClock(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// One timer watches all calls of a server, and each has the whole time from when it was sent.
func TestEachCallHasItsWholeTime(t *testing.T) {
	onItsOwnClock(func(t *testing.T) {
		const limit = 400 * time.Millisecond
		server, book := silent(), newFakeLog()
		c := newLineClient(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Call = limit }, server))
		begun := map[string]time.Time{}
		for n, id := range []string{"1", "2", "3"} {
			begun[id] = time.Now()
			c.call(n + 1)
			time.Sleep(limit / 4)
		}
		for _, id := range []string{"1", "2", "3"} {
			a := c.answer(id)
			if took := time.Since(begun[id]); !strings.Contains(string(a.Result), "unknown_outcome") || took < limit || took > 2*limit {
				t.Errorf("call %s was answered after %s with %s", id, took, a.Result)
			}
		}
	})(t)
}

// A call of a module has the module's time, which is shorter than a server's, and those of others have theirs.
func TestAModulesCallHasItsTime(t *testing.T) {
	onItsOwnClock(func(t *testing.T) {
		spec.Covers(t, "MACE-5.2-1")
		server, book := silent(), newFakeLog()
		c := newLineClient(t, newGateway(t, book, nil, server))
		c.call(1)
		c.ping(2)
		c.answer("2")
		begun := time.Now()
		book.mu.Lock()
		book.within = 30 * time.Second
		book.mu.Unlock()
		c.call(3)
		if a := c.answer("3"); !strings.Contains(string(a.Result), "unknown_outcome") || !time.Now().Equal(begun.Add(30*time.Second)) {
			t.Errorf("the module's was answered after %s with %s", time.Now().Sub(begun), a.Result)
		}
		if o := book.outcome(t, 0); o.Status != interlock.OutcomeUnknown {
			t.Errorf("its outcome is %s", o.Status)
		}
		if a := c.answer("1"); !strings.Contains(string(a.Result), "unknown_outcome") || time.Now().Sub(begun) < 5*time.Minute {
			t.Errorf("the other was answered after %s with %s", time.Now().Sub(begun), a.Result)
		}
	})(t)
}
