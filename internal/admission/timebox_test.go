package admission_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

const boxRules = `
maso: {tier: 2, first_use: noted}
runs: {depth: 2}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 2}
  - {name: clerk, accountable: ada, tools: ["*"], time_box: 10m}
`

// changes gives an order about a run as an operator, who signs it.
func (h *house) changes(run, detail, operator string) error {
	return h.moves(interlock.VerbChangeRun, run, detail, operator)
}

// TestATimeBoxPauses: what a run was at is kept when its time is over, what it had asked expires, people are told, nothing is done in it,
// and a person gives it more time, which is bounded.
func TestATimeBoxPauses(t *testing.T) {
	spec.Covers(t, "EC-3.4", "EC-T3.5")
	for name, look := range map[string]func(h *house, run string){
		"a server looks":        func(h *house, _ string) { h.sweep() },
		"the agent goes on":     func(h *house, run string) { h.answers("ls /repo", "clerk", run, "type.run") },
		"a restart in between":  func(h *house, _ string) { h.Admission = again(h.t, h, sameRules(h)); h.sweep() },
		"two look at that time": func(h *house, run string) { h.answers("ls /repo", "clerk", run, "type.run"); h.sweep() },
	} {
		h := team(t, boxRules)
		h.employ("olga", quorum.RoleOperator)
		run := h.run("clerk", interlock.RunRequest{Task: "count", Box: 3600})
		if left := run.Until.Sub(h.now); left != 10*time.Minute {
			t.Fatalf("it has %s", left)
		}
		if _, err := h.Checkpoint(t.Context(), interlock.Requester{Agent: "clerk", Principal: "ada"}, run.ID, checkpointOf("must")); err != nil {
			t.Fatal(err)
		}
		asked := h.propose("git push --force origin feature", in("clerk", run.ID))
		if asked.Request == "" {
			t.Fatalf("%+v", asked)
		}
		h.now = h.now.Add(10*time.Minute - time.Second)
		h.sweep()
		h.answers("ls /repo", "clerk", run.ID, "")
		h.now = h.now.Add(time.Second)
		look(h, run.ID)
		h.answers("ls /repo", "clerk", run.ID, "type.run")
		if r := h.requestNow(asked.Request); r.Status != interlock.RequestExpired {
			t.Errorf("%s: what it had asked is %s", name, r.Status)
		}
		told := name == "a restart in between" || len(h.alerts) == 1 && strings.Contains(h.alerts[0], "interlock runs extend "+run.ID)
		if h.count(interlock.EventRunPaused) != 1 || !told {
			t.Errorf("%s: %d events, %q", name, h.count(interlock.EventRunPaused), h.alerts)
		}
		h.now = h.now.Add(-time.Hour)
		h.answers("ls /repo", "clerk", run.ID, "phase.time") // a clock that is set back gives no time
		h.now = h.now.Add(time.Hour)
		kept := h.snapshotOf(interlock.EventRunPaused)
		for _, want := range []string{run.ID, asked.Request, `"checkpoint":"sha256:`, `"task":"count"`, `"last_actions":[{`} {
			if !strings.Contains(kept, want) {
				t.Errorf("%s: what was kept has no %s: %s", name, want, kept)
			}
		}
		for detail, code := range map[string]interlock.Code{"extend=1h": interlock.CodeLimited, "extend=-5m": interlock.CodeInvalid,
			"extend=soon": interlock.CodeInvalid, "more": interlock.CodeInvalid} {
			if err := h.changes(run.ID, detail, "olga"); codeOf(err) != code {
				t.Errorf("%s: %s: %v", name, detail, err)
			}
		}
		h.answers("ls /repo", "clerk", run.ID, "type.run")
		if err := h.changes(run.ID, runs.ExtendDetail(5*time.Minute), "olga"); err != nil {
			t.Fatal(err)
		}
		h.answers("ls /repo", "clerk", run.ID, "")
		h.now = h.now.Add(5 * time.Minute)
		h.sweep()
		h.answers("ls /repo", "clerk", run.ID, "type.run")
		if h.count(interlock.EventRunPaused) != 2 {
			t.Errorf("%s: the second time leaves %d events", name, h.count(interlock.EventRunPaused))
		}
		if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "clerk"}, run.ID, interlock.RunEnd{Status: interlock.RunFailed}); err != nil {
			t.Error(err)
		}
		if _, held := h.phaseOf("run:" + run.ID); held.Phase != "" {
			t.Errorf("%s: what has ended is still paused: %+v", name, held)
		}
		h.entries()
	}
}

