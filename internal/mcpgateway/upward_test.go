package mcpgateway_test

import (
	"strings"
	"testing"

	"interlock/internal/mcpgateway"
)

// A deaf client takes what it is sent and turns out never to read it.
type deaf struct {
	*client
	unread chan struct{}
}

func (d deaf) Unread() <-chan struct{} { return d.unread }

// A server that asks a client which does not read is told so when that is known, and does not wait out the time of a call.
func TestRequestsNobodyReads(t *testing.T) {
	server := newFakeServer("a")
	answers := make(chan message, 1)
	server.on = func(_ *fakeLink, m message) bool {
		if m.Method == "" {
			answers <- m
		}
		return false
	}
	g := newGateway(t, newFakeLog(), nil, server)
	c := deaf{client: &client{t: t, news: make(chan struct{})}, unread: make(chan struct{})}
	session, err := g.Open(mcpgateway.Caller{Agent: "tester", Principal: "alice", Connection: "memory", Dir: t.TempDir()}, c)
	if err != nil {
		t.Fatal(err)
	}
	c.session = session
	c.shake(anyCapabilities)
	server.last().say(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
	c.notice("roots/list")
	close(c.unread)
	if a := <-answers; a.Error == nil || string(a.ID) != "5" || !strings.Contains(a.Error.Message, "did not answer") {
		t.Errorf("it is answered %s %+v", a.Result, a.Error)
	}
}
