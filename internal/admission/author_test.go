package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

const authorRules = `
runs: {depth: 2}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 3}
  - {name: clerk, accountable: ada, tools: ["ls *", "cp *", "touch *", "tee *"], scopes: {paths: [workspace]}}
  - {name: builder, accountable: bob, tools: ["*"]}
  - {name: tester, accountable: bob, tools: ["*"]}
  - {name: reader, accountable: bob, tools: ["*"]}
`

// TestCodeOfAnother: what one agent wrote and another runs is held against the types of both, and of everybody who had delegated the
// run it was written in, for a day; copies too. What an agent wrote itself, what a person did, what an agent of the same type or one
// that may do the same wrote, and what is only looked at, is as it was.
func TestCodeOfAnother(t *testing.T) {
	h := team(t, authorRules)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "second", Type: "clerk", Principal: "ada",
		Trust: interlock.TrustCommunityReviewed, Created: h.now}); err != nil {
		t.Fatal(err)
	}
	root := h.run("planner", interlock.RunRequest{Task: "look", Box: 3600})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "reader"})
	beneath := h.run("reader", interlock.RunRequest{Parent: given.ID, Agent: "tester"})
	h.answers("touch gen.sh", "clerk", "s1", "")
	h.answers("touch own.sh", "builder", "s1", "")
	h.answers("touch test.sh", "tester", beneath.ID, "")
	for _, one := range []struct {
		name, command, agent, rule string
	}{
		{"another's", "sh gen.sh", "builder", "type.tools"},
		{"another's, by its whole name", "sh /repo/gen.sh", "builder", "type.tools"},
		{"another's, in a chain", "ls /repo && ./gen.sh", "builder", "type.tools"},
		{"another's, by a program", "python3 gen.sh", "builder", "type.tools"},
		{"its own", "sh own.sh", "builder", ""},
		{"a person's", "sh theirs.sh", "builder", ""},
		{"one of a type that may do the same", "sh test.sh", "builder", ""},
		{"only looked at", "cat gen.sh", "builder", ""},
		{"copied", "cp gen.sh copy.sh", "builder", ""},
		{"the copy", "sh copy.sh", "builder", "type.tools"},
		{"moved", "mv copy.sh moved.sh", "builder", ""},
		{"what was moved", "sh moved.sh", "builder", "type.tools"},
		{"the copy, by a third", "sh copy.sh", "tester", "type.tools"},
		{"written anew from it", "cat gen.sh > other.sh", "builder", ""},
		{"that", "sh other.sh", "builder", "type.tools"},
	} {
		run := "s1"
		if one.agent == "tester" {
			run = beneath.ID
		}
		a := h.propose(one.command, in(one.agent, run))
		got := ""
		if a.Answer != interlock.Allow {
			got = a.Decisive().Rule
		}
		if got != one.rule {
			t.Errorf("%s: %s by %s: %v by %q, want %q: %+v", one.name, one.command, one.agent, a.Answer, got, one.rule, a.Findings)
		}
		const whose = "the type clerk of the agent clerk, which wrote what this runs, does not have this"
		if f := a.Decisive(); one.rule != "" && (f == nil || !strings.Contains(f.Reason, whose)) {
			t.Errorf("%s: %+v", one.name, f)
		}
	}
	// An agent of the same type is held against its own type, and nothing is said twice.
	if a := h.propose("sh gen.sh", in("second", "s1")); len(a.Findings) == 0 || strings.Contains(a.Decisive().Reason, "wrote") {
		t.Errorf("one of the same type: %+v", a.Findings)
	}
	h.now = h.now.Add(25 * time.Hour)
	h.answers("sh gen.sh", "builder", "s1", "")
	h.entries()
}

// TestCodeThatWasDelegated: who had delegated the run that a file was written in wrote it too, so that nobody launders it by having another
// agent write it, and an agent that was refused wrote nothing. Where no types bind agents nothing is looked for.
func TestCodeThatWasDelegated(t *testing.T) {
	h := team(t, strings.Replace(authorRules, `name: planner, accountable: ada, tools: ["*"]`,
		`name: planner, accountable: ada, tools: ["ls *", "touch *"]`, 1))
	root := h.run("planner", interlock.RunRequest{Task: "look", Box: 3600})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "reader"})
	h.answers("touch gen.sh", "reader", given.ID, "")
	h.answers("git status && touch refused.sh", "clerk", "s1", "type.tools")
	a := h.propose("sh gen.sh", in("builder", "s1"))
	if a.Answer != interlock.Deny || !strings.Contains(a.Decisive().Reason, "the type planner of the agent planner, which wrote what this runs") {
		t.Errorf("%v %+v", a.Answer, a.Findings)
	}
	h.answers("sh refused.sh", "builder", "s1", "")
	untyped := newHouse(t)
	untyped.answers("touch gen.sh", "clerk", "s1", "")
	untyped.answers("sh gen.sh", "builder", "s1", "")
	// By a door that reads what is run as well.
	reads := func(p *admission.Case) {
		p.Read = func(interlock.View, []string) map[string]string { return map[string]string{"/repo/gen.sh": "ls\n"} }
	}
	if a := h.propose("sh gen.sh", in("builder", "s1"), reads); a.Answer != interlock.Deny {
		t.Errorf("where it is read: %v %+v", a.Answer, a.Findings)
	}
}
