package mcpaql_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/spec"
)

func TestExecutionLifecycle(t *testing.T) {
	spec.Covers(t, "AQL-8.6.2")
	for name, tc := range map[string]struct {
		end   string // operation with %s for the handle
		state string
	}{
		"completed": {`{"operation":"complete_execution","execution_id":"%s"}`, "completed"},
		"failed":    {`{"operation":"complete_execution","execution_id":"%s","outcome":"failure","summary":"no luck"}`, "failed"},
		"cancelled": {`{"operation":"abort_execution","execution_id":"%s","reason":"enough"}`, "cancelled"},
	} {
		f := newFixture(t, nil)
		const step = `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls"}}`
		f.failure(mcpaql.Create, step, mcpaql.CodeNoResource) // nothing runs
		begun := f.data(mcpaql.Execute, `{"operation":"execute_agent","element_name":"e"}`)
		id := begun["execution_id"].(string)
		f.data(mcpaql.Create, step)
		f.clock.advance(time.Minute)
		ended := f.data(mcpaql.Execute, fmt.Sprintf(tc.end, id))
		want := map[string]any{"execution_id": id, "status": tc.state, "element_name": "e", "started_at": "2026-03-01T12:00:00Z",
			"finished_at": "2026-03-01T12:01:00Z",
			"progress":    map[string]any{"current": 1.0, "message": "steps reported: 1"}}
		if diff := cmp.Diff(want, ended); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// Terminal is terminal, by handle and by name.
		f.failure(mcpaql.Create, step, mcpaql.CodeConflict)
		f.failure(mcpaql.Create,
			fmt.Sprintf(`{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls","execution_id":%q}`, id), mcpaql.CodeConflict)
		f.failure(mcpaql.Execute, fmt.Sprintf(`{"operation":"complete_execution","execution_id":%q}`, id), mcpaql.CodeConflict)
		f.failure(mcpaql.Execute, fmt.Sprintf(`{"operation":"abort_execution","execution_id":%q}`, id), mcpaql.CodeConflict)
		if diff := cmp.Diff([]string{"EXECUTION e running", "EXECUTION e " + tc.state}, executionsIn(f.backend.taken())); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
	}
}

func executionsIn(events []string) []string {
	var out []string
	for _, e := range events {
		if strings.HasPrefix(e, "EXECUTION") {
			out = append(out, e)
		}
	}
	return out
}

// A handle is worth nothing to anybody but the agent it was given to, and no label makes another of it.
func TestAHandleBelongsToItsAgent(t *testing.T) {
	spec.Covers(t, "AQL-2.3")
	f := newFixture(t, nil)
	id := f.start("e")
	step := fmt.Sprintf(`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","execution_id":%q},"_meta":{"agent":"mcp","principal":"dev"}}`, id)
	for name, who := range map[string]mcpaql.Caller{
		"another agent":     {Agent: "other", Principal: "dev", Connection: "one"},
		"another principal": {Agent: "mcp", Principal: "eve", Connection: "one"},
	} {
		for _, request := range []string{step, fmt.Sprintf(`{"operation":"abort_execution","execution_id":%q}`, id)} {
			got, unknown := f.call(who, "", request), f.call(who, "", strings.ReplaceAll(request, id, "exec_unknown"))
			message := fmt.Sprint(got["error"].(map[string]any)["message"])
			if got["error"].(map[string]any)["code"] != "NOT_FOUND_RESOURCE" ||
				strings.ReplaceAll(message, id, "exec_unknown") != unknown["error"].(map[string]any)["message"] {
				t.Errorf("%s: %v; of a handle that is none %v", name, got, unknown)
			}
		}
	}
	again := caller
	again.Connection = "two" // a client that lost its connection goes on with the handle
	if answer := f.call(again, mcpaql.Create, step); answer["success"] != true {
		t.Errorf("over another connection: %v", answer)
	}
	if p := f.backend.proposals[0]; p.Requester != (interlock.Requester{Agent: "mcp", Principal: "dev", Run: id}) {
		t.Errorf("proposed by %+v", p.Requester)
	}
}

func TestSeveralExecutionsOfOneNameNeedTheHandle(t *testing.T) {
	f := newFixture(t, nil)
	first := f.start("e")
	f.start("e")
	failure := f.failure(mcpaql.Create, `{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls"}`, mcpaql.CodeMissingParam)
	if failure["details"].(map[string]any)["param_name"] != "execution_id" {
		t.Error(failure)
	}
	f.data(mcpaql.Create, fmt.Sprintf(`{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls","execution_id":%q}`, first))
	f.failure(mcpaql.Create, fmt.Sprintf(`{"operation":"record_execution_step","element_name":"f","next_action_hint":"ls","execution_id":%q}`, first), mcpaql.CodeNoResource)
	f.failure(mcpaql.Execute, `{"operation":"complete_execution"}`, mcpaql.CodeMissingParam)
}

