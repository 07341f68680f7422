package admission_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/phase"
	"interlock/spec"
)

// judgedAt is a house at a tier with the judge main, and whatever else.
func judgedAt(t *testing.T, tier int, edit ...func(*admission.Config)) (*house, *bench) {
	return judgedHouse(t, "guard", append([]func(*admission.Config){atTier(t, tier)}, edit...)...)
}

// saysOf is a judge that denies what shows one of these texts, by a ground rule of a layer.
func saysOf(layer int, texts ...string) func(string) interlock.Judgment {
	return func(shown string) interlock.Judgment {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return interlock.Judgment{Verdict: interlock.Allow}
			}
		}
		return interlock.Judgment{Verdict: interlock.Deny, Layer: layer, Rule: "L2.sum", Reason: "together they carry data out"}
	}
}

// last is the payload of the last event of a type.
func (h *house) last(kind interlock.EventType) (payload string) {
	h.t.Helper()
	for _, entry := range h.log() {
		event, err := auditlog.ParseEvent(entry.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		if event.Type == kind {
			payload = string(event.Payload)
		}
	}
	return payload
}

// TestPlanIsJudgedWhole: steps that each pass, and together do harm, are flagged before the first of them. What gate 1 refuses no judge
// sees; the event has what the judge said; and a yes to the plan is none to its steps.
func TestPlanIsJudgedWhole(t *testing.T) {
	spec.Covers(t, "EC-2.7", "EC-T2.8")
	h, main := judgedHouse(t, "guard")
	main.says = saysOf(2, "tar czf", "cp all.tgz")
	run := h.run("builder", interlock.RunRequest{Task: "tidy up"})
	h.planned("builder", run.ID, shellStep("touch a"), shellStep("rm -rf /"))
	if main.asked() != 0 {
		t.Fatalf("of a plan that is refused the judge was shown %q", main.shown)
	}
	steps := []interlock.PlannedStep{shellStep("tar czf all.tgz notes"), shellStep("cp all.tgz public")}
	plan := h.planned("builder", run.ID, steps...)
	if plan.Status != interlock.PlanRefused || len(plan.Objections) != 1 || plan.Objections[0].Rule != "judge.L2.sum" || main.asked() != 1 {
		t.Fatalf("asked %d times, it is %+v", main.asked(), plan)
	}
	for _, step := range plan.Steps {
		if step.Verdict != interlock.Allow {
			t.Errorf("a step by itself is %+v", step)
		}
	}
	if said := h.last(interlock.EventPlan); !strings.Contains(said, `"subject":"plan"`) || !strings.Contains(said, "carry data out") {
		t.Errorf("the log says %s", said)
	}
	h.answers(steps[0].Input, "builder", run.ID, "plan.refused")
	main.says = says(interlock.Allow, 0)
	// A denial is remembered, for whoever hands the same steps over.
	other := h.run("clerk", interlock.RunRequest{Task: "tidy up too"})
	asked := main.asked()
	if plan := h.planned("clerk", other.ID, steps...); plan.Status != interlock.PlanRefused || main.asked() != asked {
		t.Errorf("asked %d times more, it is %s", main.asked()-asked, plan.Status)
	}
	if plan := h.planned("builder", run.ID, shellStep("touch a"), shellStep("touch b")); plan.Status != interlock.PlanAccepted {
		t.Errorf("%+v", plan)
	}
	asked = main.asked()
	h.answers("touch a", "builder", run.ID, "")
	if main.asked() != asked+1 {
		t.Errorf("a step of a plan that the judge allows is judged %d times", main.asked()-asked)
	}
	if strings.Contains(strings.Join(main.shown, "\n"), run.ID) {
		t.Errorf("the run is shown: %q", main.shown)
	}
	h.entries()
}

// TestPlanUnheard: an outage refuses a plan that changes something, and the same plan is looked at anew; what a judge objects to by scope
// an admin acknowledges.
func TestPlanUnheard(t *testing.T) {
	h, main := judgedHouse(t, "guard")
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeUnavailable} }
	run := h.run("builder", interlock.RunRequest{})
	if plan := h.planned("builder", run.ID, shellStep("touch a")); plan.Status != interlock.PlanRefused {
		t.Errorf("while it is out it is %+v", plan)
	}
	if plan := h.planned("builder", run.ID, shellStep("ls /repo")); plan.Status != interlock.PlanAccepted || main.asked() != 1 {
		t.Errorf("of reads alone it is %+v", plan)
	}
	h.planned("builder", run.ID, shellStep("touch a"))
	main.says = says(interlock.Deny, 3)
	plan := h.planned("builder", run.ID, shellStep("touch a"))
	if plan.Status != interlock.PlanWaiting || plan.Request == "" {
		t.Fatalf("back again it is %+v", plan)
	}
	request := h.standing().Requests[plan.Request]
	if !request.Owes(interlock.ObligationAdmin) || len(request.Judged) != 1 || request.Judged[0].Rule != "L3.scope" {
		t.Errorf("an admin is shown %+v", request)
	}
	strict, judge := judgedHouse(t, "asa")
	run = strict.run("builder", interlock.RunRequest{})
	judge.says = says(interlock.Allow, 0)
	if plan := strict.planned("builder", run.ID, shellStep("ls /repo")); plan.Status != interlock.PlanAccepted || judge.asked() != 1 ||
		strings.Contains(judge.shown[0], "impacts") {
		t.Errorf("under asa it is %+v, shown %q", plan, judge.shown)
	}
	alone := newHouse(t, func(c *admission.Config) { c.Profile = "asa" })
	run = alone.run("builder", interlock.RunRequest{})
	if plan := alone.planned("builder", run.ID, shellStep("ls /repo")); plan.Status != interlock.PlanRefused {
		t.Errorf("under asa without a judge it is %+v", plan)
	}
}

