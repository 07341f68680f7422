package admission_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

// lossRules are those of a team in which one agent pays and another may stand in for it.
const lossRules = `
maso: {tier: 2, first_use: noted}
runs: {depth: 2}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 2}
  - {name: payer, accountable: ada, tools: ["ls *", "touch *"], alive: 1m, critical: true, on_loss: backup, backup: second}
  - {name: second, accountable: ada, tools: ["touch *", "ls *"], alive: 1m}
  - {name: sole, accountable: ada, tools: ["*"], alive: 1m, critical: true}
  - {name: helper, accountable: ada, tools: ["*"], alive: 1m}
`

// healRules are the same where agents act by themselves.
var healRules = strings.Replace(lossRules, "tier: 2", "tier: 3, self_heal: {}", 1)

// lossTeam is a house with one agent of each of those types, called by the type's name.
func lossTeam(t *testing.T, documents string) *house {
	t.Helper()
	h := team(t, documents)
	for _, name := range []string{"payer", "second", "sole", "helper"} {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Type: name, Principal: "ada", Trust: interlock.TrustCommunityReviewed,
			Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *house) sweep() {
	h.t.Helper()
	if _, err := h.Expire(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// losses are what the log says of agents that were lost, as "agent did backup".
func (h *house) losses() (list []string) {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type != interlock.EventLost {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		var says auditlog.LossRecord
		if err := json.Unmarshal(event.Payload, &says); err != nil {
			h.t.Fatal(err)
		}
		if says.Accountable != "ada" {
			h.t.Errorf("%s answers for %s", says.Accountable, says.Agent)
		}
		list = append(list, strings.TrimSpace(says.Agent+" "+says.Did+" "+says.Backup))
	}
	return list
}

// TestABackupTakesOver: a critical agent that falls silent is isolated, another one stands in for it and reads at first, work goes to that
// one, and what was lost without being critical stops nobody.
func TestABackupTakesOver(t *testing.T) {
	spec.Covers(t, "EC-2.10", "EC-T2.11")
	h := lossTeam(t, lossRules)
	h.beat("payer", "second", "helper")
	root := h.run("planner", interlock.RunRequest{Task: "settle"})
	paying := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "payer", Task: "pay"})
	h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "helper", Task: "tidy"})
	h.answers("touch a", "payer", paying.ID, "")
	asked := h.propose("touch /etc/b", in("payer", paying.ID))

	h.now = h.now.Add(50 * time.Second)
	h.beat("second")
	if h.sweep(); len(h.losses()) != 0 {
		t.Fatalf("lost before its time: %v", h.losses())
	}
	h.now = h.now.Add(11 * time.Second)
	for range 3 { // a loss is one loss, however often it is looked
		h.sweep()
	}
	if got := h.losses(); !slices.Equal(got, []string{"payer backup second", "helper degraded"}) &&
		!slices.Equal(got, []string{"helper degraded", "payer backup second"}) {
		t.Fatalf("the log says %q", got)
	}
	if p, held := h.phaseOf("agent:payer"); p != phase.Alternate || held.Trigger != phase.TriggerLoss || held.Instead != "second" {
		t.Errorf("%+v", held)
	}
	if asked.Request != "" {
		if r := h.requestNow(asked.Request); r.Status != interlock.RequestExpired {
			t.Errorf("what it had asked is %s", r.Status)
		}
	}
	h.answers("ls /repo", "payer", paying.ID, "phase.isolated")
	_, err := h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "payer", Task: "pay"})
	refusedWith(t, err, interlock.CodeUnavailable, "give the work to second, which stands in")
	h.beat("second")
	instead := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "second", Task: "pay"})
	h.answers("ls /repo", "second", instead.ID, "")
	h.answers("touch a", "second", instead.ID, "phase.backup")
	h.now = h.now.Add(15 * time.Minute)
	h.answers("touch a", "second", instead.ID, "phase.change") // as for everybody: a person is asked
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, root.ID,
		interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Errorf("without what was not critical: %v", err)
	}
	h.entries()
}

