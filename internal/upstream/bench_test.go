package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/upstream"
)

// The benchmarks carry a call of about 250 bytes to a server that answers at once, and its answer back: once with our links and
// once with the SDK's client transports, which decode and encode each message on the way. They are why the links are our own.

const benchCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"arguments":{"text":"%s"},"name":"echo"}}`

var benchText = strings.Repeat("x", 160)

// answerer answers every request with a short result, as a JSON object.
func answerer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, benchText)
	}))
}

func BenchmarkHTTPOwn(b *testing.B) {
	h := answerer()
	defer h.Close()
	s, err := upstream.New(upstream.Config{Name: "s", URL: h.URL}, upstream.Options{})
	if err != nil {
		b.Fatal(err)
	}
	link, err := s.Dial(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer link.Close()
	carry(b, link)
}

func BenchmarkStdioOwn(b *testing.B) {
	c := upstream.Config{Name: "s", Command: self(b), Env: map[string]string{"UPSTREAM_TEST": "echo"}}
	s, err := upstream.New(c, upstream.Options{})
	if err != nil {
		b.Fatal(err)
	}
	link, err := s.Dial(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer link.Close()
	carry(b, link)
}

func carry(b *testing.B, link upstream.Link) {
	b.ReportAllocs()
	for i := range b.N {
		if err := link.Send(b.Context(), fmt.Appendf(nil, benchCall, i+1, benchText)); err != nil {
			b.Fatal(err)
		}
		if _, err := link.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHTTPSDK(b *testing.B) {
	h := answerer()
	defer h.Close()
	carrySDK(b, &mcp.StreamableClientTransport{Endpoint: h.URL, DisableStandaloneSSE: true})
}

func BenchmarkStdioSDK(b *testing.B) {
	command := exec.Command(self(b))
	command.Env = []string{"UPSTREAM_TEST=echo"}
	carrySDK(b, &mcp.CommandTransport{Command: command})
}

func carrySDK(b *testing.B, transport mcp.Transport) {
	connection, err := transport.Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer connection.Close()
	b.ReportAllocs()
	for i := range b.N {
		message, err := jsonrpc.DecodeMessage(fmt.Appendf(nil, benchCall, i+1, benchText))
		if err != nil {
			b.Fatal(err)
		}
		if err := connection.Write(b.Context(), message); err != nil {
			b.Fatal(err)
		}
		answer, err := connection.Read(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := jsonrpc.EncodeMessage(answer); err != nil {
			b.Fatal(err)
		}
	}
}
