package admission_test

import (
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/spec"
)

var admissionWay = admission.Way{}

// tierTwo are rules of tier 2, with a tool that can be tried without effect.
const tierTwo = `
maso: {tier: 2, first_use: noted}
dry_runs: [{tool: "db.*", set: {dry_run: true}}, {tool: "deploy.*", set: {env: staging}}]
danger: [{name: "db.*", level: dangerous}, {name: "deploy.*", level: dangerous}, {name: "queue.*", level: dangerous}]
types:
  - {name: planner, accountable: ada, tools: ["*"], data: [secret, personal]}
  - {name: builder, accountable: bob, tools: ["*"], data: [secret, personal]}
`

// lastDryRun is the id of the newest DRY_RUN event.
func (h *house) lastDryRun() (id string, n int) {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type == interlock.EventDryRun {
			id, n = e.ID, n+1
		}
	}
	return id, n
}

// TestFirstTimeIsTriedFirst: what can't be undone and agents of this type never did is done in earnest only once a person has seen a dry run of
// it. From when it was carried out its type knows it, and other types don't.
func TestFirstTimeIsTriedFirst(t *testing.T) {
	spec.Covers(t, "EC-2.7a")
	h := team(t, tierTwo)
	const command = "git push --force origin main"
	executed := 0
	run := func(agent string) interlock.Answer {
		a := h.propose(command, in(agent, "s1"), func(p *admission.Case) { p.Door = "exec" })
		if a.Answer.Allowed() {
			executed++
			if err := h.Carried(t.Context(), interlock.Requester{Agent: agent, Principal: "ada", Run: "s1"},
				interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSuccess}, interlock.Measured{}); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	first := run("planner")
	if !first.Owes(interlock.ObligationDryRun) || first.Request == "" {
		t.Fatalf("%+v", first.Decision)
	}
	if err := h.approve(first.Request, interlock.Allow); err == nil {
		t.Fatal("a yes without a dry run counts")
	}
	if run("planner"); executed != 0 {
		t.Fatalf("it was carried out %d times before anybody had seen a dry run", executed)
	}
	if err := h.Tried(t.Context(), interlock.Requester{Agent: "planner", Principal: "ada", Run: "s1"},
		interlock.DryRun{Event: first.Event, Request: first.Request, Action: first.Action}); err != nil {
		t.Fatal(err)
	}
	if run("planner"); executed != 0 {
		t.Fatal("it was carried out before a person had looked")
	}
	id, _ := h.lastDryRun()
	if err := h.approveShown(first.Request, id); err != nil {
		t.Fatal(err)
	}
	if run("planner"); executed != 1 {
		t.Fatalf("it was carried out %d times after a person had looked", executed)
	}
	if again := run("planner"); again.Owes(interlock.ObligationDryRun) || again.Verdict != interlock.Ask {
		t.Errorf("known, it is %+v", again.Decision)
	}
	if other := run("builder"); !other.Owes(interlock.ObligationDryRun) {
		t.Errorf("of another type it is %+v", other.Decision)
	}
	if harmless := h.propose("touch a", in("builder", "s1")); harmless.Answer != interlock.Allow {
		t.Errorf("%+v", harmless.Decision)
	}
	h.entries()
}

// TestToolsAreTriedInTheirOwnForm: a call that agents of this type never made is tried as the same call with what the rules name, such as
// dry_run or a staging target; a tool of which the rules name no form is refused.
func TestToolsAreTriedInTheirOwnForm(t *testing.T) {
	h := team(t, tierTwo)
	for name, tc := range map[string]struct{ earnest, tried interlock.Action }{
		"dry run": {toolCall("db.migrate", `{"to":7}`), toolCall("db.migrate", `{"dry_run":true,"to":7}`)},
		"staging": {toolCall("deploy.push", `{"build":9,"env":"production"}`), toolCall("deploy.push", `{"build":9,"env":"staging"}`)},
	} {
		who := interlock.Requester{Agent: "planner", Principal: "ada", Run: "s1"}
		asked := h.goes(tc.earnest, "planner", "s1", "danger.dangerous")
		if asked.Request == "" || !asked.Owes(interlock.ObligationDryRun) {
			t.Fatalf("%s: %+v", name, asked.Decision)
		}
		_, before := h.lastDryRun()
		form := h.propose("", in("planner", "s1"), func(p *admission.Case) { p.Action, p.Door = tc.tried, "gateway" })
		if form.Owes(interlock.ObligationDryRun) {
			t.Fatalf("%s: the form is to be tried itself: %+v", name, form.Findings)
		}
		if !form.Answer.Allowed() {
			if err := h.approve(form.Request, interlock.Allow); err != nil {
				t.Fatal(err)
			}
			form = h.propose("", in("planner", "s1"), func(p *admission.Case) { p.Action, p.Door = tc.tried, "gateway" })
		}
		if err := h.Conclude(t.Context(), admission.Concluded{Requester: who, Answer: form,
			Outcome: interlock.Outcome{Action: form.Action, Status: interlock.OutcomeSuccess}}); err != nil {
			t.Fatal(err)
		}
		id, n := h.lastDryRun()
		if n != before+1 {
			t.Fatalf("%s: %d dry runs were recorded", name, n-before)
		}
		if err := h.approveShown(asked.Request, id); err != nil {
			t.Fatal(err)
		}
		if done := h.propose("", in("planner", "s1"), func(p *admission.Case) { p.Action = tc.earnest }); !done.Answer.Allowed() {
			t.Errorf("%s: seen and answered, it is %+v", name, done.Findings)
		}
	}
	refused := h.goes(toolCall("queue.purge", `{"name":"a"}`), "planner", "s1", "dry-run.impossible")
	if refused.Request != "" || refused.Verdict != interlock.Deny {
		t.Errorf("what can't be tried is %+v", refused.Decision)
	}
}

// TestWhatAServerCallsDestructive: the first deletion behind a server, whose tool is only called destructive, owes a dry run: in a form that
// the rules name, or it is refused. A tool of which its server says the opposite, or nothing, does not, and neither does what only writes.
func TestWhatAServerCallsDestructive(t *testing.T) {
	spec.Covers(t, "EC-2.7a")
	h := team(t, tierTwo)
	yes, no := true, false
	by := func(tool, arguments string, hints *interlock.Annotations) interlock.Answer {
		return h.propose("", in("planner", "s1"), func(p *admission.Case) {
			p.Action, p.Door, p.CanAsk, p.View.Annotations = toolCall(tool, "%s", arguments), "gateway", true, hints
		})
	}
	destructive := &interlock.Annotations{Destructive: &yes}
	if a := by("notes.frobnicate", `{"id":7}`, destructive); a.Answer != interlock.Deny || !a.Owes(interlock.ObligationDryRun) {
		t.Errorf("without a form: %v %+v", a.Answer, a.Findings)
	}
	earnest := by("db.compact", `{"to":7}`, destructive)
	if earnest.Verdict != interlock.Ask || !earnest.Owes(interlock.ObligationDryRun) {
		t.Fatalf("with a form: %v %+v", earnest.Verdict, earnest.Findings)
	}
	settle := func(a interlock.Answer) {
		t.Helper()
		if err := h.Conclude(t.Context(), admission.Concluded{Requester: interlock.Requester{Agent: "planner", Principal: "ada", Run: "s1"},
			Answer: a, Outcome: interlock.Outcome{Action: a.Action, Status: interlock.OutcomeSuccess}}); err != nil {
			t.Fatal(err)
		}
	}
	tried := by("db.compact", `{"dry_run":true,"to":7}`, destructive)
	if !tried.Answer.Allowed() {
		if err := h.approve(tried.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		tried = by("db.compact", `{"dry_run":true,"to":7}`, destructive)
	}
	settle(tried)
	id, _ := h.lastDryRun()
	if err := h.approveShown(earnest.Request, id); err != nil {
		t.Fatal(err)
	}
	done := by("db.compact", `{"to":7}`, destructive)
	if !done.Answer.Allowed() {
		t.Fatalf("seen and answered: %+v", done.Findings)
	}
	settle(done)
	if again := by("db.compact", `{"to":8}`, destructive); again.Owes(interlock.ObligationDryRun) {
		t.Errorf("known, it is %+v", again.Findings)
	}
	for name, hints := range map[string]*interlock.Annotations{"nothing said": nil, "the opposite said": {Destructive: &no}} {
		if a := by("notes.frobnicate", `{"id":8}`, hints); a.Owes(interlock.ObligationDryRun) {
			t.Errorf("%s: %+v", name, a.Findings)
		}
	}
}

// TestFirstTimesBelowTierTwo: below tier 2 nobody has to try anything.
func TestFirstTimesBelowTierTwo(t *testing.T) {
	h := team(t)
	if a := h.propose("git push --force origin main", in("planner", "s1")); a.Owes(interlock.ObligationDryRun) {
		t.Errorf("%+v", a.Findings)
	}
}
