package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// alarmed counts the codes of the alerts in the log, oldest first.
func (h *house) alarmed(code string) (n int) {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type == interlock.EventAlert && strings.Contains(string(e.Body), `"`+code+`"`) {
			n++
		}
	}
	return n
}

// TestReviewTimes: from tier 2 on a question waits for 72, 24, 4 or 1 hours by its risk; people are told after half of that and after four
// fifths, once each; then it is denied, and a yes that comes later is refused.
func TestReviewTimes(t *testing.T) {
	spec.Covers(t, "EC-2.9")
	h := newHouse(t, atTier(t, 2))
	asked := h.propose("git push --force origin main")
	r := h.requestNow(asked.Request)
	level := ruleset.LevelOf(asked.Risk)
	within, timed := h.Rules().Maso().Within(level)
	if !timed || r.Expires.Sub(r.Created) != within || r.Review != level.String() || within == time.Hour {
		t.Fatalf("risk %d: %v, level %q", asked.Risk, r.Expires.Sub(r.Created), r.Review)
	}
	for _, step := range []struct {
		percent    time.Duration
		half, late int
	}{{49, 0, 0}, {50, 1, 0}, {79, 1, 0}, {80, 1, 1}, {99, 1, 1}} {
		h.now = r.Created.Add(within / 100 * step.percent)
		for range 2 {
			if _, err := h.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if half, late := h.alarmed("review-half"), h.alarmed("review-late"); half != step.half || late != step.late {
			t.Errorf("after %d%%: %d and %d alerts, want %d and %d", step.percent, half, late, step.half, step.late)
		}
	}
	h.now = r.Expires
	if err := h.approve(asked.Request, interlock.Allow); err == nil {
		t.Error("a yes counts that came after its time")
	}
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.requestNow(asked.Request); got.Status != interlock.RequestExpired {
		t.Errorf("it is %s", got.Status)
	}
	if a := h.propose("git push --force origin main"); a.Answer.Allowed() || h.count(interlock.EventApprovalRefused) != 1 {
		t.Errorf("%v, %d refusals", a.Answer, h.count(interlock.EventApprovalRefused))
	}

	one := newHouse(t, under(t, "maso: {tier: 2, first_use: noted, review: {low: 10m, medium: 10m, high: 10m, critical: 10m}}"))
	late := one.propose("echo x >> ~/.profile")
	r = one.requestNow(late.Request)
	one.now = r.Created.Add(9 * time.Minute) // nobody looked at half of the time
	if _, err := one.Expire(t.Context()); err != nil || r.Expires.Sub(r.Created) != 10*time.Minute ||
		one.alarmed("review-half") != 0 || one.alarmed("review-late") != 1 {
		t.Errorf("%v: %v, %d, %d", err, r.Expires.Sub(r.Created), one.alarmed("review-half"), one.alarmed("review-late"))
	}
	if err := one.approve(late.Request, interlock.Allow); err != nil {
		t.Error(err)
	}
	if a := one.propose("echo x >> ~/.profile"); a.Answer != interlock.Allow {
		t.Errorf("%v", a.Answer)
	}
	none := newHouse(t)
	if r := none.requestNow(none.propose("git push --force origin main").Request); r.Expires.Sub(r.Created) != time.Hour || r.Review != "" {
		t.Errorf("without a tier: %v %q", r.Expires.Sub(r.Created), r.Review)
	}
}

// TestLatency: an orchestration that takes longer than it may is told of once, by whoever looks or by a decision in it, before it has
// taken twice as long.
func TestLatency(t *testing.T) {
	spec.Covers(t, "EC-T2.10")
	const objective = 1500 * time.Millisecond
	for name, look := range map[string]func(*house, interlock.Run){
		"whoever looks": func(h *house, _ interlock.Run) {
			if _, err := h.Oversee(h.t.Context()); err != nil {
				h.t.Error(err)
			}
		},
		"a decision": func(h *house, run interlock.Run) { h.answers("ls", run.Agent, run.ID, "") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, under(t, "maso: {tier: 1, latency: [{within: 1500ms}, {types: [other], within: 1ms}]}"))
			run := h.run("claude", interlock.RunRequest{Task: "count"})
			if run.Latency != objective {
				t.Fatalf("it may take %v", run.Latency)
			}
			h.now = run.Created.Add(objective - time.Millisecond)
			if look(h, run); h.alarmed("latency") != 0 {
				t.Error("too early")
			}
			h.now = run.Created.Add(objective + 200*time.Millisecond)
			if look(h, run); h.alarmed("latency") != 1 {
				t.Errorf("%d alerts before twice the time", h.alarmed("latency"))
			}
			h.now = run.Created.Add(3 * objective)
			if look(h, run); h.alarmed("latency") != 1 {
				t.Error("told twice")
			}
			quick := h.run("claude", interlock.RunRequest{Task: "more"})
			if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "claude"}, quick.ID,
				interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
				t.Fatal(err)
			}
			h.now = h.now.Add(time.Hour)
			if look(h, run); h.alarmed("latency") != 1 {
				t.Error("one that has ended in time is told of")
			}
		})
	}
}

