package sqlite_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
)

// payload is a decision record of ordinary size.
var payload = []byte(`{"a":"` + string(make1k()) + `"}`)

func make1k() []byte {
	b := make([]byte, 700)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return b
}

func benchDraft(run string) ledger.Draft {
	return ledger.Draft{
		Type: interlock.EventDecision, Run: run, Seed: "seed-" + run, Trace: "trace", Actor: "agent", Role: "agent",
		Recorded:  time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Snapshots: map[string]string{"ruleset": "sha256:00", "snapshot": "sha256:11"}, Payload: payload,
	}
}

// BenchmarkCommit measures durable commits at 1, 16 and 128 callers beside a raw append and fsync loop with the same
// group commit on the same disk. Target: at least 0.7 of raw.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("raw/callers=%d", callers), func(b *testing.B) { benchRaw(b, callers) })
		b.Run(fmt.Sprintf("sqlite/callers=%d", callers), func(b *testing.B) { benchSQLite(b, callers) })
	}
}

func benchSQLite(b *testing.B, callers int) {
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(dir, "interlock.db"), driver.Options{Sealer: sealer})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	run(b, callers, func(caller int) error {
		_, err := store.Commit(context.Background(), ledger.Change{
			Version: 1, Events: []ledger.Draft{benchDraft(fmt.Sprintf("run-%d", caller))},
		})
		return err
	})
}

// run spreads b.N calls of step over the callers.
func run(b *testing.B, callers int, step func(caller int) error) {
	b.Helper()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for next.Add(1) <= int64(b.N) {
				if err := step(caller); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// benchRaw appends the same bytes to a file, one fsync for all that wait.
func benchRaw(b *testing.B, callers int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	queue := make(chan chan error, 1024)
	event := make([]byte, 1500)
	go func() {
		var waiting []chan error
		var buffer []byte
		for first := range queue {
			waiting = append(waiting[:0], first)
			for more := true; more; {
				select {
				case next := <-queue:
					waiting = append(waiting, next)
				default:
					more = false
				}
			}
			buffer = buffer[:0]
			for range waiting {
				buffer = append(buffer, event...)
			}
			_, err := f.Write(buffer)
			if err == nil {
				err = f.Sync()
			}
			for _, w := range waiting {
				w <- err
			}
		}
	}()
	defer close(queue)
	run(b, callers, func(int) error {
		answer := make(chan error, 1)
		queue <- answer
		return <-answer
	})
}

// BenchmarkHook measures what a hook does with the store: open an existing one, read the standing, look for the call, commit
// a decision, close.
func BenchmarkHook(b *testing.B) {
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for b.Loop() {
		s, err := sqlite.Open(filepath.Join(dir, "interlock.db"), driver.Options{Sealer: sealer, Brief: true})
		if err != nil {
			b.Fatal(err)
		}
		_, version, err := s.Load(ctx, ledger.Ref{Kind: ledger.Agent, Key: "claude"})
		if err != nil {
			b.Fatal(err)
		}
		r := interlock.Requester{Agent: "claude", Run: "run", Call: "call"}
		span := ledger.Every(1)
		span.Newest = true
		if _, _, err := s.Scan(ctx, ledger.Ref{Kind: ledger.Call, Mark: ledger.Called(r.Agent, r.Run, r.Call)}, span); err != nil {
			b.Fatal(err)
		}
		_, err = s.Commit(ctx, ledger.Change{Version: version, Reads: []ledger.Ref{{Kind: ledger.Agent, Key: "claude"}},
			Events: []ledger.Draft{benchDraft("run")},
			Writes: ledger.Rows(ledger.CallBody{Requester: r, Action: "sha256:aa", At: time.Now()})})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify measures whole verification from the store, in entries per second. Target: at least 100,000.
func BenchmarkVerify(b *testing.B) {
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	s, err := sqlite.Open(filepath.Join(dir, "interlock.db"), driver.Options{Sealer: sealer})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const entries = 50_000
	for written := 0; written < entries; written += 50 {
		var c ledger.Change
		for i := range 50 {
			c.Events = append(c.Events, benchDraft(fmt.Sprint("run-", i)))
		}
		if _, err := s.Commit(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		report, err := auditlog.Verify(context.Background(), s, sealer.Public(), auditlog.VerifyOptions{})
		if err != nil || report.Problem != nil || report.Entries != entries {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(entries*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkLoad measures what every decision pays to know that nothing has changed, with many callers.
func BenchmarkLoad(b *testing.B) {
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	s, err := sqlite.Open(filepath.Join(dir, "interlock.db"), driver.Options{Sealer: sealer})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	agent := ledger.Ref{Kind: ledger.Agent, Key: "claude"}
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			run(b, callers, func(int) error {
				_, _, err := s.Load(context.Background(), agent)
				return err
			})
		})
		b.Run(fmt.Sprintf("known/callers=%d", callers), func(b *testing.B) {
			run(b, callers, func(int) error {
				_, _, err := s.Recall(context.Background(), agent)
				return err
			})
		})
	}
}

// BenchmarkIdle is what a look at a file that nobody writes costs the one goroutine that looks for everybody, beside a load of
// nothing, which is the least that each of those who wait would pay at each look of his own.
func BenchmarkIdle(b *testing.B) {
	s := open(b, newPath(b))
	defer s.Close()
	if _, err := s.Commit(b.Context(), ledger.Change{Events: []ledger.Draft{benchDraft("run")}}); err != nil {
		b.Fatal(err)
	}
	look, end, err := sqlite.Looking(s)
	if err != nil {
		b.Fatal(err)
	}
	defer end()
	var looks, loads time.Duration
	for b.Loop() {
		began := time.Now()
		look()
		looked := time.Now()
		if _, _, err := s.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		looks, loads = looks+looked.Sub(began), loads+time.Since(looked)
	}
	b.ReportMetric(float64(looks.Nanoseconds())/float64(b.N), "look-ns")
	b.ReportMetric(float64(loads.Nanoseconds())/float64(b.N), "load-ns")
	b.ReportMetric(looks.Seconds()/loads.Seconds(), "ratio")
}
