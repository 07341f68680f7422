package mcpgateway_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
)

// A sink is a client that counts its answers.
type sink struct{ came chan struct{} }

func (s *sink) Send(context.Context, []byte) error {
	select {
	case s.came <- struct{}{}:
	default:
	}
	return nil
}

// An echoServer answers each request at once, with as little work as can be.
type echoServer struct{}

func (echoServer) Name() string               { return "echo" }
func (echoServer) Local() bool                { return true }
func (echoServer) Trouble() string            { return "" }
func (echoServer) Identity() interlock.Digest { return "sha256:echo" }
func (echoServer) Dial(context.Context) (mcpgateway.Link, error) {
	return &echoLink{out: make(chan []byte, 1000), ended: make(chan struct{})}, nil
}

type echoLink struct {
	out   chan []byte
	once  atomic.Bool
	ended chan struct{}
}

func (l *echoLink) Send(_ context.Context, text []byte) error {
	var id int64
	for _, c := range text[len(`{"jsonrpc":"2.0","id":`):] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + int64(c-'0')
	}
	result := `{"content":[{"type":"text","text":"echo: the quick brown fox jumps over the lazy dog"}]}`
	switch id {
	case 1:
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`
	case 2:
		result = `{"tools":[{"name":"echo","description":"Echo text back","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}`
	}
	l.out <- []byte(`{"jsonrpc":"2.0","id":` + strconv.FormatInt(id, 10) + `,"result":` + result + `}`)
	return nil
}

func (l *echoLink) Receive() ([]byte, error) {
	select {
	case text := <-l.out:
		return text, nil
	case <-l.ended:
		return nil, context.Canceled
	}
}

func (l *echoLink) Close() error {
	if l.once.CompareAndSwap(false, true) {
		close(l.ended)
	}
	return nil
}

// BenchmarkCall is a tools/call through the gateway without any pipe. Budgets: docs/gateway.md.
func BenchmarkCall(b *testing.B) {
	b.Run("undecided", func(b *testing.B) { benchmarkCall(b, newLedgerForBench()) })
	for _, mode := range []interlock.Mode{interlock.Enforcing, interlock.Monitoring} {
		b.Run(mode.String(), func(b *testing.B) {
			settings, err := config.Load(b.TempDir(), "")
			if err != nil {
				b.Fatal(err)
			}
			settings.Mode = mode
			backend, err := embedded.OpenConfig(b.Context(), settings)
			if err != nil {
				b.Fatal(err)
			}
			defer backend.Close()
			benchmarkCall(b, backend.Admission)
		})
	}
}

// yes allows everything and remembers nothing.
type yes struct{ fakeLog }

func newLedgerForBench() *yes { return &yes{} }

func (*yes) ProposeBy(context.Context, admission.Way, interlock.Proposal) interlock.Answer {
	return interlock.Answer{Event: "e", Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow}}
}
func (*yes) Conclude(context.Context, ...admission.Concluded) error               { return nil }
func (*yes) Report(context.Context, interlock.Requester, interlock.Outcome) error { return nil }

func benchmarkCall(b *testing.B, backend mcpgateway.Backend) {
	for _, callers := range []int{1, 16} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			g, err := mcpgateway.New(mcpgateway.Config{Backend: backend, Sparing: true,
				Servers: []mcpgateway.Server{echoServer{}}, Now: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			peer := &sink{came: make(chan struct{}, 1)}
			s, err := g.Open(mcpgateway.Caller{Agent: "bench", Principal: "p"}, peer)
			if err != nil {
				b.Fatal(err)
			}
			s.Handle(b.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`), peer)
			b.ReportAllocs()
			b.SetParallelism(callers)
			b.ResetTimer()
			var next atomic.Int64
			each := func() {
				id := next.Add(1)
				s.Handle(context.Background(),
					[]byte(`{"jsonrpc":"2.0","id":`+strconv.FormatInt(id,
						10)+`,"method":"tools/call","params":{"name":"echo.echo","arguments":{"text":"the quick brown fox jumps over the lazy dog"}}}`), peer)
			}
			if callers == 1 {
				for b.Loop() {
					each()
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					each()
				}
			})
		})
	}
}