// TestProbes: questions with seeded errors wait among the others, permit nothing whatever is answered, count for nobody, and the share of
// them that people found is held against what is asked for.
func TestProbes(t *testing.T) {
	spec.Covers(t, "EC-T1.7")
	h := newHouse(t)
	ids, err := h.Probe(t.Context(), 6, "quarterly")
	if err != nil || len(ids) != 6 {
		t.Fatal(ids, err)
	}
	var answered []interlock.ApprovalRequest
	for n, id := range ids[:5] {
		verdict := interlock.Deny
		if n == 0 {
			verdict = interlock.Allow
		}
		r := h.requestNow(id)
		if !quorum.IsProbe(r) || strings.Contains(strings.ToLower(r.Display+r.Reason+r.Requester.Agent), "probe") {
			t.Errorf("it can be told by looking: %+v", r)
		}
		if err := h.approve(id, verdict); err != nil {
			t.Fatal(err)
		}
		answered = append(answered, h.requestNow(id))
	}
	asked := h.requestNow(ids[0])
	_, input, _ := strings.Cut(asked.Display, "\n\n")
	for _, kind := range []interlock.Kind{asked.Kind(), interlock.KindShell} { // what was shown, proposed by the agent that was named
		a := h.Propose(t.Context(), interlock.Proposal{Action: interlock.Action{Kind: kind, Input: strings.TrimSpace(input), Dir: "/srv/app"},
			Requester: asked.Requester, View: interlock.View{Workspace: "/srv/app", Home: "/home/alice"}})
		if a.Approval != "" {
			t.Errorf("a yes to a probe answered %s", kind)
		}
	}
	found := quorum.ProbedOf(6, answered)
	if found.Found != 4 || found.Missed != 1 || found.Expired != 1 || found.Passed || found.Misses[0] != ids[0] {
		t.Errorf("%+v", found)
	}
	if all := quorum.ProbedOf(4, answered[1:]); !all.Passed || all.Share != 1 {
		t.Errorf("%+v", all)
	}
	var answers []quorum.Answered
	for _, r := range answered {
		answers = append(answers, quorum.AnsweredFrom(r, *r.Approval))
	}
	if health := quorum.HealthOf(answers); health.Answers != 0 || health.Probes != 5 || health.Missed != 1 || len(health.Alarms) != 0 {
		t.Errorf("%+v", health)
	}
	for n := range answers {
		answers[n].Verdict = interlock.Allow
	}
	if health := quorum.HealthOf(answers); len(health.Alarms) != 1 || !strings.Contains(health.Alarms[0], "seeded") {
		t.Errorf("%+v", health)
	}
	if h.count(interlock.EventProbe) != 1 || h.count(interlock.EventReviewRequest) > 2 {
		t.Errorf("%d, %d", h.count(interlock.EventProbe), h.count(interlock.EventReviewRequest))
	}
	if _, err := h.Probe(t.Context(), 21, ""); err == nil {
		t.Error("more than can be looked at")
	}
}
