package clients

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGatewayResumes has the Go SDK's client lose the connection of a call after the first event. It comes back by itself, and the
// call has the answer and all that came before it, once.
func TestGatewayResumes(t *testing.T) {
	t.Parallel()
	_, env := newHome(t)
	endpoint, token := gatewayBefore(t, env, "suite", nil, buildServer(t))
	told := make(chan float64, 8)
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- r.Params.Progress
		}})
	losing := &losing{next: bearer(token)}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: losing}},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "suite.test_tool_with_progress", Meta: mcp.Meta{"progressToken": "p"}})
	if err != nil || result.IsError {
		t.Errorf("the call: %+v, %v", result, err)
	}
	progress := []float64{<-told, <-told, <-told}
	if err := session.Ping(t.Context(), nil); err != nil { // whatever would come twice has come
		t.Error(err)
	}
	if diff := cmp.Diff([]float64{0, 50, 100}, progress); diff != "" || len(told) > 0 {
		t.Errorf("progress, and %d more (-want +got):\n%s", len(told), diff)
	}
	if diff := cmp.Diff([]string{"1-1"}, losing.resumed); diff != "" {
		t.Errorf("streams that were gone on with (-want +got):\n%s", diff)
	}
}

// A losing client loses the connection of each stream that answers a POST after its first event.
type losing struct {
	next http.RoundTripper

	mu      sync.Mutex
	resumed []string
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" && !strings.HasPrefix(id, "0-") { // not the session's own
		l.mu.Lock()
		l.resumed = append(l.resumed, id)
		l.mu.Unlock()
	}
	response, err := l.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && response.Header.Get("Content-Type") == "text/event-stream" {
		response.Body = &firstEvent{ReadCloser: response.Body}
	}
	return response, err
}

// firstEvent is a stream that breaks off behind its first event.
type firstEvent struct {
	io.ReadCloser
	had  strings.Builder
	over bool
}

func (f *firstEvent) Read(p []byte) (int, error) {
	if f.over {
		f.ReadCloser.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.ReadCloser.Read(p[:1])
	f.had.Write(p[:n])
	f.over = strings.HasSuffix(f.had.String(), "\n\n")
	return n, err
}