// TestRefusalsKeepABackupReading: what is refused a backup begins its time anew.
func TestRefusalsKeepABackupReading(t *testing.T) {
	h := lossTeam(t, lossRules)
	h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "payer", To: phase.Alternate, Trigger: phase.TriggerBreaker,
		Why: "it fails"})
	if got := h.losses(); len(got) != 1 || got[0] != "payer halt" { // nobody who was heard
		t.Fatalf("%q", got)
	}
	h = lossTeam(t, lossRules)
	h.beat("second")
	h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "payer", To: phase.Alternate, Trigger: phase.TriggerBreaker,
		Why: "it fails"})
	h.now = h.now.Add(20 * time.Minute)
	h.answers("touch a", "second", "s1", "phase.backup") // it has not acted
	h.answers("ls /repo", "second", "s1", "")
	h.now = h.now.Add(14 * time.Minute)
	h.answers("go test ./...", "second", "s1", "phase.backup")
	h.now = h.now.Add(14 * time.Minute)
	h.answers("touch a", "second", "s1", "phase.backup")
	h.now = h.now.Add(time.Minute)
	h.answers("touch a", "second", "s1", "phase.change")
}

// TestWithoutABackupEverythingHalts: what a critical agent was part of stands still when nobody stands in for it, all of its runs with it,
// and other work goes on.
func TestWithoutABackupEverythingHalts(t *testing.T) {
	spec.Covers(t, "EC-2.10")
	for _, lost := range []string{"sole", "payer"} { // the second has a backup that does not answer either
		h := lossTeam(t, lossRules)
		h.employ("adam", quorum.RoleAdmin)
		h.beat("sole", "payer", "helper")
		root := h.run("planner", interlock.RunRequest{Task: "settle"})
		h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: lost})
		beside := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "helper"})
		other := h.run("planner", interlock.RunRequest{Task: "another"})
		h.now = h.now.Add(2 * time.Minute)
		h.beat("helper")
		h.Admission = again(t, h, sameRules(h))
		h.sweep()
		if p, held := h.phaseOf("run:" + root.ID); p != phase.Contingency || held.Trigger != phase.TriggerLoss {
			t.Fatalf("%s: %+v", lost, held)
		}
		h.answers("ls /repo", "helper", beside.ID, "phase.suspended")
		h.answers("ls /repo", "planner", root.ID, "phase.suspended")
		h.answers("ls /repo", "planner", other.ID, "")
		if err := h.moves(interlock.VerbLoosenPhase, "run:"+root.ID, "A", "adam"); err != nil {
			t.Fatal(err)
		}
		h.answers("ls /repo", "helper", beside.ID, "")
	}
}

// TestAssigningFindsALoss: whoever gives work to a critical agent that does not answer hears who stands in; and so does an observer
// that tells of it.
func TestAssigningFindsALoss(t *testing.T) {
	h := lossTeam(t, lossRules)
	h.beat("second")
	root := h.run("planner", interlock.RunRequest{})
	_, err := h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "payer"})
	refusedWith(t, err, interlock.CodeUnavailable, "give the work to second")
	_, err = h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "helper"})
	refusedWith(t, err, interlock.CodeUnavailable, "has not been heard for 1m0s")
	h = lossTeam(t, lossRules)
	h.beat("second", "payer")
	answer, err := h.Signal(t.Context(), "prober", interlock.Signal{Kind: interlock.SignalHealth, Agent: "payer", Value: 0})
	if err != nil || answer.Tightened != "agent:payer" || len(h.losses()) != 1 {
		t.Errorf("%+v, %v, %q", answer, err, h.losses())
	}
}

