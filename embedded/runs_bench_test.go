//go:build unix

package embedded_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/ledger"
)

// fillRuns registers agents, each with a run of its own that was delegated by one orchestrator, as rows, many to a commit.
func fillRuns(b *testing.B, backend *embedded.Backend, agents int) {
	b.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	var writes []ledger.Row
	commit := func() {
		c := ledger.Change{Writes: writes, Events: []ledger.Draft{{Type: interlock.EventAlert, Run: "fill", Seed: "fill",
			Actor: "bench", Role: "system", Recorded: now, Payload: []byte(`{"code":"fill","message":"rows"}`)}}}
		if _, err := backend.Store.Commit(context.Background(), c); err != nil {
			b.Fatal(err)
		}
		writes = nil
	}
	root := interlock.Run{ID: fmt.Sprintf("run_%024x", 1<<40), Agent: "planner", Created: now, Status: interlock.RunOpen}
	root.Orchestration = root.ID
	writes = append(writes, ledger.Rows(interlock.AgentRecord{ID: "planner", Type: "planner", Principal: "olga", Created: now}, root)...)
	for n := range agents {
		id := fmt.Sprint("agent-", n)
		name := ledger.AgentTally(id)
		writes = append(writes, ledger.Rows(interlock.AgentRecord{ID: id, Type: "worker", Principal: "olga", Created: now,
			Trust: interlock.TrustCommunityReviewed},
			interlock.Run{ID: benchRun(n), Agent: id, Orchestration: root.ID, Parent: root.ID, Created: now, Status: interlock.RunOpen,
				Chain: []interlock.RunLink{{Run: root.ID, Agent: "planner"}}},
			ledger.RunCountBody{Name: name, Seq: 1, Open: 1, Delegated: 1})...)
		if len(writes) > 2000 {
			commit()
		}
	}
	commit()
}

func benchRun(n int) string { return fmt.Sprintf("run_%024x", n) }

// BenchmarkRuns measures decisions in delegated runs beside one agent and beside 60,000 agents with a run each: of ten agents again and
// again, and of every one of them in turn. It says the median, what opening the home takes, and how much is held afterwards.
func BenchmarkRuns(b *testing.B) {
	for _, agents := range []int{1, 60_000} {
		home := b.TempDir()
		rules := filepath.Join(home, "rules")
		document := "types:\n  - {name: planner, accountable: ada, tools: [\"*\"], tier: 3}\n" +
			"  - {name: worker, accountable: ada, tools: [\"git *\", \"head *\"], tier: 1}\n"
		if err := os.MkdirAll(rules, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(rules, "team.yaml"), []byte(document), 0o600); err != nil {
			b.Fatal(err)
		}
		c := embedded.Config{Home: home, Rules: rules}
		backend, err := embedded.Open(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		fillRuns(b, backend, agents)
		if err := backend.Close(); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if backend, err = embedded.Open(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		opened := time.Since(began)
		for name, of := range map[string]int{"ten": min(agents, 10), "every": agents} {
			b.Run(fmt.Sprintf("%s/agents=%d", name, agents), func(b *testing.B) {
				var took []time.Duration
				n := 0
				for b.Loop() {
					n++
					at := time.Now()
					answer := backend.Propose(b.Context(), interlock.Proposal{
						Action: interlock.Action{Kind: interlock.KindShell, Dir: "/repo",
							Input: fmt.Sprintf("git diff HEAD~%d | head -50", n)},
						Requester: interlock.Requester{Principal: "olga", Agent: fmt.Sprint("agent-", n%of), Run: benchRun(n % of)},
						View:      interlock.View{Home: "/home/dev", Workspace: "/repo"}})
					took = append(took, time.Since(at))
					if answer.Answer != interlock.Allow {
						b.Fatalf("answer %v: %+v", answer.Answer, answer.Findings)
					}
				}
				slices.Sort(took)
				var held runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&held)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
				b.ReportMetric(float64(opened.Milliseconds()), "open-ms")
				b.ReportMetric(float64(held.HeapAlloc)/1e6, "heap-MB")
			})
		}
		backend.Close()
	}
}
