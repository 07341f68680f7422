package admission_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// under has a house decide under an operator's document beside the shipped rules.
func under(t *testing.T, document string) func(*admission.Config) {
	t.Helper()
	set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"team.yaml": []byte(document)})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *admission.Config) { c.Rules = set }
}

const tenAnHour = `
limits:
  - {id: team.calls, per: agent, measure: actions, most: 10, within: 1h}
`

// TestTheCallAfterTheLimit: so many actions of an agent are let through within the window; the next is refused by the limit's name, other
// agents are none of its business, and there is room again when the window is over.
func TestTheCallAfterTheLimit(t *testing.T) {
	spec.Covers(t, "EC-1.3", "EC-T1.3", "ASA-6.3-4", "MACE-7-1")
	h := newHouse(t, under(t, tenAnHour))
	for n := range 10 {
		if a := h.propose(fmt.Sprint("ls ", n)); a.Answer != interlock.Allow || len(a.Uses) != 1 {
			t.Fatalf("call %d: %v %+v", n, a.Answer, a.Decisive())
		}
		h.now = h.now.Add(time.Minute)
	}
	refused := h.propose("ls one too many")
	f := refused.Decisive()
	if refused.Answer != interlock.Deny || refused.Event == "" || f.Rule != "limit.team.calls" ||
		f.Reason != "the limit team.calls has no room left for this" || len(f.Obligations) != 1 || f.Obligations[0].Note != "50m0s" {
		t.Fatalf("the call after the limit: %v %+v", refused.Answer, f)
	}
	if e := h.newest(interlock.EventRateLimit); !strings.Contains(string(e.Payload), `"limit":"team.calls"`) ||
		!strings.Contains(string(e.Payload), `"retry_after_seconds":3000,"room":10,"used":10`) {
		t.Errorf("RATE_LIMIT says %s", e.Payload)
	}
	if a := h.propose("ls", from("codex", "alice", "r")); a.Answer != interlock.Allow {
		t.Errorf("another agent: %v %+v", a.Answer, a.Decisive())
	}
	if a := h.propose("rm -rf /"); a.Decisive().Rule == "limit.team.calls" {
		t.Errorf("what is refused anyway is refused for the limit: %+v", a.Decisive())
	}
	h.now = h.now.Add(50*time.Minute - 1)
	if a := h.propose("ls a moment before"); a.Answer != interlock.Deny {
		t.Errorf("a moment before the window is over: %v", a.Answer)
	}
	h.now = h.now.Add(time.Minute)
	if a := h.propose("ls again"); a.Answer != interlock.Allow {
		t.Errorf("after the window: %v %+v", a.Answer, a.Decisive())
	}
	h.entries()
}

// TestAWaitIsTakenFromWhenItIsDecided: what met no room is decided again later, and how long the agent is to wait is told from then: replay
// holds it against the time of the event.
func TestAWaitIsTakenFromWhenItIsDecided(t *testing.T) {
	slow := time.Duration(0)
	var h *house
	h = newHouse(t, under(t, tenAnHour), func(c *admission.Config) {
		now := c.Now
		c.Now = func() time.Time { h.now = h.now.Add(slow); return now() }
	})
	for n := range 10 {
		h.propose(fmt.Sprint("ls ", n))
	}
	slow = 2 * time.Second
	f := h.propose("ls one too many").Decisive()
	if len(f.Obligations) != 1 {
		t.Fatalf("%+v", f)
	}
	wait, err := time.ParseDuration(f.Obligations[0].Note)
	if e := h.newest(interlock.EventRateLimit); err != nil || !strings.Contains(string(e.Payload),
		fmt.Sprintf(`"retry_after_seconds":%d,`, wait/time.Second)) {
		t.Errorf("the agent is told to wait for %s, and the log says %s (%v)", wait, e.Payload, err)
	}
}

