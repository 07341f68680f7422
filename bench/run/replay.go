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
)

// everyday are ten commands as people's agents run them.
var everyday = []string{
	"git status", "ls -la src", "go test ./...", "npm install", "cat README.md | head -50",
	"git commit -m 'Fix the parser of dates'",
	"grep -rn TODO internal", "mkdir -p build && cp a.txt build/", "docker compose up -d",
	"curl -s https://api.github.com/repos/x/y/issues | jq .",
}

const (
	recordedDecisions = 20_000
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
	again, err := b.timed(home, "replay", "run")
	if err != nil {
		return err
	}
	tried, err := b.timed(home, "replay", "what-if")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Recorded decisions\n\n%d decisions on ten everyday commands by %d callers, in runs of %d, each kept with everything "+
		"that is needed to make it again. Then one process verifies the log, makes every decision again and analyses every action again; and "+
		"one tries rules on all of them. Budgets: 1.2 KB a decision; 10,000 decisions a second and core; a million tried in 2 minutes "+
		"on 2 cores.\n\n", recordedDecisions, recordedCallers, recordedRuns)
	fmt.Fprintf(b.out, "| | |\n|---|---:|\n| bytes on disk per decision | %d |\n| verified, decided and analysed again, decisions/s | %.0f |\n"+
		"| tried under other rules, decisions/s | %.0f |\n", size/recordedDecisions, recordedDecisions/again.Seconds(),
		recordedDecisions/tried.Seconds())
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
			for n := caller; n < recordedDecisions; n += recordedCallers {
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

// timed runs the binary on a home.
func (b *bench) timed(home string, args ...string) (time.Duration, error) {
	start := time.Now()
	out, err := exec.CommandContext(b.ctx, b.binary, append([]string{"--home", home}, args...)...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return time.Since(start), nil
}
