package admission_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/internal/rollback"
	"interlock/internal/ruleset"
)

var badEvent = strings.Repeat("ab", 32)

// twoSteps is a plan of which claude carried out one action that stays, and codex read what it wrote.
func twoSteps(seed dataflow.Seed, at time.Time) rollback.Plan {
	return rollback.Plan{Schema: rollback.Schema, Event: seed.Event, Agent: seed.Agent, Since: seed.Since, Size: 9, Agents: []rollback.Affected{
		{Agent: "claude", Sure: dataflow.Certain, Steps: 1}, {Agent: "codex", Sure: dataflow.Certain, Steps: 1}},
		Steps: []rollback.Step{
			{N: 1, Event: strings.Repeat("cd", 32), At: at, Agent: "codex", Did: "send_mail", By: rollback.ByPerson, Undo: rollback.UndoNever,
				Residue: "codex: message a@example.com"},
			{N: 2, Event: badEvent, At: at, Agent: "claude", Did: "write facts", By: rollback.ByPerson, Undo: rollback.UndoReverse},
		}, Residue: []string{"codex: message a@example.com"}}
}

// rollingBack is a house whose log has something to undo, and what an order to begin with it says beside its subject.
func rollingBack(t *testing.T) (*house, string) {
	t.Helper()
	var at time.Time
	h := newHouse(t, func(c *admission.Config) {
		at = c.Now()
		c.Planner = func(_ context.Context, seed dataflow.Seed, _ int64, _ *ruleset.Ruleset) (rollback.Plan, error) {
			return twoSteps(seed, at), nil
		}
	})
	plan := twoSteps(dataflow.Seed{Event: badEvent}, at)
	digest, err := plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h, runs.RollbackDetail{Size: 9, Plan: digest, Hold: []string{"claude", "codex"}}.String()
}

// begun begins it by order of an admin, and returns the rollback's id.
func (h *house) begun(t *testing.T, detail string) string {
	t.Helper()
	h.employ("rosa", quorum.RoleAdmin)
	if err := h.moves(interlock.VerbBeginRollback, "event:"+badEvent, detail, "rosa"); err != nil {
		t.Fatal(err)
	}
	list, err := runs.Rollbacks(t.Context(), h, false, 0)
	if err != nil || len(list.Rows) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list.Rows[0].ID
}