// used is what an agent has used of a limit, by the store.
func (h *house) used(parts ...string) int64 {
	h.t.Helper()
	rows, _, err := h.store.Load(h.t.Context(), ledger.Ref{Kind: ledger.Usage, Key: ledger.UsageKey(parts...)})
	if err != nil {
		h.t.Fatal(err)
	}
	if len(rows) == 0 {
		return 0
	}
	return rows[0].Value.(ledger.UsageBody).Total
}

// TestWhatTakesNothing: a question, a refusal, a call that is seen again, and one that is handed to something that decides it again.
func TestWhatTakesNothing(t *testing.T) {
	h := newHouse(t, under(t, tenAnHour))
	used := func(what string, want int64) {
		t.Helper()
		if got := h.used("team.calls", "agent", "claude"); got != want {
			t.Errorf("%s: %d are used, want %d", what, got, want)
		}
	}
	h.propose("git push --force origin feature", func(p *admission.Case) { p.CanAsk = true })
	h.propose("rm -rf /")
	used("asked about and refused", 0)
	first := h.propose("ls", event("PreToolUse", "call-1"))
	used("let through", 1)
	if again := h.propose("ls", event("PermissionRequest", "call-1")); !again.Repeated || again.Event != first.Event {
		t.Errorf("it is not the same call: %+v", again)
	}
	used("seen again", 1)
	h.propose("ls b", func(p *admission.Case) { p.Handover = interlock.HandoverCertain })
	h.propose("ls c", func(p *admission.Case) { p.Handover = interlock.HandoverGateway })
	used("handed over", 1)
	if a := h.propose("ls d", func(p *admission.Case) { p.Handover = interlock.HandoverUnsure }); !a.Unsure || a.Event != "" {
		t.Errorf("where it goes matters for what it takes: %+v", a)
	}
	used("nobody knows where it goes", 1)
	push := func(p *admission.Case) { p.CanAsk = true }
	asked := h.propose("git push --force origin other", push)
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git push --force origin other", push); a.Answer != interlock.Allow {
		t.Fatalf("%v %+v", a.Answer, a.Decisive())
	}
	used("asked about, and a human said yes", 2)
}

// TestMonitoringHasItsOwnBook: where nothing is enforced the log says what would have been refused, and what is enforced later begins
// with nothing used.
func TestMonitoringHasItsOwnBook(t *testing.T) {
	monitored := func(c *admission.Config) { c.Mode = interlock.Monitoring }
	h := newHouse(t, under(t, strings.Replace(tenAnHour, "10", "2", 1)), monitored)
	for n, want := range []interlock.Verdict{interlock.Allow, interlock.Allow, interlock.Deny, interlock.Deny} {
		if a := h.propose(fmt.Sprint("ls ", n)); a.Answer != interlock.Allow || a.Verdict != want {
			t.Errorf("call %d: %v, would be %v, want %v", n, a.Answer, a.Verdict, want)
		}
	}
	watched, enforced := h.used("", "team.calls", "agent", "claude"), h.used("team.calls", "agent", "claude")
	if watched != 2 || enforced != 0 {
		t.Errorf("%d in the book of what was watched, %d in the other", watched, enforced)
	}
}