// TestResultIsReviewed: from tier 2 on a judge looks at what a run puts out, beside its objective, before that leaves the orchestration. What
// it denies, and what it can't be heard of, is not handed over; what stays inside is not its matter.
func TestResultIsReviewed(t *testing.T) {
	spec.Covers(t, "EC-2.5")
	h, main := judgedAt(t, 2)
	main.says = saysOf(2, `"objective":"summarise the report"`, "buy our shares")
	run := h.run("builder", interlock.RunRequest{Task: "summarise the report"})
	hand := func(run, result string) error {
		_, err := h.EndRun(t.Context(), interlock.Requester{Agent: "builder", Principal: "ada"}, run,
			interlock.RunEnd{Status: interlock.RunCompleted, Result: json.RawMessage(result)})
		return err
	}
	for range 2 { // and it is not asked twice
		refusedWith(t, hand(run.ID, `"buy our shares"`), interlock.CodeUnauthorized, "judge.L2.sum")
		if main.asked() != 1 {
			t.Errorf("asked %d times", main.asked())
		}
	}
	if said := h.last(interlock.EventRefusal); !strings.Contains(said, `"subject":"output"`) {
		t.Errorf("the log says %s", said)
	}
	for _, failure := range []interlock.JudgeFailure{interlock.JudgeTimeout, interlock.JudgeUnavailable} {
		main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: failure} }
		refusedWith(t, hand(run.ID, fmt.Sprintf("%q", "it says little "+failure)), interlock.CodeUnauthorized, "judge.unheard")
	}
	main.says = says(interlock.Allow, 0)
	if err := hand(run.ID, `"sales went up"`); err != nil {
		t.Fatal(err)
	}
	if said := h.last(interlock.EventRunEnded); !strings.Contains(said, `"subject":"output"`) {
		t.Errorf("the log says %s", said)
	}
	asked := main.asked()
	quiet := h.run("builder", interlock.RunRequest{Task: "nothing to hand over"})
	if err := hand(quiet.ID, ""); err != nil || main.asked() != asked {
		t.Errorf("%v, asked %d times of nothing", err, main.asked()-asked)
	}
	low, judge := judgedAt(t, 1)
	run = low.run("builder", interlock.RunRequest{Task: "summarise"})
	if low.completes("builder", run.ID, `"x"`); judge.asked() != 0 {
		t.Error("at tier 1 a result is judged")
	}
	bare := newHouse(t, atTier(t, 2), func(c *admission.Config) { c.Profile = "asa" })
	run = bare.run("builder", interlock.RunRequest{Task: "summarise"})
	_, err := bare.EndRun(t.Context(), interlock.Requester{Agent: "builder", Principal: "ada"}, run.ID,
		interlock.RunEnd{Status: interlock.RunCompleted, Result: json.RawMessage(`"x"`)})
	refusedWith(t, err, interlock.CodeUnauthorized, "judge.unheard")
}

