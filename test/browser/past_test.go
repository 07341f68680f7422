package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At each rule there is a button that says what it did last week, and what decides in the shadow is told beside it.
func TestARuleSaysWhatItDidLastWeek(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.operator("dana", "admin")
	token := strings.TrimSpace(h.run("agent", "add", "builder", "--trust", "validated", "--principal", "dana"))
	agent := h.overHTTP(token)
	agent.begins()
	agent.asks("git push --force origin release")
	team := filepath.Join(h.dir, "team")
	if err := os.MkdirAll(team, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(team, "team.yaml"),
		[]byte("rules: [{id: team.push, layer: 2, verdict: deny, reason: no pushing, match: {glob: [\"git push*\"]}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("rules", "shadow", team)
	p := newPage(t, startChromium(t), h.origin, device{noPasskey: true, phone: true})
	p.enter(h, "dana")
	p.open("/rules/fs.delete-root")
	p.presses("What would this have done last week?")
	p.sees("What fs.delete-root did in 7 days")
	p.sees("Nothing would have been decided otherwise")
	p.sees("decides beside")
	p.open("/rules/past?rules=shadow&days=7")
	p.sees("team.push")
	p.sees("no pushing")
	p.fits()
	p.plain()
}
