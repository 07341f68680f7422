package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
)

func opened(t *testing.T, home string) *embedded.Backend {
	t.Helper()
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

func propose(t *testing.T, backend *embedded.Backend, command string) interlock.Answer {
	t.Helper()
	return backend.Propose(t.Context(), interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"},
		Requester: interlock.Requester{Principal: "dev", Agent: "bot"},
	})
}

// TestOpenRefuses: a home that can't be trusted or understood is one clear sentence that says how to mend it, and nothing
// is decided on it.
func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, home string)
		want  string
	}{
		{"the home may be written by others", func(t *testing.T, home string) { must(t, os.Chmod(home, 0o777)) }, "chmod 700"},
		{"the key may be read by others", func(t *testing.T, home string) { must(t, os.Chmod(filepath.Join(home, "log.key"), 0o644)) }, "chmod 600"},
		{"the key is gone and the store is not", func(t *testing.T, home string) { must(t, os.Remove(filepath.Join(home, "log.key"))) }, "restore log.key"},
		{"the key is another log's", func(t *testing.T, home string) {
			other := t.TempDir()
			opened(t, other).Close()
			copyFile(t, filepath.Join(other, "log.key"), filepath.Join(home, "log.key"))
		}, "key"},
		{"the key is no key", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "log.key"), []byte("hello\n"), 0o600))
		}, "key"},
		{"the store is no store", func(t *testing.T, home string) {
			for _, name := range []string{"interlock.db-wal", "interlock.db-shm"} {
				_ = os.Remove(filepath.Join(home, name)) // may not exist
			}
			must(t, os.WriteFile(filepath.Join(home, "interlock.db"), []byte(strings.Repeat("no database ", 1000)), 0o600))
		}, "store"},
		{"the store is gone and the key is not", func(t *testing.T, home string) { removeStore(t, home) }, "restore interlock.db"},
		{"the store is empty", func(t *testing.T, home string) {
			removeStore(t, home)
			must(t, os.WriteFile(filepath.Join(home, "interlock.db"), nil, 0o600))
		}, "restore interlock.db"},
		{"the settings are wrong", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte("profile: guard\nspeed: high\n"), 0o600))
		}, "interlock.yaml:2"},
		{"the profile is none", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte("profile: carefree\n"), 0o600))
		}, "carefree"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			backend := opened(t, home)
			if answer := propose(t, backend, "git status"); answer.Answer != interlock.Allow {
				t.Fatalf("before: %v", answer.Answer)
			}
			must(t, backend.Close())
			test.spoil(t, home)
			backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
			if err == nil {
				backend.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want it to hold %q", err, test.want)
			}
			if strings.Contains(err.Error(), home) || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("the error is not one sentence without paths: %q", err)
			}
		})
	}
}

// TestNewLog: where a home keeps nothing but the public key of a log that was moved away, another log begins; and a first
// run that ended after its key was made is gone on with.
func TestNewLog(t *testing.T) {
	for _, leave := range []string{"log.pub", "log.key"} {
		home := filepath.Join(t.TempDir(), "home")
		must(t, opened(t, home).Close())
		removeStore(t, home)
		for _, name := range []string{"log.key", "log.pub"} {
			if name != leave {
				must(t, os.Remove(filepath.Join(home, name)))
			}
		}
		backend := opened(t, home)
		if answer := propose(t, backend, "git status"); answer.Answer != interlock.Allow {
			t.Errorf("with %s left: %v: %+v", leave, answer.Answer, answer.Findings)
		}
		must(t, backend.Close())
	}
}