// TestRollbackHolds: whoever it touches is isolated with the order, what they were given in advance since then is over, and the last
// step that is told ends it and names what stays.
func TestRollbackHolds(t *testing.T) {
	h, detail := rollingBack(t)
	h.employ("olga", quorum.RoleOperator)
	begun := h.begun(t, detail)
	for _, agent := range []string{"claude", "codex"} {
		holds, err := h.Holds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		isolated := false
		for _, hold := range holds {
			isolated = isolated || hold.Name() == "agent:"+agent && hold.Phase == phase.Alternate
		}
		if !isolated {
			t.Errorf("%s goes on: %+v", agent, holds)
		}
	}
	if a := h.propose("ls"); a.Answer.Allowed() {
		t.Error("whoever is rolled back acts on")
	}
	tell := func(step, how string) error { return h.moves(interlock.VerbTellRollback, begun+step, how, "olga") }
	if err := tell("/2", "failed stays=the printed report"); err != nil {
		t.Fatal(err)
	}
	if err := tell("/2", "done"); err != nil { // it could be undone after all
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{{"/2", "done"}, {"/3", "done"}, {"/0", "done"}, {"", "done"}, {"/1", "perhaps"}, {"/x", "done"}} {
		if err := tell(wrong[0], wrong[1]); codeOf(err) == "" {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if err := tell("/1", "done"); err != nil {
		t.Fatal(err)
	}
	body, steps, err := runs.RollbackNamed(t.Context(), h, begun)
	if err != nil || body.Ended.IsZero() || body.Failed != 0 || len(steps) != 2 {
		t.Fatalf("%+v %+v %v", body, steps, err)
	}
	if len(body.Residue) != 1 || body.Residue[0].What != "codex: message a@example.com" {
		t.Errorf("what stays is %+v", body.Residue)
	}
	types := h.entries()
	if n := len(types); types[n-1] != interlock.EventAlert || types[n-2] != interlock.EventRollbackEnd || types[n-3] != interlock.EventRollbackStep {
		t.Errorf("it ends with %v", types[n-3:])
	}
	if err := tell("/1", "failed"); codeOf(err) == "" {
		t.Error("a rollback that has ended takes more")
	}
}

// TestRollbackAsShown: an order counts for the plan that was shown to who signed it and for no other, and for what can be held.
func TestRollbackAsShown(t *testing.T) {
	h, detail := rollingBack(t)
	h.employ("rosa", quorum.RoleAdmin)
	for what, one := range map[string][2]string{
		"another plan":  {"event:" + badEvent, strings.Replace(detail, "sha256:", "sha256:0", 1)},
		"another event": {"event:" + strings.Repeat("ef", 32), detail},
		"no subject":    {"event:", detail},
		"no time":       {"agent:claude", detail},
		"no detail":     {"event:" + badEvent, ""},
		"half a detail": {"event:" + badEvent, `{"log_size":9}`},
		"an odd name":   {"event:" + badEvent, strings.Replace(detail, `"claude"`, `"a b\u0000"`, 1)},
	} {
		if err := h.moves(interlock.VerbBeginRollback, one[0], one[1], "rosa"); codeOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list, err := runs.Rollbacks(t.Context(), h, false, 0); err != nil || len(list.Rows) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	holds, err := h.Holds(t.Context())
	if err != nil || len(holds) != 0 {
		t.Errorf("%+v, %v", holds, err)
	}
}

// TestUsesAreBounded: what an agent says it uses is recorded as far as it can be an event, and refused otherwise; an order without
// a program that reads the log is refused.
func TestUsesAreBounded(t *testing.T) {
	h := newHouse(t)
	h.employ("rosa", quorum.RoleAdmin)
	if err := h.moves(interlock.VerbBeginRollback, "event:"+badEvent, "{}", "rosa"); codeOf(err) != interlock.CodeUnavailable {
		t.Error(err)
	}
	for what, uses := range map[string][]string{"good": {badEvent}, "none": nil, "short": {"ab"}, "upper": {strings.ToUpper(badEvent)},
		"many": strings.Split(strings.Repeat(badEvent+",", 70)+badEvent, ",")} {
		a := h.propose("ls", func(p *admission.Case) { p.Uses = uses })
		if want := what == "good" || what == "none"; a.Answer.Allowed() != want {
			t.Errorf("%s: %+v", what, a)
		}
		err := h.Report(t.Context(), interlock.Requester{Agent: "claude", Principal: "ann"},
			interlock.Outcome{Event: a.Event, Status: interlock.OutcomeSuccess, Uses: uses})
		if bad := codeOf(err) == interlock.CodeInvalid; bad == (what == "good" || what == "none") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAnothersWordOfAnAction: what another agent says has become of an action keeps it out of no rollback, even where a log that was
// written before such words were refused holds one.
func TestAnothersWordOfAnAction(t *testing.T) {
	h := newHouse(t)
	a := h.propose("touch facts.json")
	payload, err := auditlog.OutcomeRecord{Outcome: interlock.Outcome{Event: a.Event, Status: interlock.OutcomeSkipped}}.Payload()
	if err != nil {
		t.Fatal(err)
	}
	draft := ledger.Draft{Type: interlock.EventOutcome, Run: "eve\x00", Seed: "00112233445566778899aabbccddeeff", Actor: "eve", Role: "agent",
		Recorded: h.now, Snapshots: map[string]string{"ruleset": "none"}, Payload: payload}
	if _, err := h.store.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{draft}}); err != nil {
		t.Fatal(err)
	}
	var l dataflow.Log
	for _, e := range h.log() {
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if acts := l.Actions(); len(acts) != 1 || acts[0].Event != a.Event {
		t.Errorf("%d actions are known to have run", len(acts))
	}
}

// TestOnesOwnWordOfAnAction: an agent that says that it did not do what it was allowed keeps that out of no rollback; what carried nothing
// out for it, and says so, does.
func TestOnesOwnWordOfAnAction(t *testing.T) {
	h := newHouse(t)
	own, carried := h.propose("touch facts.json"), h.propose("touch other.json")
	who := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	skipped := func(a interlock.Answer) interlock.Outcome {
		return interlock.Outcome{Event: a.Event, Status: interlock.OutcomeSkipped}
	}
	if err := h.Report(t.Context(), who, skipped(own)); err != nil {
		t.Fatal(err)
	}
	if err := h.Carried(t.Context(), who, skipped(carried), interlock.Measured{}); err != nil {
		t.Fatal(err)
	}
	var l dataflow.Log
	for _, e := range h.log() {
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	acts := l.Actions()
	if len(acts) != 1 || acts[0].Event != own.Event || !acts[0].Unfinished() {
		t.Errorf("%d actions are known to have run: %+v", len(acts), acts)
	}
}
