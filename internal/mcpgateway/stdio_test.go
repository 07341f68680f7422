package mcpgateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"interlock/internal/mcpgateway"
)

const helloLine = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}` + "\n"

// Every line is answered once, whatever it is, and what is asked before the input ends is answered after it.
func TestEveryLineIsAnswered(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	g := newGateway(t, book, func(c *mcpgateway.Config) { c.Limits.Message = 4000 }, server)
	var in strings.Builder
	in.WriteString("\n" + helloLine + strings.Repeat("x", 100_000) + "\n[]\n")
	const calls = 200
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a.read_note"}}`+"\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":"cut","method":`) // the end comes in the middle
	var out strings.Builder
	if err := g.RunStdio(t.Context(), mcpgateway.Caller{Agent: "t"}, strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		answers[string(m.ID)]++
		if m.Result == nil && m.Error == nil {
			t.Errorf("%q is no answer", line)
		}
	}
	for i := range calls {
		if id := fmt.Sprint(i); answers[id] != 1 {
			t.Errorf("request %s has %d answers", id, answers[id])
		}
	}
	if answers[`"hello"`] != 1 || answers["null"] != 2 || answers[`"cut"`] != 1 || len(answers) != calls+3 {
		t.Errorf("the rest is %v", answers)
	}
	if n := len(server.sent("tools/call")); n != calls {
		t.Errorf("%d calls were forwarded", n)
	}
}

// A client that does not read holds up nobody but itself, and not the end of the program.
func TestAClientThatDoesNotRead(t *testing.T) {
	server, book := newFakeServer("a"), newFakeLog()
	server.answers["tools/call"] = `{"content":["` + strings.Repeat("x", 1<<20) + `"]}`
	g := newGateway(t, book, nil, server)
	ctx, stop := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- g.RunStdio(ctx, mcpgateway.Caller{Agent: "t"}, in, out) }()
	io.WriteString(typed, helloLine)
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		fmt.Fprintf(typed, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a.read_note"}}`+"\n", i)
	}
	for i := range 5 {
		book.outcome(t, i)
	}
	other := join(t, g)
	other.shake("{}")
	if a := other.call("tools/list", ""); a.Error != nil {
		t.Errorf("another client: %+v", a.Error)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	read.Close()
}