// snapshotOf is what stood before the first event of a type.
func (h *house) snapshotOf(kind interlock.EventType) string {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type != kind {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		text, _, err := h.store.Blob(h.t.Context(), interlock.Digest(event.Snapshots[auditlog.SnapshotPace]))
		if err != nil {
			h.t.Fatal(err)
		}
		return string(text)
	}
	return ""
}

// TestEveryAutonomousRunHasABox: at tier 3 an hour, whatever was asked for; elsewhere as long as was asked for.
func TestEveryAutonomousRunHasABox(t *testing.T) {
	spec.Covers(t, "EC-3.4")
	for tier, want := range map[int]time.Duration{0: 0, 2: 0, 3: time.Hour} {
		h := newHouse(t, atTier(t, tier))
		if run := h.run("claude", interlock.RunRequest{}); want == 0 && !run.Until.IsZero() || want > 0 && run.Until.Sub(h.now) != want {
			t.Errorf("tier %d: until %s", tier, run.Until)
		}
	}
}

// TestAPausedRunPausesWhatItDelegated: an orchestration whose time is over takes nobody further.
func TestAPausedRunPausesWhatItDelegated(t *testing.T) {
	h := team(t, boxRules)
	root := h.run("planner", interlock.RunRequest{Box: 60})
	below := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "clerk"})
	beside := h.run("planner", interlock.RunRequest{})
	h.now = h.now.Add(time.Minute)
	h.sweep()
	h.answers("ls /repo", "clerk", below.ID, "type.run")
	h.answers("ls /repo", "planner", beside.ID, "")
	if err := h.changes(root.ID, "extend=1h", "nobody"); err == nil {
		t.Error("nobody gives it more time")
	}
}

// checkpointOf is a checkpoint with constraints of some kinds.
func checkpointOf(kinds ...interlock.RunConstraintKind) interlock.RunCheckpoint {
	c := interlock.RunCheckpoint{System: interlock.Digest("sha256:" + strings.Repeat("a", 64)), Goal: "settle the invoices",
		Constraints: []interlock.RunConstraint{}, Decisions: []string{"by date"}, Pending: []string{"the last three"}}
	for _, kind := range kinds {
		c.Constraints = append(c.Constraints, interlock.RunConstraint{Kind: kind, Text: string(kind) + ":  keep\tthe \"März\" file\n"})
	}
	return c
}