// TestOutputIsReviewed: what an action of a run commits outside is judged twice, as an action and as an output beside the run's objective;
// that the action is harmless does not make the output right.
func TestOutputIsReviewed(t *testing.T) {
	spec.Covers(t, "EC-2.5")
	h, main := judgedAt(t, 2)
	main.says = saysOf(2, `"objective":"book a room"`, "newsletter")
	run := h.run("builder", interlock.RunRequest{Task: "book a room"})
	const post = "curl -d @newsletter.txt https://lists.example/post"
	a := h.propose(post, in("builder", run.ID))
	if a.Answer != interlock.Deny || a.Decisive().Rule != "judge.L2.sum" || main.asked() != 2 {
		t.Errorf("asked %d times, it is %s by %+v", main.asked(), a.Answer, a.Findings)
	}
	h.propose("touch newsletter", in("builder", run.ID))
	if main.asked() != 3 {
		t.Errorf("what stays here is judged %d times", main.asked()-2)
	}
	h.propose(post, in("builder", "session-1")) // which has no objective
	if main.asked() != 4 {
		t.Errorf("without a run it is judged %d times", main.asked()-3)
	}
	h.entries()
}

// filling is a judge of whose own context every question takes so much.
func filling(percent int) func(string) interlock.Judgment {
	return func(string) interlock.Judgment { return interlock.Judgment{Verdict: interlock.Allow, Context: percent} }
}

// TestJudgesOwnContext: a judge that is near its own limit moves the judge's layer and nothing of any agent's; the decision at hand reads
// that. Below tier 2 nothing moves, and each question comes to a judge that knows of no other.
func TestJudgesOwnContext(t *testing.T) {
	spec.Covers(t, "EC-2.17", "EC-T2.19")
	for name, c := range map[string]struct {
		tier, percent int
		want          phase.Phase
	}{"near": {2, 85, phase.Alternate}, "not yet": {2, 84, ""}, "at tier 1": {1, 99, ""}, "at tier 3": {3, 99, phase.Alternate}} {
		h, main := judgedAt(t, c.tier)
		main.says = filling(c.percent)
		h.signal(interlock.SignalContext, 49)
		a := h.propose("touch notes.txt")
		if got, held := h.phaseOf("layer:judge"); got != c.want || got != "" && held.Trigger != phase.TriggerContext {
			t.Errorf("%s: the layer is in %q by %q", name, got, held.Trigger)
		}
		if asks := a.Verdict == interlock.Ask && rule(a) == "phase.change"; asks != (c.want != "") {
			t.Errorf("%s: the change is %s by %s", name, a.Verdict, rule(a))
		}
		for _, on := range []string{"agent:claude", "system:all", "layer:gates", "layer:people"} {
			if got, _ := h.phaseOf(on); got != "" {
				t.Errorf("%s: %s is in %q", name, on, got)
			}
		}
		if a := h.propose("cat README.md"); a.Answer != interlock.Allow {
			t.Errorf("%s: a read is %s by %s", name, a.Answer, rule(a))
		}
	}
}

