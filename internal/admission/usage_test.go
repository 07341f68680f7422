package admission_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/spec"
)

const aThousandTokens = `
budgets:
  - {id: team.tokens, per: agent, measure: tokens, most: 1000, within: 1h}
`

const ofRunsAndAll = `
budgets:
  - {id: team.run, per: run, measure: tokens, most: 500}
  - {id: team.day, per: everything, measure: money, currency: USD, most: 200, within: 24h}
`

// tokens is a report of so many, of one session.
func tokens(id uint64, n int64, run string) admission.Report {
	return admission.Report{Run: run, Service: "claude-code", Measure: ruleset.MeasureTokens, Source: "claude_code.token.usage",
		Readings: []ledger.Reading{{ID: id, Value: n}}, Harness: true}
}

func dollars(id uint64, millionths int64) admission.Report {
	return admission.Report{Service: "claude-code", Measure: ruleset.MeasureMoney, Currency: "USD", Source: "claude_code.cost.usage",
		Readings: []ledger.Reading{{ID: id, Value: millionths}}, Harness: true}
}

func (h *house) reports(agent string, reports ...admission.Report) {
	h.t.Helper()
	if err := h.ReportUsage(h.t.Context(), interlock.Requester{Principal: "alice", Agent: agent}, reports); err != nil {
		h.t.Fatal(err)
	}
}

// acts proposes what reads and what changes something, and returns both answers' verdicts and the second's reason.
func (h *house) acts(agent, run string) string {
	h.t.Helper()
	says := ""
	for _, input := range []string{"git status", "git commit -m x"} {
		a := h.Propose(h.t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: input, Dir: "/repo"},
			Requester: interlock.Requester{Principal: "alice", Agent: agent, Run: run}, Door: "test", CanAsk: true,
			View: interlock.View{Workspace: "/repo", Home: "/home/alice"}})
		says += a.Verdict.String() + " "
	}
	return strings.TrimSpace(says)
}

// TestLadder: what an agent reports as used brings it up the ladder of its own budget, and nobody else; when the use is over, it is at
// the bottom again. People are told of each step once.
func TestLadder(t *testing.T) {
	spec.Covers(t, "EC-B-1")
	h := newHouse(t, under(t, aThousandTokens))
	id := uint64(0)
	for _, step := range []struct {
		more int64
		want string
		told string
	}{
		{499, "allow allow", ""}, {1, "allow allow", "notice"}, {250, "allow allow", "warn"}, {149, "allow allow", ""},
		{1, "allow ask", "throttle"}, {49, "allow ask", ""}, {1, "allow deny", "degrade"}, {50, "deny deny", "stop"}, {900, "deny deny", ""},
	} {
		id++
		before := len(h.alerts)
		h.reports("claude", tokens(id, step.more, fmt.Sprint("session ", id)))
		h.reports("claude", tokens(id, step.more, fmt.Sprint("session ", id))) // the same again
		if got := h.acts("claude", ""); got != step.want {
			t.Errorf("%d more: %s, want %s", step.more, got, step.want)
		}
		told := strings.Join(h.alerts[before:], "\n")
		if (step.told == "") != (told == "") || !strings.Contains(told, step.told) || strings.Count(told, "team.tokens") > 1 {
			t.Errorf("%d more: told of %q, want %q", step.more, told, step.told)
		}
	}
	if got := h.acts("codex", ""); got != "allow allow" {
		t.Errorf("another agent: %s", got)
	}
	h.now = h.now.Add(time.Hour)
	if got := h.acts("claude", ""); got != "allow allow" {
		t.Errorf("an hour later: %s", got)
	}
	before := len(h.alerts)
	h.reports("claude", tokens(100, 600, "later"))
	if told := strings.Join(h.alerts[before:], "\n"); !strings.Contains(told, "budget-notice") {
		t.Errorf("within the next hour people are told %q", told)
	}
	if h.count(interlock.EventBudget) < 6 || h.count(interlock.EventUsage) != 10 {
		t.Errorf("%d steps, %d reports", h.count(interlock.EventBudget), h.count(interlock.EventUsage))
	}
}

// TestBudgetsOfRunsAndAll: a run's budget is the run's, one for everything is everybody's, and money is rounded up once.
func TestBudgetsOfRunsAndAll(t *testing.T) {
	h := newHouse(t, under(t, ofRunsAndAll))
	h.reports("claude", tokens(1, 500, "one"))
	if one, other := h.acts("claude", "one"), h.acts("claude", "two"); one != "deny deny" || other != "allow allow" {
		t.Errorf("in the run that has used its budget: %s; in another: %s", one, other)
	}
	for n := range uint64(100) { // a tenth of a cent each, of one session
		h.reports("codex", dollars(n, 1000))
	}
	h.reports("gemini", dollars(1000, 1_549_999))
	h.reports("qwen", dollars(1001, 349_999))
	if got := h.acts("claude", ""); got != "deny deny" {
		t.Errorf("all of the day's money is used, and somebody else gets %s", got)
	}
}

