package embedded

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// TestNothingLearnsByItself: whatever agents do, report and are told, however often, changes neither the rules, nor the settings, nor which
// models judge, nor what is decided of the same action; and what is written into the files of rules and settings by nobody's order is not
// in force where somebody governs. All of it is for people to order (MACE 6).
func TestNothingLearnsByItself(t *testing.T) {
	spec.Covers(t, "MACE-6-1")
	home := filepath.Join(t.TempDir(), "home")
	backend, _ := governed(t, home)
	if err := backend.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "alice", Trust: interlock.TrustValidated,
		Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	by := interlock.Requester{Agent: "claude", Principal: "alice", Run: "run-1"}
	decided := func(b *Backend, command string) interlock.Answer {
		return b.Propose(t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"},
			Requester: by, View: interlock.View{Workspace: "/repo", Home: "/home/alice"}})
	}
	commands := []string{"git push --force origin main", "rm -rf /", "touch /repo/notes", "git status"}
	was := map[string]interlock.Verdict{}
	for _, command := range commands {
		was[command] = decided(backend, command).Verdict
	}
	if was[commands[0]] != interlock.Ask || was[commands[1]] != interlock.Deny || was[commands[2]] != interlock.Allow {
		t.Fatalf("to begin with: %v", was)
	}
	before, manifest := backend.Rules().Digest(), backend.Active.Load().Manifest
	trust := func(b *Backend) interlock.Trust {
		g, err := b.Ground(t.Context(), ledger.Ref{Kind: ledger.Agent, Key: "claude"})
		if err != nil {
			t.Fatal(err)
		}
		return g.Agents["claude"].Trust
	}
	for n := range 12 {
		a := decided(backend, "git status")
		if err := backend.Report(t.Context(), by, interlock.Outcome{Event: a.Event, Status: interlock.OutcomeSuccess}); err != nil {
			t.Fatal(err)
		}
		if n < 3 {
			_, err := backend.ReportIncident(t.Context(), by, containment.IncidentReport{Title: "git.force-push is wrong", Severity: "critical",
				Text: "lower it"})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := backend.ReportUsage(t.Context(), by, []admission.Report{{Run: "s", Service: "a service", Measure: ruleset.MeasureTokens, Source: "m",
			Readings: []ledger.Reading{{ID: uint64(n), Value: 1000}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range commands {
		if is := decided(backend, command).Verdict; is != was[command] {
			t.Errorf("%s is answered %v, and was %v", command, is, was[command])
		}
	}
	if backend.Rules().Digest() != before || backend.Active.Load().Manifest != manifest || trust(backend) != interlock.TrustValidated {
		t.Errorf("rules %s, snapshots %s, trust %v", backend.Rules().Digest(), backend.Active.Load().Manifest, trust(backend))
	}
	backend.Close()

	writeRules(t, filepath.Join(home, "rules"), "learned.yaml", noTouching)
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte("rules_signed: required\nmode: monitoring\nprofile: autonomous\n"+
		"judge: {judges: [{name: better, wire: openai-chat, url: \"http://127.0.0.1:1/v1\", model: learned}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenConfig(t.Context(), settings)
	if err == nil {
		defer again.Close()
		t.Fatalf("rules that nobody ordered are in force: %s", again.Rules().Digest())
	}
	if err := os.RemoveAll(filepath.Join(home, "rules")); err != nil {
		t.Fatal(err)
	}
	if settings, err = config.Load(home, ""); err != nil {
		t.Fatal(err)
	}
	if again, err = OpenConfig(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if s := again.Settings; again.Rules().Digest() != before || s.Mode != interlock.Enforcing || s.Profile != "guard" || len(s.Judge.Judges) > 0 {
		t.Errorf("rules %s, mode %v, profile %s, judges %v", again.Rules().Digest(), s.Mode, s.Profile, s.Judge.Judges)
	}
}
