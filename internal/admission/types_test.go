package admission_test

import (
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