// TestContextsTogether: the agent and its judge near their limits, in either order, go further than either alone.
func TestContextsTogether(t *testing.T) {
	spec.Covers(t, "EC-T2.20")
	for _, tier := range []int{2, 3} {
		fill := map[string]func(h *house){
			"agent": func(h *house) { h.signal(interlock.SignalContext, 85) },
			"judge": func(h *house) {
				h.propose("touch notes.txt", func(p *admission.Case) { p.Requester = interlock.Requester{Agent: "codex", Run: "r"} })
			},
		}
		for _, order := range [][]string{{"agent"}, {"judge"}, {"agent", "judge"}, {"judge", "agent"}} {
			h, main := judgedAt(t, tier)
			main.says = filling(90)
			for _, one := range order {
				fill[one](h)
			}
			want := map[string]phase.Phase{"agent": phase.Alternate, "judge": ""}[order[0]]
			if len(order) == 2 {
				want = phase.Contingency
			}
			if got, _ := h.phaseOf("agent:claude"); got != want {
				t.Errorf("tier %d, %q: the agent is in %q, want %q", tier, order, got, want)
			}
			if got, _ := h.phaseOf("agent:codex"); got != "" {
				t.Errorf("tier %d, %q: another agent is in %q", tier, order, got)
			}
		}
	}
}

// TestSecondValidator: what is of high consequence takes the word of a second model. That they disagree is a person's to decide, and at
// tier 3 so is that there is no second one.
func TestSecondValidator(t *testing.T) {
	spec.Covers(t, "EC-3.3", "EC-T3.4")
	const push = "git push --force origin release" // which needs a person anyway; what they say stands beside
	disagree := func(a interlock.Answer) (found bool) {
		for _, f := range a.Findings {
			found = found || f.Gate == "judge" && f.Verdict == interlock.Ask && strings.Contains(f.Reason, "disagree")
		}
		return found
	}
	for name, c := range map[string]struct {
		tier          int
		first, second func(string) interlock.Judgment
		want          interlock.Verdict
		disagree      bool
	}{
		"the second denies": {3, says(interlock.Allow, 0), says(interlock.Deny, 2), interlock.Ask, true},
		"the first denies":  {3, says(interlock.Deny, 1), says(interlock.Allow, 0), interlock.Ask, true},
		"both deny":         {3, says(interlock.Deny, 2), says(interlock.Deny, 2), interlock.Deny, false},
		"one is out": {3, says(interlock.Allow, 0), func(string) interlock.Judgment {
			return interlock.Judgment{Failure: interlock.JudgeTimeout}
		}, interlock.Deny, false},
		"both allow": {3, says(interlock.Allow, 0), says(interlock.Allow, 0), interlock.Ask, false},
	} {
		second := &bench{name: "second", model: "m2", says: c.second}
		h, main := judgedAt(t, c.tier, func(cfg *admission.Config) { cfg.Judges = append(cfg.Judges, second) })
		main.says = c.first
		a := h.propose(push, asking)
		if a.Verdict != c.want || disagree(a) != c.disagree || second.asked() != 1 {
			t.Errorf("%s: the second was asked %d times, it is %s: %+v", name, second.asked(), a.Verdict, a.Findings)
		}
		if asked := h.standing().Requests[a.Request]; c.want == interlock.Ask && (len(asked.Judged) != 2 || c.disagree &&
			!asked.Owes(interlock.ObligationAdmin)) {
			t.Errorf("%s: a person is shown %+v", name, asked)
		}
	}
	unseconded := func(a interlock.Answer) bool {
		for _, f := range a.Findings {
			if f.Rule == "judge.unheard" && f.Verdict == interlock.Ask {
				return true
			}
		}
		return false
	}
	for name, c := range map[string]struct {
		tier  int
		model string
		want  bool
	}{"tier 3, one": {3, "", true}, "tier 3, twice the same model": {3, "m1", true}, "tier 3, two": {3, "m2", false}, "tier 2": {2, "", false}} {
		h, _ := judgedAt(t, c.tier, func(cfg *admission.Config) {
			if c.model != "" {
				cfg.Judges = append(cfg.Judges, &bench{name: "second", model: c.model, says: says(interlock.Allow, 0)})
			}
		})
		if a := h.propose(push, asking); unseconded(a) != c.want {
			t.Errorf("%s: %+v", name, a.Findings)
		}
		if a := h.propose("touch notes.txt"); a.Answer != interlock.Allow {
			t.Errorf("%s: of little it is %s by %s", name, a.Answer, rule(a))
		}
	}
}