func TestExecutionsAreBoundedAndEndWhenNobodyReports(t *testing.T) {
	f := newFixture(t, func(c *mcpaql.Config) { c.Executions = 3; c.Idle = time.Hour })
	for n := range 3 {
		f.start(fmt.Sprint("e", n))
	}
	f.failure(mcpaql.Execute, `{"operation":"execute_agent","element_name":"more"}`, mcpaql.CodeQuotaExhausted)
	f.clock.advance(40 * time.Minute)
	f.step("e0", "ls")
	f.clock.advance(40 * time.Minute)
	f.backend.taken()
	f.server.Sweep(context.Background())
	if diff := cmp.Diff([]string{"EXECUTION e1 cancelled", "EXECUTION e2 cancelled"}, sorted(f.backend.taken())); diff != "" {
		t.Errorf("after 80 minutes (-want +got):\n%s", diff)
	}
	f.step("e0", "ls")
	f.failure(mcpaql.Create, `{"operation":"record_execution_step","element_name":"e1","next_action_hint":"ls"}`, mcpaql.CodeConflict)
	f.start("more")
	f.clock.advance(61 * time.Minute)
	f.server.Sweep(context.Background()) // ended ones are forgotten, idle ones end
	f.failure(mcpaql.Create, `{"operation":"record_execution_step","element_name":"e1","next_action_hint":"ls"}`, mcpaql.CodeNoResource)
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func TestStepsCountUntilAHumanAnswers(t *testing.T) {
	spec.Covers(t, "AQL-8.7.1s")
	f := newFixture(t, nil)
	f.start("e")
	limit := 50.0 // the shipped rules'
	for n := 1.0; n <= 3; n++ {
		if d := f.step("e", "ls"); d["stepsRemaining"] != limit-n {
			t.Errorf("step %v: %v remain", n, d["stepsRemaining"])
		}
	}
	f.backend.answer = func(interlock.Proposal) interlock.Answer { return objected(interlock.Deny, "rules", "no") }
	if d := f.step("e", "rm"); d["stepsRemaining"] != limit-3 {
		t.Errorf("a refused step was counted: %v", d["stepsRemaining"])
	}
	f.backend.answer = func(interlock.Proposal) interlock.Answer { a := allowed(); a.Approval = "apr_1"; return a }
	if d := f.step("e", "deploy"); d["stepsRemaining"] != limit {
		t.Errorf("after a human's yes %v remain", d["stepsRemaining"])
	}
	var steps []int
	for _, p := range f.backend.proposals {
		steps = append(steps, p.Loop.Step)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 4}, steps); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

// An execution shows as paused as long as admission says that its agent pauses, also one that is begun meanwhile.
func TestAPausedExecutionWaitsForAHuman(t *testing.T) {
	spec.Covers(t, "AQL-8.6.4")
	f := newFixture(t, nil)
	f.start("e")
	f.backend.answer = func(p interlock.Proposal) interlock.Answer {
		switch {
		case p.Action.Input != "deploy" && f.backend.standing.Requests["apr_1"].Status == interlock.RequestPending:
			return objected(interlock.Deny, "pause", "waits for apr_1")
		case p.Action.Input == "deploy" && f.backend.standing.Requests["apr_1"].Status != interlock.RequestApproved:
			a := objected(interlock.Ask, "rules", "deploying wants a human")
			a.Request = "apr_1"
			f.backend.standing.Requests["apr_1"] = interlock.ApprovalRequest{ID: "apr_1", Status: interlock.RequestPending, Expires: noon.Add(time.Hour)}
			return a
		}
		return allowed()
	}
	status := func(hint string) []any {
		d := f.step("e", hint)
		return []any{d["continue"], d["status"], d["core_status"], d["reason"]}
	}
	got := [][]any{status("ls"), status("deploy"), status("ls"), status("deploy"), status("ls")}
	f.start("new")
	if d := f.step("new", "ls"); d["continue"] != false || d["status"] != "paused" {
		t.Errorf("in a new execution: %v", d)
	}
	if e := executionsIn(f.backend.taken()); len(e) != 4 || e[3] != "EXECUTION new paused" {
		t.Errorf("events: %v", e)
	}
	if diff := cmp.Diff([]string{"deploying wants a human", "waits for apr_1"}, f.backend.paused); diff != "" {
		t.Errorf("why they are paused, in the log (-want +got):\n%s", diff)
	}
	f.backend.standing.Requests["apr_1"] = interlock.ApprovalRequest{ID: "apr_1", Status: interlock.RequestApproved, Expires: noon.Add(time.Hour)}
	got = append(got, status("deploy"))
	delete(f.backend.standing.Requests, "apr_1") // spent
	got = append(got, status("ls"))
	want := [][]any{
		{true, "running", nil, nil},
		{false, "paused", "running", "deploying wants a human"},
		{false, "paused", "running", "waits for apr_1"},
		{false, "paused", "running", "deploying wants a human"},
		{false, "paused", "running", "waits for apr_1"},
		{true, "running", nil, nil},
		{true, "running", nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("directives (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"EXECUTION e running"}, executionsIn(f.backend.taken())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Steps of one execution come one after another, those of several side by side, and looking for idle ones disturbs neither.
func TestCallsAtOnceLoseNoStep(t *testing.T) {
	f := newFixture(t, nil)
	const executions, each = 4, 25
	var calling sync.WaitGroup
	for n := range executions {
		element := fmt.Sprint("e", n)
		f.start(element)
		for range 2 {
			calling.Go(func() {
				for range each {
					f.step(element, "ls")
					f.server.Sweep(context.Background())
				}
			})
		}
	}
	calling.Wait()
	numbers := map[string]int{}
	for _, p := range f.backend.proposals {
		if numbers[p.Loop.Execution]++; numbers[p.Loop.Execution] != p.Loop.Step {
			t.Fatalf("step %d of an execution came as number %d", p.Loop.Step, numbers[p.Loop.Execution])
		}
	}
	for n := range executions {
		ended := f.data(mcpaql.Execute, fmt.Sprintf(`{"operation":"complete_execution","element_name":"e%d"}`, n))
		if current := ended["progress"].(map[string]any)["current"]; current != 2.0*each {
			t.Errorf("e%d: %v steps", n, current)
		}
	}
}

func TestTheOutcomeOfAStepIsReportedForItsDecision(t *testing.T) {
	f := newFixture(t, nil)
	f.start("e")
	n := 0
	f.backend.answer = func(interlock.Proposal) interlock.Answer {
		n++
		a := allowed()
		a.Event = fmt.Sprint("event", n)
		return a
	}
	const step = `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls"%s}}`
	f.data(mcpaql.Create, fmt.Sprintf(step, `,"outcome":"failure"`)) // there is no step before
	f.data(mcpaql.Create, fmt.Sprintf(step, `,"outcome":"success","findings":{"files":3}`))
	f.data(mcpaql.Create, fmt.Sprintf(step, ``))
	f.data(mcpaql.Create, fmt.Sprintf(step, `,"outcome":"skipped"`))
	want := []interlock.Outcome{{Event: "event1", Status: "success", Detail: `{"files":3}`}, {Event: "event3", Status: "skipped"}}
	if diff := cmp.Diff(want, f.backend.outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	var seen []interlock.OutcomeStatus
	for _, p := range f.backend.proposals {
		seen = append(seen, p.Loop.Outcome)
	}
	if diff := cmp.Diff([]interlock.OutcomeStatus{"failure", "success", "", "skipped"}, seen); diff != "" {
		t.Errorf("what the stages see (-want +got):\n%s", diff)
	}
}

// A blocked agent starts and ends nothing, under any name, over any connection.
func TestABlockedAgentHasNoExecutionOperations(t *testing.T) {
	f := newFixture(t, nil)
	id := f.start("e")
	const challenge = "3f0c7a52-0000-4000-8000-000000000001"
	f.backend.standing.Challenges[challenge] = interlock.Challenge{ID: challenge, Kind: interlock.ChallengeBlock, Reason: "this deletes the file system root",
		Requester: interlock.Requester{Agent: "mcp", Principal: "dev", Run: "another run"}}
	for _, request := range []string{`{"operation":"execute_agent","element_name":"another name"}`,
		fmt.Sprintf(`{"operation":"complete_execution","execution_id":%q}`, id),
		fmt.Sprintf(`{"operation":"abort_execution","execution_id":%q}`, id)} {
		for _, connection := range []string{"one", "two"} {
			who := caller
			who.Connection = connection
			failure, _ := f.call(who, mcpaql.Execute, request)["error"].(map[string]any)
			details, _ := failure["details"].(map[string]any)
			if failure["code"] != "PERMISSION_DENIED" || details["stopped"] != true || details["verificationId"] != challenge {
				t.Errorf("%s: %v", request, failure)
			}
		}
	}
	other := mcpaql.Caller{Agent: "other", Principal: "dev", Connection: "one"}
	if answer := f.call(other, mcpaql.Execute, `{"operation":"execute_agent","element_name":"e"}`); answer["success"] != true {
		t.Errorf("another agent: %v", answer)
	}
}
