package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// escapeHome names, for a child process, the home in which it plays an agent that wants out of a block.
const escapeHome = "INTERLOCK_TEST_ESCAPE"

// escape gets itself blocked and guesses codes, and says of each step that it was answered, until it is killed.
func escape(home string) {
	backend, err := embedded.Open(context.Background(), embedded.Config{Home: home})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	answer := backend.ProposeBy(context.Background(), stepping(), step("claude", "shred notes.txt", "/tmp"))
	fmt.Println("blocked", answer.Challenge)
	for n := 1; ; n++ {
		v, err := backend.Verify(context.Background(), interlock.Requester{Agent: "claude", Principal: account.Name()}, answer.Challenge, "0000")
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(v.Result, n)
	}
}

// TestKillLosesNoBlock kills the process of a blocked agent after each of several answers it was given: the block stands in the
// restarted store, every failure that was answered counts, and the log is whole.
func TestKillLosesNoBlock(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3a", "AQL-8.8.5")
	for _, answers := range []int{1, 2, 6, 11, 12, 40} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			home := t.TempDir()
			if err := os.Chmod(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(home, "rules"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "rules", "lists.yaml"), []byte("policy:\n  deny: [\"shred *\"]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			challenge, failures := killedAfter(t, home, answers)
			backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
			if err != nil {
				t.Fatalf("opening the store after the kill: %v", err)
			}
			defer backend.Close()
			verifyLog(t, backend)
			after := backend.ProposeBy(t.Context(), stepping(), step("claude", "git status", "/tmp"))
			if after.Answer != interlock.Halt || after.Challenge != challenge {
				t.Errorf("after the kill: %v, challenge %q, want %q", after.Answer, after.Challenge, challenge)
			}
			standing, err := backend.Ground(t.Context(), storagetest.Everything()...)
			if err != nil {
				t.Fatal(err)
			}
			attempts := standing.Attempts[ledger.AttemptsKey("claude", account.Name())]
			if locked := attempts.Wait(cli.Now()) > 0; len(attempts.Failed) < min(failures, meter.FailedAttempts) && !locked {
				t.Errorf("%d failures were answered, %d are known", failures, len(attempts.Failed))
			} else if failures >= meter.FailedAttempts && !locked {
				t.Errorf("after %d failures answers are looked at", failures)
			}
		})
	}
}

// killedAfter runs the agent, kills it when it has been given so many answers, and returns its challenge and how many of them
// were failures that count.
func killedAfter(t *testing.T, home string, answers int) (challenge string, failures int) {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), escapeHome+"="+home)
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	process.Stderr = &stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for range answers {
		if !lines.Scan() {
			break
		}
		what, rest, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "blocked":
			challenge = rest
		case "error":
			t.Errorf("the agent: %s", rest)
		case "limited":
		default:
			failures++
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = process.Wait() // it was killed
	if challenge == "" {
		t.Fatalf("the agent was never blocked: %s", stderr.String())
	}
	return challenge, failures
}