// TestHalfOfALimit: what would bring a limit beyond the share that is given out without a human is asked about; with a yes it goes on to
// the whole, and nothing goes beyond that. The alert about how far it is used comes once.
func TestHalfOfALimit(t *testing.T) {
	spec.Covers(t, "EC-2.1")
	h := newHouse(t, under(t, `
limits:
  - {id: team.records, per: agent, measure: records, most: 8, unknown: 1, match: {kind: [read]}, escalate_at: 50%, warn_at: 75%}
`))
	ask := func(p *admission.Case) { p.CanAsk = true }
	for n := range 4 {
		if a := h.propose(fmt.Sprint("cat file", n), ask); a.Answer != interlock.Allow {
			t.Fatalf("%d: %v %+v", n, a.Answer, a.Decisive())
		}
	}
	for n := range 4 {
		over := fmt.Sprint("cat other", n)
		asked := h.propose(over, ask)
		if f := asked.Decisive(); asked.Verdict != interlock.Ask || f.Rule != "limit.team.records" || asked.Request == "" {
			t.Fatalf("%d beyond the half: %v %+v", n, asked.Verdict, f)
		}
		if err := h.approve(asked.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		if a := h.propose(over, ask); a.Answer != interlock.Allow || a.Approval != asked.Request {
			t.Fatalf("with a yes: %v %+v", a.Answer, a.Decisive())
		}
	}
	asked := h.propose("cat more", ask)
	if asked.Request != "" && h.approve(asked.Request, interlock.Allow) == nil {
		asked = h.propose("cat more", ask)
	}
	if asked.Answer != interlock.Deny || asked.Decisive().Rule != "limit.team.records" {
		t.Errorf("beyond the whole: %v %+v", asked.Answer, asked.Decisive())
	}
	warned := 0
	for _, alert := range h.alerts {
		if strings.HasPrefix(alert, "limit-warning") && strings.Contains(alert, "team.records") {
			warned++
		}
	}
	if warned != 1 || h.used("team.records", "agent", "claude") != 8 {
		t.Errorf("%d alerts: %q; %d used", warned, h.alerts, h.used("team.records", "agent", "claude"))
	}
}

// TestAShareThatIsAll: where all of a limit is given out without a human, its end is its end.
func TestAShareThatIsAll(t *testing.T) {
	for _, numbers := range []string{"most: 1, escalate_at: 100%", "most: 0, escalate_at: 50%"} {
		h := newHouse(t, under(t, "limits:\n  - {id: team.calls, per: agent, measure: actions, "+numbers+"}\n"))
		ask := func(p *admission.Case) { p.CanAsk = true }
		h.propose("ls", ask)
		if a := h.propose("ls b", ask); a.Answer != interlock.Deny || a.Decisive().Rule != "limit.team.calls" {
			t.Errorf("%s: %v %+v", numbers, a.Answer, a.Decisive())
		}
	}
}

// TestALimitThatAsks: where a limit asks, what goes beyond it takes a human's yes each time, and is counted.
func TestALimitThatAsks(t *testing.T) {
	h := newHouse(t, under(t, `
limits:
  - {id: team.calls, per: agent, measure: actions, most: 1, verdict: ask}
`))
	ask := func(p *admission.Case) { p.CanAsk = true }
	h.propose("ls", ask)
	asked := h.propose("ls b", ask)
	if asked.Answer != interlock.Ask || asked.Decisive().Rule != "limit.team.calls" {
		t.Fatalf("%v %+v", asked.Answer, asked.Decisive())
	}
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("ls b", ask); a.Answer != interlock.Allow || h.used("team.calls", "agent", "claude") != 2 {
		t.Errorf("with a yes: %v, %d used", a.Answer, h.used("team.calls", "agent", "claude"))
	}
}

// TestOutcomesSettleOnce: what whoever carried an action out did not do, or measured, is put right once; an agent's own word, a second
// outcome, silence and not knowing give nothing back, and the count of actions never is.
func TestOutcomesSettleOnce(t *testing.T) {
	const both = `
limits:
  - {id: team.calls, per: agent, measure: actions, most: 100, within: 1h}
  - {id: team.bytes, per: agent, measure: bytes, most: 1000, unknown: 100, match: {kind: [read]}}
`
	who := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	ten, lots, less := int64(10), int64(700), int64(-1)
	for name, tc := range map[string]struct {
		tell func(h *house, o interlock.Outcome) error
		want int64
		says bool
	}{
		"its own word": {func(h *house, o interlock.Outcome) error {
			o.Status = interlock.OutcomeSkipped
			return h.Report(t.Context(), who, o)
		}, 100, false},
		"not carried out": {func(h *house, o interlock.Outcome) error {
			o.Status = interlock.OutcomeSkipped
			return h.Carried(t.Context(), who, o, interlock.Measured{})
		}, 0, false},
		"not known": {func(h *house, o interlock.Outcome) error {
			o.Status = interlock.OutcomeUnknown
			return h.Carried(t.Context(), who, o, interlock.Measured{Bytes: &ten})
		}, 100, false},
		"less than it took": {func(h *house, o interlock.Outcome) error {
			return h.Carried(t.Context(), who, o, interlock.Measured{Bytes: &ten})
		}, 10, false},
		"more than it took": {func(h *house, o interlock.Outcome) error {
			return h.Carried(t.Context(), who, o, interlock.Measured{Bytes: &lots})
		}, 700, true},
		"a measure that can't be": {func(h *house, o interlock.Outcome) error {
			return h.Carried(t.Context(), who, o, interlock.Measured{Bytes: &less})
		}, 100, false},
		"of another agent": {func(h *house, o interlock.Outcome) error {
			o.Status, o.Action = interlock.OutcomeSkipped, ""
			err := h.Carried(t.Context(), interlock.Requester{Principal: "eve", Agent: "eve"}, o, interlock.Measured{})
			known := (*interlock.Error)(nil)
			last := h.alerts[len(h.alerts)-1]
			if !errors.As(err, &known) || known.Field != "/event_id" || !strings.HasPrefix(last, "outcome-forged: eve") {
				h.t.Errorf("%v, and people hear %q", err, h.alerts)
			}
			return nil
		}, 100, false},
		"eight days late": {func(h *house, o interlock.Outcome) error {
			h.now = h.now.Add(8 * 24 * time.Hour)
			o.Status, o.Action = interlock.OutcomeSkipped, ""
			return h.Carried(t.Context(), who, o, interlock.Measured{})
		}, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, under(t, both))
			a := h.propose("cat notes")
			if a.Answer != interlock.Allow || len(a.Uses) != 2 || h.used("team.bytes", "agent", "claude") != 100 {
				t.Fatalf("%v %+v", a.Answer, a.Uses)
			}
			o := interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSuccess}
			for range 2 {
				if err := tc.tell(h, o); err != nil {
					t.Fatal(err)
				}
				if got := h.used("team.bytes", "agent", "claude"); got != tc.want {
					t.Errorf("%d are charged, want %d", got, tc.want)
				}
			}
			// what comes after it does not settle it again, either
			ended := admission.Concluded{Requester: who, Answer: a, Outcome: o, Measured: interlock.Measured{Bytes: &ten}}
			if tc.want == 0 || tc.want == 10 || tc.want == 700 {
				if err := h.Conclude(t.Context(), ended, ended); err != nil || h.used("team.bytes", "agent", "claude") != tc.want {
					t.Errorf("concluded as well: %d are charged (%v)", h.used("team.bytes", "agent", "claude"), err)
				}
			}
			if calls := h.used("team.calls", "agent", "claude"); calls != 1 && name != "eight days late" {
				t.Errorf("%d actions are counted", calls)
			}
			said := false
			for _, alert := range h.alerts {
				said = said || strings.HasPrefix(alert, "limit-exceeded")
			}
			if said != tc.says {
				t.Errorf("alerts: %q", h.alerts)
			}
			h.entries()
		})
	}
}

