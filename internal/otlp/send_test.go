package otlp_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"interlock/internal/otlp"
	"interlock/test/wait"
)

// A collector counts what it takes, and refuses with a status first.
type collector struct {
	mutex  sync.Mutex
	spans  int
	bad    []string
	refuse []int
	tokens map[string]bool
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if r.URL.Path != "/v1/traces" {
		return
	}
	c.tokens[r.Header.Get("Authorization")] = true
	if len(c.refuse) > 0 {
		w.WriteHeader(c.refuse[0])
		c.refuse = c.refuse[1:]
		return
	}
	var request tracepb.ExportTraceServiceRequest
	z, err := gzip.NewReader(r.Body)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(z)
	}
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		c.bad = append(c.bad, err.Error())
		return
	}
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans += len(scope.Spans)
		}
	}
}

func sender(to string) *otlp.Sender {
	s := &otlp.Sender{To: to, Token: func() (string, error) { return "hunter2", nil }, Version: "1", Instance: "i", Now: time.Now,
		Gather: func(context.Context) []otlp.Metric { return nil }, Client: &http.Client{Timeout: time.Second},
		Logger: slog.New(slog.DiscardHandler), Every: 10 * time.Millisecond}
	s.Start()
	return s
}

// TestSender: what there is when it ends is sent before it does, again where the collector said that it might be taken then.
func TestSender(t *testing.T) {
	c := &collector{refuse: []int{503, 429}, tokens: map[string]bool{}}
	server := httptest.NewServer(c)
	defer server.Close()
	s := sender(server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	for range 1000 {
		s.Span(otlp.Span{Event: strings.Repeat("ab", 32), Kind: "shell", Took: time.Millisecond})
	}
	wait.Until(t, "the spans are sent", func() bool {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		return c.spans >= 1000
	})
	s.Span(otlp.Span{Kind: "shell", Failed: true})
	cancel()
	<-done
	if c.spans != 1001 || len(c.bad) > 0 || !c.tokens["Bearer hunter2"] || len(c.tokens) != 1 || s.Dropped() != 0 {
		t.Errorf("%d spans, %v, %v, %d dropped", c.spans, c.bad, c.tokens, s.Dropped())
	}
}

// TestSenderNeverWaits: with nobody who takes them, spans beyond the queue are dropped and counted, and so are those that are refused.
func TestSenderNeverWaits(t *testing.T) {
	s := sender("http://127.0.0.1:1") // nobody listens, and nobody runs it yet
	for range 5000 {
		s.Span(otlp.Span{Kind: "shell"})
	}
	if s.Dropped() != 5000-4096 {
		t.Errorf("%d are dropped", s.Dropped())
	}
	c := &collector{refuse: []int{400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400}, tokens: map[string]bool{}}
	server := httptest.NewServer(c)
	defer server.Close()
	s = sender(server.URL)
	for range 600 {
		s.Span(otlp.Span{Kind: "shell"})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx)
	if s.Dropped() != 600 || c.spans != 0 {
		t.Errorf("%d are dropped of 600 that were refused, %d were taken", s.Dropped(), c.spans)
	}
}

// TestTally: decisions are counted by what came of them, and their times by bounds.
func TestTally(t *testing.T) {
	var tally otlp.Tally
	if len(tally.Metrics()) != 0 {
		t.Error("nothing is counted and told")
	}
	for range 3 {
		tally.Add("deny", "deny", "enforcing", time.Millisecond)
	}
	tally.Add("allow", "allow", "enforcing", time.Hour)
	m := tally.Metrics()
	counts := m[1].Samples[0].Counts
	if len(m) != 2 || m[0].Samples[0].Value != 1 || m[0].Samples[1].Value != 3 || counts[len(counts)-1] != 1 || len(counts) != len(m[1].Bounds)+1 {
		t.Errorf("%+v", m)
	}
}