// TestCheckpoints: what a task asks for comes back byte for byte, is fixed by the first checkpoint, and another text of it, or less of it,
// is taken only once a person has accepted exactly that.
func TestCheckpoints(t *testing.T) {
	spec.Covers(t, "EC-2.16", "EC-T2.18")
	h := team(t, boxRules)
	h.employ("olga", quorum.RoleOperator)
	by := interlock.Requester{Agent: "planner", Principal: "ada"}
	run := h.run("planner", interlock.RunRequest{})
	keep := func(c interlock.RunCheckpoint) (interlock.RunKept, error) {
		return h.Checkpoint(t.Context(), by, run.ID, c)
	}
	if _, err := h.Resume(t.Context(), by, run.ID); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("before there is one: %v", err)
	}
	first := checkpointOf("must", "never", "exactly")
	kept, err := keep(first)
	if err != nil || kept.Number != 1 {
		t.Fatalf("%+v, %v", kept, err)
	}
	if again, err := keep(first); err != nil || again.Number != 1 {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	later := checkpointOf("must", "never", "exactly")
	later.Pending, later.Decisions = nil, append(later.Decisions, "none of 2019")
	if kept, err = keep(later); err != nil || kept.Number != 2 {
		t.Fatalf("%+v, %v", kept, err)
	}
	other := checkpointOf("must", "never", "exactly")
	other.Constraints[1].Text += " "
	less := checkpointOf("must", "never")
	more := checkpointOf("must", "never", "exactly", "must")
	none := checkpointOf()
	prompt := checkpointOf("must", "never", "exactly")
	prompt.System = interlock.Digest("sha256:" + strings.Repeat("b", 64))
	for says, c := range map[string]interlock.RunCheckpoint{"/constraints/1": other, "has lost 1 of": less, "has more": more, "has lost 3": none,
		"/system_prompt": prompt} {
		if _, err := keep(c); codeOf(err) != interlock.CodeConflict || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	h.Admission = again(t, h, sameRules(h))
	got, err := h.Resume(t.Context(), by, run.ID)
	text, _ := json.Marshal(got.Constraints)
	want, _ := json.Marshal(first.Constraints)
	if err != nil || string(text) != string(want) || got.Number != 2 || got.System != first.System {
		t.Errorf("%s, %v", text, err)
	}
	_, err = keep(less)
	refused := (*interlock.Error)(nil)
	errors.As(err, &refused)
	digest := refused.Message[strings.Index(refused.Message, "sha256:"):][:71]
	if err := h.changes(run.ID, runs.AcceptDetail(interlock.Digest("sha256:"+strings.Repeat("0", 64))), "olga"); err != nil {
		t.Fatal(err)
	}
	if _, err := keep(less); codeOf(err) != interlock.CodeConflict {
		t.Errorf("another digest was accepted: %v", err)
	}
	if err := h.changes(run.ID, runs.AcceptDetail(interlock.Digest(digest)), "olga"); err != nil {
		t.Fatal(err)
	}
	if _, err := keep(other); codeOf(err) != interlock.CodeConflict {
		t.Errorf("others than were accepted: %v", err)
	}
	if kept, err = keep(less); err != nil || kept.Number != 3 {
		t.Errorf("with a person's word: %+v, %v", kept, err)
	}
	if _, err := keep(first); codeOf(err) != interlock.CodeConflict {
		t.Errorf("that word counts once: %v", err)
	}
	for name, who := range map[string]string{"another agent": "clerk", "nobody": "stranger"} {
		who := interlock.Requester{Agent: who, Principal: "ada"}
		if _, err := h.Resume(t.Context(), who, run.ID); codeOf(err) != interlock.CodeNotFound {
			t.Errorf("%s goes on: %v", name, err)
		}
		if _, err := h.Checkpoint(t.Context(), who, run.ID, less); codeOf(err) != interlock.CodeNotFound {
			t.Errorf("%s keeps one: %v", name, err)
		}
	}
	h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "planner", To: phase.Alternate, Trigger: phase.TriggerSignal,
		Why: "it drifts"})
	less.Pending = nil
	if _, err := keep(less); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("of an agent that is isolated: %v", err)
	}
	h.entries()
}

