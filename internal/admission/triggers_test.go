package admission_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// A staging makes one trigger happen in a house at its tier, and names what has moved and where to.
type staging struct {
	rules string // beside the tier, in the document's maso
	does  func(h *house)
	on    string
	want  phase.Phase
}

func (h *house) signal(kind interlock.SignalKind, value int) {
	h.t.Helper()
	if _, err := h.Signal(h.t.Context(), "meter", interlock.Signal{Kind: kind, Agent: "claude", Value: value}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) refusals(n int) {
	for i := range n {
		h.propose([]string{"rm -rf /", "rm -rf /etc", "rm -rf /usr", "rm -rf /bin"}[i%4])
	}
}

func (h *house) layers() {
	h.t.Helper()
	if err := h.LookAtLayers(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func isolating(agent string) containment.Tightening {
	return containment.Tightening{Scope: ledger.HoldAgent, Key: agent, To: phase.Alternate, Trigger: phase.TriggerSignal, Why: "odd"}
}

func (h *house) instances(kind string, names ...string) {
	h.t.Helper()
	for _, name := range names {
		if err := h.PutAgent(h.t.Context(), interlock.AgentRecord{ID: name, Type: kind, Principal: "alice", Created: h.now}); err != nil {
			h.t.Fatal(err)
		}
	}
}

// decides has a house decide so often in each of so many minutes, each decision taking so long.
func (h *house) decides(minutes, each int, took time.Duration) {
	h.t.Helper()
	for range minutes {
		for range each {
			h.slow(took)
		}
		h.layers()
		h.now = h.now.Add(time.Minute)
	}
}

// slow has one decision take a time.
func (h *house) slow(took time.Duration) {
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		h.store.commit = nil
		h.ticks.Lock()
		h.now = h.now.Add(took)
		h.ticks.Unlock()
		return next()
	}
	h.propose("cat notes-1")
	h.store.commit = nil
}

// stagings is one for each trigger that a machine carries out, or that an observer's signal brings.
func stagings() map[string]staging {
	const agent, all, gates, people = "agent:claude", "system:all", "layer:gates", "layer:people"
	waits := func(long time.Duration) func(*house) {
		return func(h *house) {
			h.employ("olga", "operator")
			h.propose("git push --force", func(p *admission.Case) { p.CanAsk = false })
			h.now = h.now.Add(long)
			h.layers()
		}
	}
	unusual := func(commands ...string) func(*house) {
		return func(h *house) {
			h.works(14)
			for _, c := range commands {
				h.propose(c)
			}
			h.look()
		}
	}
	return map[string]staging{
		"score": {"watch: {elevated: 10, alternate: 20, contingency: 99}", unusual("curl https://a.example/"), agent, phase.Alternate},
		"score-high": {"watch: {elevated: 10, alternate: 15, contingency: 20}", unusual("curl https://a.example/"), agent,
			phase.Contingency},
		"observed":  {"", func(h *house) { h.signal(interlock.SignalDrift, 60) }, agent, phase.Alternate},
		"breaker":   {"", func(h *house) { h.refusals(3) }, agent, phase.Alternate},
		"context":   {"", func(h *house) { h.signal(interlock.SignalContext, 85) }, agent, phase.Alternate},
		"defence":   {"", func(h *house) { h.signal(interlock.SignalDLP, 50) }, agent, phase.Emergency},
		"rejects":   {"", unusual("curl https://b.example/", "nc a.example 1", "rm -rf /", "rm -rf /etc", "rm -rf /usr"), agent, phase.Emergency},
		"spread":    {"", func(h *house) { h.tighten(isolating("codex")) }, all, phase.Alternate},
		"unwatched": {"watch: {off: true}", nil, "", phase.Contingency},
		"share": {"", func(h *house) {
			h.instances("builder", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9")
			h.tighten(isolating("b1"))
			h.tighten(isolating("b2"))
			h.layers()
		}, "type:builder", phase.Alternate},
		"timer": {"", func(h *house) {
			h.tighten(isolating("claude"))
			h.now = h.now.Add(phase.MaxAlternate)
		}, agent, phase.Contingency},
		"layers": {"", func(h *house) {
			for _, layer := range []string{phase.LayerGates, phase.LayerPeople} {
				h.tighten(containment.Tightening{Scope: ledger.HoldLayer, Key: layer, To: phase.Emergency, Trigger: phase.TriggerFailing})
			}
		}, all, phase.Emergency},
		"gates-slow": {"", func(h *house) {
			h.decides(12, 20, 10*time.Millisecond)
			h.decides(7, 20, 120*time.Millisecond)
		}, gates, phase.Alternate},
		"gates-failing": {"", func(h *house) {
			for range 3 {
				h.breaks()
			}
			h.layers()
		}, gates, phase.Alternate},
		"gates-down": {"", func(h *house) {
			h.slow(31 * time.Second)
			h.layers()
		}, gates, phase.Contingency},
		"rules-unread": {"", func(h *house) { h.unread() }, gates, phase.Alternate},

		"people-wait":       {"watch: {answer_within: 10m}", waits(16 * time.Minute), people, phase.Alternate},
		"people-wait-twice": {"watch: {answer_within: 10m}", waits(21 * time.Minute), people, phase.Contingency},
		"people-wait-five":  {"watch: {answer_within: 10m}", waits(51 * time.Minute), people, phase.Emergency},
		"people-queue": {"", func(h *house) {
			h.employ("olga", "operator")
			for range 61 {
				h.layers()
				h.now = h.now.Add(time.Minute)
			}
			for n := range 11 {
				h.propose(fmt.Sprint("git push --force origin b", n))
			}
			h.layers()
		}, people, phase.Contingency},
		"people-none": {"", func(h *house) {
			h.propose("git push --force")
			h.layers()
		}, people, phase.Contingency},
	}
}

// breaks has a decision fail on the store.
func (h *house) breaks() {
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		return ledger.Receipt{}, errors.New("disk full")
	}
	h.propose("cat notes-1")
	h.store.commit = nil
}

// unread has somebody put rules in place that can't be used.
func (h *house) unread() {
	h.renewal = admission.Renewal{Number: h.renewal.Number + 1, Err: interlock.Errorf(interlock.CodeInvalid, "team.yaml", "is no document")}
	h.propose("cat notes-1")
}

// TestTriggers makes every trigger of the table that a machine carries out happen: at its tier it moves what the table says, and one tier
// below it doesn't.
func TestTriggers(t *testing.T) {
	spec.Covers(t, "EC-P-2", "EC-P-7")
	stages := stagings()
	elsewhere := map[string]string{"cap": "TestACapRaisesAPhase", "cycles": "TestSelfHealBounds", "kill-on": "TestSignalKills",
		"judge-context": "TestJudgesOwnContext", "judged-after": "TestALateDenialRevokes",
		"contexts": "TestContextsTogether", "backup": "TestABackupTakesOver", "healed": "TestItHealsByItself"}
	for _, row := range phase.Triggers() {
		stage, staged := stages[row.ID]
		if row.By != phase.ByMachine && row.By != phase.ByObserver || elsewhere[row.ID] != "" {
			if staged {
				t.Errorf("%s is staged and is not a machine's", row.ID)
			}
			continue
		}
		if !staged {
			t.Errorf("%s is not staged", row.ID)
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			for _, tier := range []int{row.Tier, row.Tier - 1} {
				if tier < 0 {
					continue
				}
				var h *house
				h = newHouse(t, under(t, fmt.Sprintf("maso: {tier: %d, %s}", tier, stage.rules)), watched, func(c *admission.Config) {
					c.Renew = func() admission.Renewal {
						if h == nil {
							return admission.Renewal{}
						}
						return h.renewal
					}
				})
				if row.ID == "unwatched" {
					if a := h.propose("cat notes-1"); (rule(a) == "phase.unwatched") != (tier == row.Tier) {
						t.Errorf("tier %d: %v %s", tier, a.Answer, rule(a))
					}
					continue
				}
				stage.does(h)
				got, held := h.phaseOf(stage.on)
				switch {
				case tier == row.Tier && (got != stage.want || held.Trigger != row.Name && row.ID != "timer"):
					t.Errorf("%s is in %q by %q, want %q by %q", stage.on, got, held.Trigger, stage.want, row.Name)
				case tier < row.Tier && row.ID != "spread" && row.ID != "timer" && got.Compare(phase.Primary) > 0:
					t.Errorf("at tier %d %s is in %q", tier, stage.on, got)
				}
			}
		})
	}
}

// TestTwoAreProposed: two agents that are isolated at once are people's to decide about, and they are told once.
func TestTwoAreProposed(t *testing.T) {
	h := newHouse(t, atTier(t, 2))
	h.tighten(isolating("codex"))
	h.layers()
	if h.told("phase-proposal") != 0 {
		t.Errorf("of one: %q", h.alerts)
	}
	h.tighten(isolating("claude"))
	h.layers()
	h.layers()
	if h.told("phase-proposal") != 1 || !strings.Contains(strings.Join(h.alerts, "\n"), "claude, codex") {
		t.Errorf("%q", h.alerts)
	}
	if got, _ := h.phaseOf("system:all"); got != phase.Alternate {
		t.Errorf("a machine decided it: %q", got)
	}
}

// TestShareOfAType: a fifth of a type's agents is not more than a fifth, what was isolated long ago is not together, and one agent of a
// type of its own is no share.
func TestShareOfAType(t *testing.T) {
	for name, c := range map[string]struct {
		agents, isolated int
		apart            time.Duration
		want             phase.Phase
	}{
		"two of nine":         {9, 2, 0, phase.Alternate},
		"two of ten":          {10, 2, 0, ""},
		"two of nine, slowly": {9, 2, 5 * time.Minute, ""},
		"one of one":          {1, 1, 0, ""},
	} {
		h := newHouse(t, atTier(t, 2))
		for n := range c.agents {
			h.instances("builder", fmt.Sprint("b", n))
		}
		for n := range c.isolated {
			h.tighten(isolating(fmt.Sprint("b", n)))
			h.now = h.now.Add(c.apart)
			h.layers()
		}
		if got, _ := h.phaseOf("type:builder"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestUnwatched: where nobody looks, every action is asked about until somebody accepts the risk in the rules; and that is a weakening.
func TestUnwatched(t *testing.T) {
	blind := newHouse(t, under(t, "maso: {tier: 2, watch: {off: true}}"))
	if a := blind.propose("ls"); a.Verdict != interlock.Ask || rule(a) != "phase.unwatched" {
		t.Errorf("%v %s", a.Verdict, rule(a))
	}
	accepted := newHouse(t, under(t, "maso: {tier: 2, watch: {off: true, accepted_by: ada, reason: a migration}}"))
	if a := accepted.propose("ls"); a.Answer != interlock.Allow {
		t.Errorf("%v %s", a.Answer, rule(a))
	}
	for _, pair := range [][2]*house{{newHouse(t, atTier(t, 2)), blind}, {blind, accepted}} {
		if less, err := ruleset.Loosened(pair[0].Rules(), pair[1].Rules()); err != nil || len(less) == 0 {
			t.Errorf("%v, %v", less, err)
		}
	}
}

// TestOrdinaryLayers: where everything goes as usual, no layer moves.
func TestOrdinaryLayers(t *testing.T) {
	h := newHouse(t, under(t, "maso: {tier: 2, watch: {answer_within: 6h}}"), watched)
	h.employ("olga", "operator")
	for n := range 30 {
		h.decides(1, 20+n%5, time.Duration(8+n%5)*time.Millisecond)
		if n%10 == 0 {
			h.propose(fmt.Sprint("git push --force origin b", n))
			h.now = h.now.Add(5 * time.Minute)
		}
	}
	for name := range h.standing().Others[ledger.Hold] {
		t.Errorf("%s stands, %q", name, h.alerts)
	}
}