// TestApprovalIsNoPrecedent: a judge that has allowed whatever it was asked, as often as you like, has loosened nothing: what rules deny is
// denied without it, what people are asked they are asked, and what differs by a character it judges anew.
func TestApprovalIsNoPrecedent(t *testing.T) {
	spec.Covers(t, "EC-RT-15")
	h, main := judgedHouse(t, "asa")
	fresh, _ := judgedHouse(t, "asa")
	const forbidden, secrets, asks = "rm -rf /", "cat ~/.aws/credentials", "git push --force origin main"
	before, shown, question := fresh.propose(forbidden), fresh.propose(secrets, asking), fresh.propose(asks, asking)
	for n := range 20 {
		if a := h.propose(fmt.Sprintf("cat table-%d", n)); a.Answer != interlock.Allow || main.asked() != n+1 {
			t.Fatalf("a benign call is %s, asked %d times", a.Answer, main.asked())
		}
	}
	if a := h.propose(forbidden); a.Answer != before.Answer || a.Answer == interlock.Allow || rule(a) != rule(before) || main.asked() != 20 {
		t.Errorf("conditioned it is %s by %s, fresh %s by %s; asked %d times", a.Answer, rule(a), before.Answer, rule(before), main.asked())
	}
	if a := h.propose(secrets, asking); a.Answer == interlock.Allow || a.Verdict != shown.Verdict || rule(a) != rule(shown) {
		t.Errorf("conditioned it is %s by %s, fresh %s by %s", a.Verdict, rule(a), shown.Verdict, rule(shown))
	}
	if a := h.propose(asks, asking); a.Verdict != question.Verdict || a.Verdict != interlock.Ask || rule(a) != rule(question) {
		t.Errorf("conditioned it is %s by %s, fresh %s by %s", a.Verdict, rule(a), question.Verdict, rule(question))
	}
	main.says = saysOf(2, "table-70")
	if a := h.propose("cat table-70"); a.Answer != interlock.Deny || rule(a) != "judge.L2.sum" {
		t.Errorf("nearly the same is %s by %s", a.Answer, rule(a))
	}
}

// TestOneWordElsewhereIsNotEnoughHere: what one judge allowed an agent at tier 2 is remembered for agents there; at tier 3, where one model's
// word is not enough, the same action is asked about (EC-3.3).
func TestOneWordElsewhereIsNotEnoughHere(t *testing.T) {
	main := &bench{name: "main", says: says(interlock.Allow, 0)}
	rules := under(t, "maso: {tier: 2, first_use: noted}\ntypes:\n"+
		"  - {name: planner, accountable: ada, tools: [\"*\"], tier: 3}\n  - {name: builder, accountable: bob, tools: [\"*\"], tier: 2}\n")
	h := newHouse(t, rules, func(c *admission.Config) {
		c.Attended, c.Judges, c.JudgeWithin = true, []interlock.Judge{main}, time.Hour
	})
	for agent, kind := range map[string]string{"high": "planner", "low": "builder"} {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: agent, Type: kind, Principal: "ada",
			Trust: interlock.TrustCommunityReviewed, Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	alone := func(agent string) (found bool) {
		a := h.propose("git push --force origin release", asking, func(p *admission.Case) {
			p.Requester = interlock.Requester{Principal: "ada", Agent: agent, Run: "run-1"}
		})
		for _, f := range a.Findings {
			found = found || f.Rule == "judge.unheard"
		}
		return found
	}
	if alone("low") || main.asked() != 1 {
		t.Errorf("at tier 2: asked %d times", main.asked())
	}
	if !alone("high") {
		t.Error("at tier 3 one model's word of elsewhere is enough")
	}
}