// removeStore takes the log away and leaves its keys.
func removeStore(t *testing.T, home string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(home, "interlock.db"+suffix)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// TestFirstRunByMany: several processes' worth of first runs in one new home agree on one key and one log.
func TestFirstRunByMany(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
			if err != nil {
				t.Error(err)
				return
			}
			if answer := propose(t, backend, "git status"); answer.Answer != interlock.Allow {
				t.Errorf("answer %v: %+v", answer.Answer, answer.Findings)
			}
			if err := backend.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	backend := opened(t, home)
	defer backend.Close()
	report, err := auditlog.Verify(t.Context(), backend.Store, backend.Key, auditlog.VerifyOptions{})
	if err != nil || report.Problem != nil {
		t.Fatalf("the log does not verify: %v %v", report.Problem, err)
	}
	if report.Entries != 8+2 { // every decision, and the ruleset and mode once
		t.Errorf("%d entries, want 10", report.Entries)
	}
	info, err := os.Stat(filepath.Join(home, "log.key"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v", info.Mode())
	}
}

func TestModesAnswerAllowAndRecordTheVerdict(t *testing.T) {
	for _, mode := range []interlock.Mode{interlock.Monitoring, interlock.Logging, interlock.Disabled} {
		backend, err := embedded.Open(t.Context(), embedded.Config{Home: filepath.Join(t.TempDir(), "home"), Mode: mode})
		must(t, err)
		answer := propose(t, backend, "rm -rf /")
		if answer.Answer != interlock.Allow || answer.Event == "" || answer.Mode != mode {
			t.Errorf("%v: answer %v in mode %v, event %q", mode, answer.Answer, answer.Mode, answer.Event)
		}
		if denied := answer.Verdict == interlock.Deny; denied != (mode == interlock.Monitoring) {
			t.Errorf("%v: verdict %v", mode, answer.Verdict)
		}
		must(t, backend.Close())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o600))
}

// TestRunsOfAGuard: an embedding program registers runs, and what it proposes in one is decided as part of it.
func TestRunsOfAGuard(t *testing.T) {
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := interlock.New(interlock.Config{Backend: backend, Requester: interlock.Requester{Agent: "worker", Principal: "dana"}})
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	run, err := guard.RegisterRun(t.Context(), interlock.RunRequest{Task: "count"})
	if err != nil {
		t.Fatal(err)
	}
	look := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "ls"}, Requester: interlock.Requester{Run: run.ID}}
	if answer := guard.Propose(t.Context(), look); answer.Answer != interlock.Allow {
		t.Errorf("in the run: %+v", answer.Findings)
	}
	if _, err := guard.EndRun(t.Context(), run.ID, interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	if answer := guard.Propose(t.Context(), look); answer.Answer != interlock.Deny || answer.Decisive().Rule != "type.run" {
		t.Errorf("in the run that has ended: %+v", answer.Findings)
	}
	bare, err := interlock.New(interlock.Config{Backend: struct{ interlock.Backend }{backend}, Requester: interlock.Requester{Agent: "worker"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.RegisterRun(t.Context(), interlock.RunRequest{}); err == nil {
		t.Error("a backend without runs registers one")
	}
	if _, err := bare.EndRun(t.Context(), run.ID, interlock.RunEnd{}); err == nil {
		t.Error("a backend without runs ends one")
	}
}

// TestPlansOfAGuard: an embedding program hands over what a run is to do, and is held to it.
func TestPlansOfAGuard(t *testing.T) {
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := interlock.New(interlock.Config{Backend: backend, Requester: interlock.Requester{Agent: "worker", Principal: "dana"}})
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	run, err := guard.RegisterRun(t.Context(), interlock.RunRequest{Task: "count"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	step := interlock.Action{Kind: interlock.KindShell, Input: "touch a", Dir: dir}
	plan, err := guard.SubmitPlan(t.Context(), interlock.PlanRequest{Run: run.ID, Steps: []interlock.PlannedStep{{Action: step}}})
	if err != nil || plan.Status != interlock.PlanAccepted || len(plan.Steps) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	other := step
	other.Input = "touch b"
	for _, want := range []struct {
		action  interlock.Action
		verdict interlock.Verdict
	}{{other, interlock.Ask}, {step, interlock.Allow}} {
		answer := guard.Propose(t.Context(), interlock.Proposal{Action: want.action, Requester: interlock.Requester{Run: run.ID}})
		if answer.Verdict != want.verdict {
			t.Errorf("%s: %+v", want.action.Input, answer.Findings)
		}
	}
	bare, err := interlock.New(interlock.Config{Backend: struct{ interlock.Backend }{backend}, Requester: interlock.Requester{Agent: "worker"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.SubmitPlan(t.Context(), interlock.PlanRequest{}); err == nil {
		t.Error("a backend without plans takes one")
	}
}
