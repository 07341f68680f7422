package admission_test

import (
	"maps"
	"testing"

	"interlock"
	"interlock/internal/phase"
	"interlock/spec"
)

// TestATypeHasItsOwnTier: agents whose type acts at a tier are watched as that tier says, though none is in force for the others.
func TestATypeHasItsOwnTier(t *testing.T) {
	h := team(t, "types:\n  - {name: clerk, accountable: ada, tools: [\"*\"], tier: 2}\n  - {name: builder, accountable: ada, tools: [\"*\"]}\n")
	for range 3 {
		h.refuse(in("clerk", "s1"))
		h.refuse(in("builder", "s1"))
	}
	if b := h.breaker("agent:clerk"); b == nil || b.State != phase.Open {
		t.Errorf("the clerk's breaker is %+v", b)
	}
	if p, _ := h.phaseOf("agent:clerk"); p != phase.Alternate {
		t.Errorf("the clerk is in phase %q", p)
	}
	if b := h.breaker("agent:builder"); b != nil {
		t.Errorf("the builder's breaker is %+v", b)
	}
	h.entries()
}

// TestADelegationSharesACap: what everybody in an orchestration uses up is counted together, so that nobody gets more by delegating it; an
// orchestration beside it has its own (EC-2.3).
func TestADelegationSharesACap(t *testing.T) {
	spec.Covers(t, "EC-2.3")
	h := team(t, `
runs: {depth: 2}
limits: [{id: tree.reads, per: orchestration, measure: records, unknown: 1, most: 3, match: {kind: [read]}}]
types:
  - {name: planner, accountable: ada, tools: ["*"]}
  - {name: builder, accountable: ada, tools: ["*"]}
`)
	root := h.run("planner", interlock.RunRequest{Task: "look", Box: 3600})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	beside := h.run("planner", interlock.RunRequest{Task: "look beside", Box: 3600})
	h.answers("cat a", "planner", root.ID, "")
	h.answers("cat b", "builder", given.ID, "")
	h.answers("cat c", "builder", given.ID, "")
	h.answers("cat d", "builder", given.ID, "limit.tree.reads")
	h.answers("cat d", "planner", root.ID, "limit.tree.reads")
	h.answers("cat d", "planner", beside.ID, "")
}

// TestSomebodyAnswersForEveryRecord: where a tier is in force every record names a human: who the agent's type says, or else whoever the
// agent acts for, the operator who did it, or the owner of the home. Without a tier nothing is added.
func TestSomebodyAnswersForEveryRecord(t *testing.T) {
	spec.Covers(t, "EC-L-3")
	for tier, want := range map[int]map[string]int{0: {"": 3}, 1: {"alice": 3}} {
		h := newHouse(t, atTier(t, tier))
		h.propose("ls")
		h.propose("rm -rf /")
		a := h.propose("git push --force origin main")
		if err := h.Report(t.Context(), interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"},
			interlock.Outcome{Event: a.Event, Status: interlock.OutcomeUnknown}); err != nil {
			t.Fatal(err)
		}
		h.entries()
		got := map[string]int{}
		for _, e := range h.log() {
			if e.Type == interlock.EventDecision || e.Type == interlock.EventBlock || e.Type == interlock.EventReviewRequest {
				got[answers(t, e)]++
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("tier %d: %v answer, want %v", tier, got, want)
		}
	}
}