// TestNobodyStopsOthersByReporting: what an agent's own token tells counts for itself alone, and what its harness's does counts for so
// much of a budget that several use that the others go on; the agent itself is held back by all that it has used.
func TestNobodyStopsOthersByReporting(t *testing.T) {
	for _, per := range []string{"everything", "principal", "type"} {
		h := newHouse(t, under(t, strings.Replace("budgets:\n  - {id: team.all, per: PER, measure: tokens, most: 1000, within: 1h}\n", "PER", per, 1)))
		own := tokens(1, 5000, "mine")
		own.Harness = false
		h.reports("claude", own)
		if self, others := h.acts("claude", ""), h.acts("codex", ""); self != "deny deny" || others != "allow allow" {
			t.Errorf("per %s, after its own word: %s, others %s", per, self, others)
		}
		before := len(h.alerts)
		h.reports("gemini", tokens(2, 900, "theirs"))
		if self, others := h.acts("gemini", ""), h.acts("codex", ""); self != "allow ask" || others != "allow allow" {
			t.Errorf("per %s, with 90 %% told by its harness: %s, others %s", per, self, others)
		}
		if told := strings.Join(h.alerts[before:], "\n"); !strings.Contains(told, "used to 90% by this agent alone: of this agent, what") {
			t.Errorf("per %s: people are told %q", per, told)
		}
		h.reports("gemini", tokens(3, 1_000_000, "theirs"))
		if self, others := h.acts("gemini", ""), h.acts("codex", ""); self != "deny deny" || others != "allow allow" {
			t.Errorf("per %s, with all of it told by its harness: %s, others %s", per, self, others)
		}
		h.reports("qwen", tokens(4, 100, "more"))
		if got := h.acts("codex", ""); got != "allow ask" {
			t.Errorf("per %s, with 80 %% of one and 10 %% of another: %s", per, got)
		}
		h.now = h.now.Add(time.Hour)
		if got := h.acts("gemini", ""); got != "allow allow" {
			t.Errorf("per %s, an hour later: %s", per, got)
		}
	}
}

// TestAnAgentSaysNothingFirst: what an agent has told of a session with its own token takes nothing from what its harness tells of it.
func TestAnAgentSaysNothingFirst(t *testing.T) {
	h := newHouse(t, under(t, ofRunsAndAll))
	own := dollars(1, 900_000)
	own.Harness = false
	h.reports("claude", own)
	h.reports("claude", dollars(1, 900_000))
	h.reports("gemini", dollars(1, 900_000))
	if got := h.acts("qwen", ""); got != "allow ask" {
		t.Errorf("180 of 200 cents are used, and others get %s", got)
	}
}

// TestReportsOnlyRaise: whatever an agent says of itself, its use never becomes less, and nobody's else becomes more.
func TestReportsOnlyRaise(t *testing.T) {
	spec.Covers(t, "EC-B-2")
	h := newHouse(t, under(t, aThousandTokens))
	h.reports("claude", tokens(1, 960, ""))
	h.reports("claude", tokens(2, -500, ""), admission.Report{Service: "claude-code", Measure: ruleset.MeasureTokens, Source: "another",
		Readings: []ledger.Reading{{ID: 1, Rising: true, Value: 10, At: 2}, {ID: 1, Rising: true, Value: 0, At: 3}}})
	if got := h.acts("claude", ""); got != "allow deny" {
		t.Errorf("after saying that it used less: %s", got)
	}
	if err := h.ReportUsage(t.Context(), interlock.Requester{}, nil); err == nil {
		t.Error("nobody's usage is taken")
	}
	for n := range 40 {
		r := tokens(uint64(n), 1, "many")
		r.Source = fmt.Sprint("source ", n)
		if err := h.ReportUsage(t.Context(), interlock.Requester{Agent: "codex"}, []admission.Report{r}); n > 35 && err == nil {
			t.Error("more sources are told apart than are kept")
		}
	}
}

// TestEconomicBreakerIsItsOwn: what a budget refuses opens no security breaker and isolates nobody; what the rules refuse is refused for
// what it is and counts, also where no budget is left.
func TestEconomicBreakerIsItsOwn(t *testing.T) {
	spec.Covers(t, "EC-B-2")
	h := newHouse(t, under(t, aThousandTokens+"maso: {tier: 2}\n"))
	h.reports("claude", tokens(1, 2000, ""))
	for range 6 {
		if got := h.acts("claude", ""); got != "deny deny" {
			t.Fatalf("with nothing left: %s", got)
		}
	}
	if n := h.count(interlock.EventBreaker) + h.count(interlock.EventPhase); n != 0 {
		t.Errorf("the budget moved %d breakers and phases", n)
	}
	for range 3 {
		a := h.Propose(t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /", Dir: "/repo"},
			Requester: interlock.Requester{Principal: "alice", Agent: "claude"}, Door: "test", View: interlock.View{Workspace: "/repo"}})
		if f := a.Decisive(); f == nil || f.Rule != "fs.delete-root" {
			t.Errorf("what is forbidden is refused for %+v", f)
		}
	}
	if h.count(interlock.EventBreaker) == 0 {
		t.Error("what was forbidden three times opened no breaker, because no budget was left")
	}
}

// TestReportsAtOnce: the same report from many at once is charged once.
func TestReportsAtOnce(t *testing.T) {
	h := newHouse(t, under(t, aThousandTokens))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { h.reports("claude", tokens(1, 400, "s"), tokens(2, 40, "s")) })
	}
	all.Wait()
	rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Usage, Key: ledger.UsageKey("budget team.tokens", "agent", "claude")})
	if err != nil || len(rows) != 1 || rows[0].Value.(ledger.UsageBody).Total != 440 {
		t.Errorf("%+v, %v", rows, err)
	}
}
