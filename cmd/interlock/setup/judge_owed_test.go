package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
)

// TestDoctorNamesOverdueJudgments: what nobody has judged in time is a failure once that time is over, and none before.
func TestDoctorNamesOverdueJudgments(t *testing.T) {
	home := t.TempDir()
	text := "judge:\n  after: [write workspace]\n  judges: [{name: local, wire: openai-chat, url: \"http://127.0.0.1:1/v1\", model: m}]\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	answer := backend.Propose(t.Context(), interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindShell, Input: "touch notes.txt", Dir: "/repo"},
		View:   interlock.View{Workspace: "/repo"}, Requester: interlock.Requester{Agent: "claude", Run: "r"}})
	if err := backend.Close(); err != nil || answer.Answer != interlock.Allow {
		t.Fatal(err, answer.Answer, answer.Decisive())
	}
	at := time.Now()
	p := &cli.Program{Ctx: t.Context(), Getenv: func(string) string { return "" }, Globals: cli.Globals{Home: home}, Clock: func() time.Time { return at }}
	for after, says := range map[time.Duration]string{0: "", time.Hour: "1 actions were let through and their judge was not heard in time"} {
		at = time.Now().Add(after)
		d := &Diagnosis{Program: p}
		d.owed()
		switch {
		case says == "" && len(d.Checks) > 0:
			t.Errorf("in time: %+v", d.Checks)
		case says != "" && (len(d.Checks) != 1 || d.Checks[0].Status != statusFail || !strings.HasPrefix(d.Checks[0].Detail, says)):
			t.Errorf("overdue: %+v", d.Checks)
		}
	}
}