// TestConcludedTogether: many outcomes that are concluded at once settle each its own.
func TestConcludedTogether(t *testing.T) {
	h := newHouse(t, under(t, `
limits:
  - {id: team.bytes, per: agent, measure: bytes, most: 100000, unknown: 100, within: 1h, match: {kind: [read]}}
`))
	var ended []admission.Concluded
	want := int64(0)
	for n := range 20 {
		a, bytes := h.propose(fmt.Sprint("cat notes", n)), int64(n)
		h.now = h.now.Add(time.Millisecond)
		ended = append(ended, admission.Concluded{Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}, Answer: a,
			Outcome:  interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSuccess},
			Measured: interlock.Measured{Bytes: &bytes}})
		want += bytes
	}
	if err := h.Conclude(t.Context(), append(ended, ended...)...); err != nil {
		t.Fatal(err)
	}
	if got := h.used("team.bytes", "agent", "claude"); got != want {
		t.Errorf("%d are charged, want %d", got, want)
	}
	h.entries()
}

// TestAmountsThatCantBe: what is less than nothing, beyond all there is, missing or of another currency is refused or asked about in
// words that say so, and nothing is charged.
func TestAmountsThatCantBe(t *testing.T) {
	spec.Covers(t, "ASA-6.3-4")
	h := newHouse(t, under(t, `
policy:
  autoApprove: [pay*]
limits:
  - {id: team.money, per: agent, measure: money, currency: EUR, most: 10000, within: 24h}
`))
	pay := func(arguments string) interlock.Answer {
		return h.propose("", func(p *admission.Case) {
			p.CanAsk = true
			p.Action = interlock.Action{Kind: interlock.KindTool, Tool: "pay_invoice", Arguments: []byte(arguments)}
		})
	}
	for arguments, want := range map[string]string{
		`{"amount":-5,"currency":"EUR"}`:      "deny: the limit team.money can't count this: an amount is less than nothing",
		`{"amount":1e300,"currency":"EUR"}`:   "deny: the limit team.money can't count this: an amount is less than nothing, more than there is",
		`{"amount":5,"currency":"XXY"}`:       "deny: the limit team.money can't count this",
		`{"amount":5,"currency":"USD"}`:       "deny: this commits money of another currency than the limit team.money counts",
		`{"invoice":"4711","currency":"EUR"}`: "ask: this does not say how much it is, which the limit team.money counts",
		`{"amount":101,"currency":"EUR"}`:     "deny: the limit team.money has no room left for this",
	} {
		a := pay(arguments)
		if a.Request != "" && h.approve(a.Request, interlock.Allow) == nil && strings.Contains(want, "no room") {
			a = pay(arguments) // that it commits money is answered; how much is not
		}
		said := ""
		for _, f := range a.Findings {
			if f.Gate == "limit" {
				said += f.Verdict.String() + ": " + f.Reason
			}
		}
		if a.Answer == interlock.Allow || !strings.HasPrefix(said, want) || h.used("team.money", "agent", "claude") != 0 {
			t.Errorf("%s: %v, %q, want %q; %d used", arguments, a.Answer, said, want, h.used("team.money", "agent", "claude"))
		}
	}
}

