package admission_test

import (
	"encoding/json"
	"slices"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/spec"
)

// did proposes a command through a door and tells how it ended: as whoever carried it out, or as whoever reports it.
func (h *house) did(command, agent, run, door string, status interlock.OutcomeStatus, carried bool) interlock.Answer {
	h.t.Helper()
	a := h.propose(command, in(agent, run), func(p *admission.Case) { p.Door = door })
	r, o := interlock.Requester{Agent: agent, Principal: "ada", Run: run}, interlock.Outcome{Action: a.Action, Event: a.Event, Status: status}
	var err error
	if carried {
		err = h.Carried(h.t.Context(), r, o, interlock.Measured{})
	} else {
		err = h.Report(h.t.Context(), r, o)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) completes(agent, run, result string) interlock.Run {
	h.t.Helper()
	ended, err := h.EndRun(h.t.Context(), interlock.Requester{Agent: agent, Principal: "ada"}, run,
		interlock.RunEnd{Status: interlock.RunCompleted, Result: json.RawMessage(result)})
	if err != nil {
		h.t.Fatal(err)
	}
	return ended
}

// TestDroppedCallMakesIncomplete: a run whose task requires a call that nobody carried out, or that failed last, ends incomplete whatever its
// agent says, and its result is taken from nobody; one whose calls were carried out is completed.
func TestDroppedCallMakesIncomplete(t *testing.T) {
	spec.Covers(t, "EC-2.8", "EC-T2.9")
	h := team(t)
	required := interlock.RunRequest{Task: "test it", Tools: []string{"go test*", "git status"}}
	for name, tc := range map[string]struct {
		do      func(run string)
		missing []string
	}{
		"nothing": {func(string) {}, []string{"go test*", "git status"}},
		"one dropped": {func(run string) { h.did("go test ./...", "planner", run, "exec", interlock.OutcomeSuccess, true) },
			[]string{"git status"}},
		"one failed last": {func(run string) {
			h.did("go test ./...", "planner", run, "exec", interlock.OutcomeSuccess, true)
			h.did("go test ./...", "planner", run, "exec", interlock.OutcomeFailure, true)
			h.did("git status", "planner", run, "hook", interlock.OutcomeSuccess, false)
		}, []string{"go test*"}},
		"its own word": {func(run string) {
			h.did("go test ./...", "planner", run, "http", interlock.OutcomeSuccess, false)
			h.did("git status", "planner", run, "http", interlock.OutcomeSuccess, false)
		}, []string{"go test*", "git status"}},
		"hidden among others": {func(run string) {
			h.did("go test ./... || true", "planner", run, "exec", interlock.OutcomeSuccess, true)
			h.did("echo git status", "planner", run, "exec", interlock.OutcomeSuccess, true)
		}, []string{"go test*", "git status"}},
		"in another run": {func(string) {
			h.did("go test ./...", "planner", "s1", "exec", interlock.OutcomeSuccess, true)
			h.did("git status", "planner", "s1", "exec", interlock.OutcomeSuccess, true)
		}, []string{"go test*", "git status"}},
		"both": {func(run string) {
			h.did("go test ./...", "planner", run, "exec", interlock.OutcomeFailure, true)
			h.did("go test ./...", "planner", run, "exec", interlock.OutcomeSuccess, true)
			h.did("git status", "planner", run, "hook", interlock.OutcomeSuccess, false)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			required.Task = name
			run := h.run("planner", required)
			tc.do(run.ID)
			ended := h.completes("planner", run.ID, `{"sum":1}`)
			want := interlock.RunCompleted
			if tc.missing != nil {
				want = interlock.RunIncomplete
			}
			if ended.Status != want || !slices.Equal(ended.Missing, tc.missing) || (ended.Why == "") != (tc.missing == nil) {
				t.Errorf("it is %s, missing %q: %s", ended.Status, ended.Missing, ended.Why)
			}
			if again := h.completes("planner", run.ID, ""); again.Status != want {
				t.Errorf("told again it is %s", again.Status)
			}
			log := h.log()
			event, err := auditlog.ParseEvent(log[len(log)-1].Body)
			var said struct {
				Result string        `json:"result"`
				Run    interlock.Run `json:"run"`
			}
			if err == nil {
				err = json.Unmarshal(event.Payload, &said)
			}
			if err != nil || (said.Result == "") != (tc.missing != nil) || said.Run.Status != want {
				t.Errorf("the log says %+v, %v", said, err)
			}
		})
	}
	h.entries()
}

// TestAgentsWordAttestsWhereTheRulesSaySo: with runs.attest reported, an agent's own report does.
func TestAgentsWordAttestsWhereTheRulesSaySo(t *testing.T) {
	h := team(t, "runs: {attest: reported}\ntypes: [{name: planner, accountable: ada, tools: [\"*\"]}]")
	run := h.run("planner", interlock.RunRequest{Tools: []string{"git status"}})
	h.did("git status", "planner", run.ID, "http", interlock.OutcomeSuccess, false)
	if ended := h.completes("planner", run.ID, ""); ended.Status != interlock.RunCompleted || ended.Attested[0].By != "http" {
		t.Errorf("%+v", ended)
	}
	refused := h.run("planner", interlock.RunRequest{Tools: []string{"rm -rf*"}})
	h.did("rm -rf /", "planner", refused.ID, "exec", interlock.OutcomeSuccess, true)
	if ended := h.completes("planner", refused.ID, ""); ended.Status != interlock.RunIncomplete {
		t.Errorf("what was refused is attested: %+v", ended)
	}
}
