package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/classify"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
)

// everyday are ten commands as people's agents run them.
var everyday = []string{
	"git status", "ls -la src", "go test ./...", "npm install", "cat README.md | head -50",
	"git commit -m 'Fix the parser of dates'",
	"grep -rn TODO internal", "mkdir -p build && cp a.txt build/", "docker compose up -d",
	"curl -s https://api.github.com/repos/x/y/issues | jq .",
}

const (
	recordedDecisions = 20_000 // unless a flag says otherwise
	recordedCallers   = 16
	recordedRuns      = 50 // actions of one run
)

// recordings measures what one recorded decision takes on disk, with everything to make it again, and how fast the past is made
// again and tried under other rules.
func recordings(b *bench) error {
	home, err := b.home("recorded")
	if err != nil {
		return err
	}
	if err := record(b, home); err != nil {
		return err
	}
	size := int64(0)
	for _, file := range []string{"interlock.db", "interlock.db-wal"} {
		if info, err := os.Stat(filepath.Join(home, file)); err == nil {
			size += info.Size()
		}
	}
	wall, cpu, err := replayed(b, home)
	if err != nil {
		return err
	}
	again, err := b.timed(home, "replay", "run")
	if err != nil {
		return err
	}
	tried, err := b.timed(home, "replay", "what-if")
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(b.recorded) / d.Seconds() }
	fmt.Fprintf(b.out, "\n## Recorded decisions\n\n%d decisions on ten everyday commands by %d callers, in runs of %d, each kept with "+
		"everything that is needed to make it again. Then every decision is made again from what was recorded of it, read from the store, "+
		"held against its digests and against the record; `interlock replay run` verifies the log before that and analyses every action "+
		"again besides; `interlock replay what-if` tries rules on all of them.\n\n", b.recorded, recordedCallers, recordedRuns)
	fmt.Fprintf(b.out, "| | measured | aim |\n|---|---:|---:|\n| bytes on disk per decision | %d | 1,200 |\n"+
		"| made again, decisions/s of CPU | %.0f | 10,000 |\n| made again, decisions/s | %.0f | |\n"+
		"| `replay run`: verified, made and analysed again, decisions/s | %.0f | |\n| the same, of CPU | %.0f | |\n"+
		"| `replay what-if`, decisions/s | %.0f | 8,333 |\n| the same, of CPU | %.0f | |\n"+
		"| memory of `replay what-if` at its peak, MB | %.0f | 300 |\n\n"+
		"The aim for what-if is a million in two minutes on two CPUs.\n",
		size/int64(b.recorded), rate(cpu), rate(wall), rate(again.wall), rate(again.cpu), rate(tried.wall), rate(tried.cpu),
		tried.peakMB)
	return nil
}

// record has the everyday commands decided.
func record(b *bench, home string) error {
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return err
	}
	defer backend.Close()
	var callers sync.WaitGroup
	failed := make(chan error, recordedCallers)
	for caller := range recordedCallers {
		callers.Go(func() {
			for n := caller; n < b.recorded; n += recordedCallers {
				answer := backend.Propose(b.ctx, interlock.Proposal{
					Action: interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: everyday[n%len(everyday)],
						Dir: "/home/dev/project"},
					Requester: interlock.Requester{Principal: "dev", Agent: "claude", Call: fmt.Sprintf("toolu_01%020d", n),
						Run: fmt.Sprintf("8f14e45f-ceea-467f-a0e6-%012d",
							n/(recordedCallers*recordedRuns)*recordedCallers+caller)},
					Event: "PreToolUse", Door: "hook", CanAsk: true,
					View: interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", User: "dev"},
				})
				if answer.Event == "" {
					failed <- fmt.Errorf("a decision was not recorded: %+v", answer.Findings)
					return
				}
			}
		})
	}
	callers.Wait()
	close(failed)
	return <-failed
}

// replayed makes every recorded decision again, in this process, and returns how long it took and what CPU time.
func replayed(b *bench, home string) (wall, cpu time.Duration, err error) {
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return 0, 0, err
	}
	defer backend.Close()
	sources := replay.Sources{Redact: classify.Redact, RedactPersonal: classify.RedactPersonal,
		Blob: func(d interlock.Digest) ([]byte, error) {
			text, _, err := backend.Store.Blob(b.ctx, d)
			return text, err
		},
		Ruleset: func(interlock.Digest) (*ruleset.Ruleset, error) { return backend.Rules(), nil }}
	start, used, same := time.Now(), cpuTime(), 0
	err = backend.Store.Recorded(b.ctx, 0, func(e interlock.Entry) error {
		if !replay.Holds(e.Type) {
			return nil
		}
		r, err := sources.Read(e)
		if err == nil {
			err = sources.Again(r)
		}
		same++
		return err
	})
	if err == nil && same != b.recorded {
		err = fmt.Errorf("%d decisions were made again, not %d", same, b.recorded)
	}
	return time.Since(start), cpuTime() - used, err
}

// A timing is what one run of the binary took.
type timing struct {
	wall, cpu time.Duration
	peakMB    float64
}

// timed runs the binary on a home.
func (b *bench) timed(home string, args ...string) (timing, error) {
	start := time.Now()
	c := exec.CommandContext(b.ctx, b.binary, append([]string{"--home", home}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		return timing{}, fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return timing{wall: time.Since(start), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		peakMB: peakMB(c.ProcessState)}, nil
}