// TestManyWantOneLimit: of two hundred at once, from several processes, exactly as many are let through as there is room for, and all
// others name the limit.
func TestManyWantOneLimit(t *testing.T) {
	limited := under(t, strings.Replace(tenAnHour, "10", "7", 1))
	h := newHouse(t, limited)
	processes := []*admission.Admission{h.Admission, again(t, h, limited), again(t, h, limited)}
	answers := make([]interlock.Answer, 200)
	var all sync.WaitGroup
	for n := range answers {
		all.Go(func() {
			answers[n] = processes[n%len(processes)].Propose(t.Context(), interlock.Proposal{
				Action:    interlock.Action{Kind: interlock.KindShell, Input: fmt.Sprint("ls ", n), Dir: "/repo"},
				Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
		})
	}
	all.Wait()
	counts := map[string]int{}
	for _, a := range answers {
		switch f := a.Decisive(); {
		case a.Event == "":
			t.Errorf("no event: %+v", f)
		case a.Answer == interlock.Allow:
			counts["allowed"]++
		case a.Answer == interlock.Deny && f.Rule == "limit.team.calls":
			counts["refused"]++
		default:
			t.Errorf("%v %+v", a.Answer, f)
		}
	}
	if counts["allowed"] != 7 || counts["refused"] != 193 {
		t.Errorf("%v", counts)
	}
	h.entries()
}