// TestItHealsByItself: at tier 3 an anomaly isolates its agent, another stands in, reads, then writes without anybody being asked, and
// half an hour later everything is in primary again, by no person's word and once each.
func TestItHealsByItself(t *testing.T) {
	spec.Covers(t, "EC-3.2", "EC-T3.2")
	h := lossTeam(t, healRules)
	h.beat("second")
	start := h.now
	anomaly := func() {
		t.Helper()
		if _, err := h.Signal(t.Context(), "watcher", interlock.Signal{Kind: interlock.SignalAnomaly, Agent: "payer", Value: 70}); err != nil {
			t.Fatal(err)
		}
	}
	at := func(minutes int) { h.now = start.Add(time.Duration(minutes) * time.Minute) }
	anomaly()
	if p, _ := h.phaseOf("system:all"); p != phase.Alternate {
		t.Fatalf("the system is in %s", p)
	}
	h.answers("ls /repo", "second", "s1", "")
	h.answers("touch a", "second", "s1", "phase.backup")
	h.answers("touch a", "helper", "s1", "phase.change")
	at(15)
	h.Admission = again(t, h, sameRules(h)) // a restart in between loses nothing
	h.answers("touch a", "second", "s1", "")
	h.answers("touch a", "helper", "s1", "phase.change")
	at(29)
	h.sweep()
	h.answers("ls /repo", "payer", "s1", "phase.isolated")
	at(30)
	h.answers("touch a", "helper", "s1", "") // whoever decides first finds it healed
	h.answers("touch a", "payer", "s1", "")
	h.answers("touch a", "second", "s1", "")
	var says []string
	for _, e := range h.log() {
		if e.Type != interlock.EventPhase {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Hold, From, To, Trigger, Authoriser, Proof string }
		if err := json.Unmarshal(event.Payload, &p); err != nil {
			t.Fatal(err)
		}
		says = append(says, p.Hold+" "+p.From+p.To+" "+p.Trigger+" "+p.Authoriser)
		if p.To == "P" && !strings.Contains(p.Proof, "nothing was refused agent:second, which stands in, since 2026-11-20T12:00:00Z") {
			t.Errorf("it says %q", p.Proof)
		}
	}
	if want := []string{"agent:payer PA signal interlock", "system:all PA spread interlock", "agent:payer AP healed interlock",
		"system:all AP healed interlock"}; !slices.Equal(says, want) {
		t.Errorf("the log says %q", says)
	}
	h.entries()
}

// TestTheFourthTimeIsContingency: three times within a day it heals, whatever process looks, and the fourth is left to people.
func TestTheFourthTimeIsContingency(t *testing.T) {
	spec.Covers(t, "EC-3.2")
	h := lossTeam(t, healRules)
	for n := range 4 {
		h.Admission = again(t, h, sameRules(h))
		h.beat("second")
		h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "payer", To: phase.Alternate, Trigger: phase.TriggerSignal,
			Why: "it drifts"})
		h.answers("ls /repo", "second", "s1", "")
		h.now = h.now.Add(time.Hour)
		h.sweep()
		p, held := h.phaseOf("agent:payer")
		if n < 3 && p != "" && p != phase.Primary || n == 3 && (p != phase.Contingency || held.Trigger != phase.TriggerCycles) {
			t.Fatalf("time %d: %+v", n+1, held)
		}
	}
	h.now = h.now.Add(30 * time.Hour)
	h.sweep()
	if p, _ := h.phaseOf("agent:payer"); p != phase.Contingency {
		t.Errorf("it healed to %s", p)
	}
}

// TestWhatDoesNotHeal: what people ordered, what nobody stands in for or stands in unsteadily, what is still silent, and everything where
// the rules don't say so.
func TestWhatDoesNotHeal(t *testing.T) {
	out := containment.Tightening{Scope: ledger.HoldAgent, Key: "payer", To: phase.Alternate, Trigger: phase.TriggerSignal,
		Why: "it drifts"}
	for name, test := range map[string]struct {
		rules string
		do    func(h *house)
	}{
		"without a word in the rules": {strings.Replace(healRules, ", self_heal: {}", "", 1), func(h *house) {
			h.beat("second")
			h.tighten(out)
			h.answers("ls /repo", "second", "s1", "")
		}},
		"on somebody's order": {healRules, func(h *house) {
			h.beat("second")
			h.employ("olga", quorum.RoleOperator)
			if err := h.moves(interlock.VerbTightenPhase, "agent:payer", "A", "olga"); err != nil {
				h.t.Fatal(err)
			}
			h.answers("ls /repo", "second", "s1", "")
		}},
		"without a backup": {healRules, func(h *house) { h.tighten(out) }},
		"a backup that never acts": {healRules, func(h *house) {
			h.beat("second")
			h.tighten(out)
		}},
		"a backup that is refused things": {healRules, func(h *house) {
			h.beat("second")
			h.tighten(out)
			h.answers("ls /repo", "second", "s1", "")
			h.now = h.now.Add(29 * time.Minute)
			h.answers("go test ./...", "second", "s1", "type.tools")
			h.answers("ls /repo", "second", "s1", "")
		}},
		"a backup that is isolated itself": {healRules, func(h *house) {
			h.beat("second")
			h.tighten(out)
			h.answers("ls /repo", "second", "s1", "")
			second := out
			second.Key = "second"
			h.tighten(second)
		}},
		"a breaker that somebody tripped": {healRules, func(h *house) {
			h.beat("second")
			h.employ("olga", quorum.RoleOperator)
			if err := h.moves(interlock.VerbTripBreaker, "agent:payer", "", "olga"); err != nil {
				h.t.Fatal(err)
			}
			h.answers("ls /repo", "second", "s1", "")
		}},
	} {
		h := lossTeam(t, test.rules)
		test.do(h)
		h.now = h.now.Add(10 * time.Minute)
		for range 4 {
			h.now = h.now.Add(time.Minute)
			h.sweep()
		}
		if p, held := h.phaseOf("agent:payer"); p != phase.Alternate {
			t.Errorf("%s: %s, %+v", name, p, held)
		}
		if p, _ := h.phaseOf("system:all"); p != phase.Alternate {
			t.Errorf("%s: the system is in %q", name, p)
		}
	}
}

