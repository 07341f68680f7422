//go:build unix

package embedded_test

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/store/storagetest"
)

// BenchmarkPropose measures a durable decision in process at several numbers of callers. `make bench` holds it against a
// raw append and fsync loop on the same disk.
func BenchmarkPropose(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			backend, err := embedded.Open(b.Context(), embedded.Config{Home: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer backend.Close()
			var n atomic.Int64
			b.SetParallelism(max(1, callers/2))
			b.ReportAllocs()
			before := cpuTime()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					answer := backend.Propose(b.Context(), interlock.Proposal{
						Action: interlock.Action{Kind: interlock.KindShell, Dir: "/repo",
							Input: fmt.Sprintf("git diff HEAD~%d -- src/main.go | head -50", n.Add(1))},
						Requester: interlock.Requester{Principal: "bench", Agent: "bench", Run: "run"},
						View:      interlock.View{Home: "/home/dev", Workspace: "/repo"},
					})
					if !answer.Answer.Allowed() {
						b.Fatalf("answer %v: %+v", answer.Answer, answer.Findings)
					}
				}
			})
			b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime is what this process has used, user and system: on a busy machine it says more than the clock.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkAsk measures opening a request while so many others are pending: each moves the standing that the next decision
// starts from.
func BenchmarkAsk(b *testing.B) {
	for _, pending := range []int{0, 1000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			backend, err := embedded.Open(b.Context(), embedded.Config{Home: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer backend.Close()
			n := 0
			ask := func() {
				n++
				answer := backend.Propose(b.Context(), interlock.Proposal{
					Action:    interlock.Action{Kind: interlock.KindSQL, Input: fmt.Sprintf("DROP TABLE t%d", n)},
					Requester: interlock.Requester{Principal: "bench", Agent: fmt.Sprint("bench-", n/20), Run: "run"}, CanAsk: true,
				})
				if answer.Request == "" {
					b.Fatalf("no request: %+v", answer)
				}
			}
			for range pending {
				ask()
			}
			before := cpuTime()
			for b.Loop() {
				ask()
			}
			b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkLedger measures decisions beside what little stands for ten agents, and beside 60,000 agents and a million rows. An
// allow reads its agent's rows; an ask writes one that others must find, and reads on from there. Ten agents act, and then every
// one of them, so that nothing of it has been read before.
func BenchmarkLedger(b *testing.B) {
	for _, agents := range []int{10, 60_000} {
		settings := config.Defaults()
		settings.Home, settings.MaxQuestions = b.TempDir(), 1<<20
		backend, err := embedded.OpenConfig(b.Context(), settings)
		if err != nil {
			b.Fatal(err)
		}
		rows := storagetest.Fill(b, backend.Store, agents, time.Now())
		decide := func(b *testing.B, of int, action func(n int) interlock.Action, want interlock.Verdict) {
			n := 0
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				n++
				answer := backend.Propose(b.Context(), interlock.Proposal{Action: action(n), CanAsk: true,
					Requester: interlock.Requester{Principal: "olga", Agent: fmt.Sprint("agent-", n%min(agents, of)), Run: "run"},
					View:      interlock.View{Home: "/home/dev", Workspace: "/repo"}})
				if answer.Verdict != want {
					b.Fatalf("answer %v: %+v", answer.Answer, answer.Findings)
				}
			}
			b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
		}
		allowed := func(n int) interlock.Action {
			return interlock.Action{Kind: interlock.KindShell, Dir: "/repo", Input: fmt.Sprintf("git diff HEAD~%d | head -50", n)}
		}
		b.Run(fmt.Sprintf("allow/agents=%d/rows=%d", agents, rows), func(b *testing.B) { decide(b, 10, allowed, interlock.Allow) })
		b.Run(fmt.Sprintf("ask/agents=%d/rows=%d", agents, rows), func(b *testing.B) {
			decide(b, 10, func(n int) interlock.Action {
				return interlock.Action{Kind: interlock.KindSQL, Input: fmt.Sprintf("DROP TABLE t%d", n)}
			}, interlock.Ask)
		})
		b.Run(fmt.Sprintf("every-agent/agents=%d/rows=%d", agents, rows), func(b *testing.B) { decide(b, agents, allowed, interlock.Allow) })
		backend.Close()
	}
}