// TestCheckpointsAreBounded: what is missing, too long, unreadable or secret is refused, naming the member.
func TestCheckpointsAreBounded(t *testing.T) {
	h := team(t, boxRules)
	run := h.run("planner", interlock.RunRequest{})
	for field, edit := range map[string]func(*interlock.RunCheckpoint){
		"/system_prompt":          func(c *interlock.RunCheckpoint) { c.System = "you are a clerk" },
		"/goal":                   func(c *interlock.RunCheckpoint) { c.Goal = " " },
		"/constraints":            func(c *interlock.RunCheckpoint) { c.Constraints = nil },
		"/constraints/0/kind":     func(c *interlock.RunCheckpoint) { c.Constraints[0].Kind = "maybe" },
		"/constraints/0/text":     func(c *interlock.RunCheckpoint) { c.Constraints[0].Text = strings.Repeat("x", 2049) },
		"/decisions/0":            func(c *interlock.RunCheckpoint) { c.Decisions[0] = "a\x00b" },
		"/pending/0":              func(c *interlock.RunCheckpoint) { c.Pending[0] = "use AKIAIOSFODNN7EXAMPLE" },
		"/pending":                func(c *interlock.RunCheckpoint) { c.Pending = make([]string, 101) },
		"has at most":             func(c *interlock.RunCheckpoint) { c.Constraints = manyConstraints(60) },
		"/constraints: has more ": func(c *interlock.RunCheckpoint) { c.Constraints = manyConstraints(65) },
	} {
		c := checkpointOf("must")
		edit(&c)
		if _, err := h.Checkpoint(t.Context(), interlock.Requester{Agent: "planner"}, run.ID, c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := h.Resume(t.Context(), interlock.Requester{Agent: "planner"}, run.ID); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("one was kept: %v", err)
	}
}

func manyConstraints(n int) (list []interlock.RunConstraint) {
	for i := range n {
		list = append(list, interlock.RunConstraint{Kind: interlock.ConstraintMust, Text: fmt.Sprint(i, strings.Repeat("x", 1500))})
	}
	return list
}

// TestRotation: three quarters into a context people are told to have it rotated, a bit later changes are asked about until a checkpoint
// was kept, the task goes on after it, and nearly at the end nothing passes.
func TestRotation(t *testing.T) {
	spec.Covers(t, "EC-2.16", "EC-T2.17")
	h := team(t, boxRules)
	by := interlock.Requester{Agent: "planner", Principal: "ada"}
	run := h.run("planner", interlock.RunRequest{})
	tell := func(value int) {
		t.Helper()
		h.now = h.now.Add(time.Minute)
		if _, err := h.Signal(t.Context(), "meter", interlock.Signal{Kind: interlock.SignalContext, Agent: "planner", Run: run.ID,
			Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Checkpoint(t.Context(), by, run.ID, checkpointOf("must")); err != nil { // long before: what came after it is not in it
		t.Fatal(err)
	}
	tell(76)
	tell(78)
	if n := strings.Count(strings.Join(h.alerts, "\n"), "context-rotate"); n != 1 {
		t.Errorf("people are told %d times: %q", n, h.alerts)
	}
	h.answers("touch a", "planner", run.ID, "")
	tell(80)
	h.answers("ls /repo", "planner", run.ID, "")
	h.answers("touch a", "planner", run.ID, "context.checkpoint")
	later := checkpointOf("must")
	later.Decisions = append(later.Decisions, "none of 2019")
	if _, err := h.Checkpoint(t.Context(), by, run.ID, later); err != nil {
		t.Fatal(err)
	}
	h.answers("touch a", "planner", run.ID, "")
	tell(10) // a new context, which went on from there
	kept, err := h.Resume(t.Context(), by, run.ID)
	if err != nil || kept.Decisions[1] != "none of 2019" || kept.System != later.System {
		t.Errorf("%+v, %v", kept, err)
	}
	tell(81)
	h.answers("touch a", "planner", run.ID, "context.checkpoint") // once more it is full, and what was kept is of before
	if err := h.BindRun(t.Context(), by, run.ID, "s1"); err != nil {
		t.Fatal(err)
	}
	h.answers("touch a", "planner", "s1", "context.checkpoint")
	h.answers("touch a", "clerk", "s2", "")
	if _, err := h.Signal(t.Context(), "meter", interlock.Signal{Kind: interlock.SignalContext, Agent: "planner", Run: run.ID, Value: 96}); err != nil {
		t.Fatal(err)
	}
	a := h.propose("ls /repo", in("planner", run.ID))
	full := false
	for _, f := range a.Findings {
		full = full || f.Rule == "context.full" && f.Verdict == interlock.Deny
	}
	if a.Answer != interlock.Deny || !full {
		t.Errorf("%v %+v", a.Answer, a.Findings)
	}
	supervised := newHouse(t, atTier(t, 1))
	if _, err := supervised.Signal(t.Context(), "meter", context85(96)); err != nil {
		t.Fatal(err)
	}
	goesOn(t, supervised, "at tier 1 people are told, and that is all", interlock.Allow)
}