// TestABreakerHealsHalfOpen: one that refusals opened lets one action run at a time once its agent is back, and opens again for longer.
func TestABreakerHealsHalfOpen(t *testing.T) {
	h := lossTeam(t, healRules)
	h.beat("second")
	for range 3 {
		h.answers("go test ./...", "payer", "s1", "type.tools")
	}
	h.answers("ls /repo", "payer", "s1", "phase.isolated")
	h.answers("ls /repo", "second", "s1", "")
	h.now = h.now.Add(31 * time.Minute)
	h.answers("ls /repo", "payer", "s1", "")
	h.answers("ls /srv", "payer", "s1", "breaker.busy")
	if _, held := h.phaseOf("breaker:agent:payer"); held.Breaker == nil || held.Breaker.State != phase.HalfOpen {
		t.Errorf("%+v", held)
	}
	h.entries()
}

// TestWhoWasSilentComesBackOnlyWhenHeard: the system is in primary again, and the backup goes on until the other is there.
func TestWhoWasSilentComesBackOnlyWhenHeard(t *testing.T) {
	h := lossTeam(t, healRules)
	h.beat("payer", "second")
	h.run("payer", interlock.RunRequest{})
	h.now = h.now.Add(61 * time.Second)
	h.beat("second")
	h.sweep()
	h.answers("ls /repo", "second", "s1", "")
	h.now = h.now.Add(31 * time.Minute)
	h.sweep()
	if p, _ := h.phaseOf("system:all"); p != "" {
		t.Errorf("the system is in %s", p)
	}
	h.answers("ls /repo", "payer", "s1", "phase.isolated")
	h.answers("touch a", "second", "s1", "")
	h.beat("payer")
	h.now = h.now.Add(16 * time.Minute)
	h.sweep()
	h.answers("ls /repo", "payer", "s1", "")
}

// TestSupervisedAfterAnEmergency: what begins again is in contingency for hours, whoever says otherwise; a contingency of its own is not.
func TestSupervisedAfterAnEmergency(t *testing.T) {
	spec.Covers(t, "EC-P-3")
	for tier, hours := range map[int]time.Duration{2: 4, 3: 24} {
		h := newHouse(t, atTier(t, tier))
		h.employ("adam", quorum.RoleAdmin)
		h.employ("sue", quorum.RoleSuperadmin)
		h.tighten(system(phase.Contingency))
		loosen := func(detail, who string) error { return h.moves(interlock.VerbLoosenPhase, "system:all", detail, who) }
		if err := loosen("A", "adam"); err != nil {
			t.Errorf("no emergency came before it: %v", err)
		}
		h.tighten(system(phase.Emergency))
		if err := h.moves(interlock.VerbRootCause, "system:all", "", "adam"); err != nil {
			t.Fatal(err)
		}
		if err := loosen("C", "sue"); err != nil {
			t.Fatal(err)
		}
		if err := loosen("C agent=claude", "adam"); err != nil { // who goes on may be named at any time
			t.Fatal(err)
		}
		h.now = h.now.Add(hours*time.Hour - time.Second)
		if err := loosen("A", "sue"); codeOf(err) != interlock.CodeConflict || !strings.Contains(err.Error(), "stays supervised until") {
			t.Errorf("tier %d, too soon: %v", tier, err)
		}
		h.now = h.now.Add(time.Second)
		if err := loosen("A", "sue"); err != nil {
			t.Errorf("tier %d: %v", tier, err)
		}
	}
}
