package admission_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/spec"
)

// TestTwoThatLoopAreResolved: two agents that can't agree stop at the cap, whoever speaks next is told the same, and what the resolver
// then decides holds for both: nobody's further word changes it.
func TestTwoThatLoopAreResolved(t *testing.T) {
	spec.Covers(t, "EC-T2.6")
	h := team(t, "runs: {depth: 2, turns: 4, resolver: planner}\n"+strings.TrimPrefix(claims, "\n"))
	h.beat("builder")
	root := h.run("planner", interlock.RunRequest{})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	turn := func(agent, run string) error {
		_, err := h.Turn(t.Context(), interlock.Requester{Agent: agent, Principal: "ada"}, run, "route of 17")
		return err
	}
	for n := range 4 {
		if err := []error{turn("planner", root.ID), turn("builder", given.ID)}[n%2]; err != nil && n < 2 {
			t.Fatal(err)
		}
	}
	said := map[string]bool{}
	for range 3 {
		for agent, run := range map[string]string{"planner": root.ID, "builder": given.ID} {
			err := turn(agent, run)
			refusedWith(t, err, interlock.CodeLimited, "has had its 4 turns and ends here; planner decides")
			said[err.Error()] = true
		}
	}
	if len(said) != 1 || h.count(interlock.EventTurn) != 4 {
		t.Errorf("%d answers, %d turns", len(said), h.count(interlock.EventTurn))
	}
	h.goes(toolCall("claims.route", `{"claim":17,"to":"fraud"}`), "planner", root.ID, "")
	h.goes(toolCall("claims.route", `{"claim":17,"to":"pay desk"}`), "builder", given.ID, "commit.kept")
	h.goes(toolCall("claims.route", `{"claim":17,"to":"fraud"}`), "builder", given.ID, "")
}
