package aql

import (
	"context"
	"strings"

	"interlock/internal/conform"
)

func executionChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.6.2"}, Drives: "MCP, log", Do: lifecycle},
		{IDs: []string{"AQL-8.7.1"}, Drives: "MCP", Do: directives},
		{IDs: []string{"AQL-8.7.1s"}, Drives: "MCP", Do: directivesWhole},
	}
}

func lifecycle(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "lifecycle")
	defer c.Close()
	var w wrong
	early := step(c, "done", "git status")
	w.unless(failsBy(early, "NOT_FOUND_RESOURCE"), "a step of no execution: %s", early.Text)
	for _, tc := range []struct {
		element, by, outcome, state string
	}{{"done", "complete_execution", "success", "completed"}, {"failed", "complete_execution", "failure", "failed"},
		{"given up", "abort_execution", "", "cancelled"}} {
		begun := begin(c, tc.element)
		id := begun.Member("data.execution_id")
		w.unless(begun.Member("data.status") == "running" && id != "", "begun: %s", begun.Text)
		stepped := step(c, tc.element, "git status")
		w.unless(goesOn(stepped) && stepped.Member("data.status") == "running", "a step: %s", stepped.Text)
		end := params{"execution_id": id}
		if tc.outcome != "" {
			end["outcome"] = tc.outcome
		}
		ended := do(c, tc.by, end)
		w.unless(ended.Member("success") == "true" && ended.Member("data.status") == tc.state, "%s: %s", tc.by, ended.Text)
		for _, again := range []conform.Reply{step(c, tc.element, "git status"), do(c, "record_execution_step",
			params{"element_name": tc.element,
				"execution_id": id, "next_action_hint": "git status"}), do(c, "complete_execution", params{"execution_id": id}),
			do(c, "abort_execution", params{"execution_id": id})} {
			w.unless(failsBy(again, "CONFLICT_VERSION_MISMATCH"), "after the end as %s: %s", tc.state, again.Text)
		}
	}
	states := detail(c, "execute_agent").Member("lifecycle.states")
	for _, state := range strings.Fields("pending running completed failed cancelled") {
		w.unless(strings.Contains(states, `"`+state+`"`), "the states are %s", states)
	}
	events := h.Events(ctx, "EXECUTION")
	for _, state := range strings.Fields("running completed failed cancelled") {
		w.unless(strings.Contains(events, `"state":"`+state+`"`), "the log holds no execution that is %s", state)
	}
	return "executions run, complete, fail and are cancelled; what has ended takes no step and no other end; a step needs one that runs", w.err()
}

func directives(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for agent, hint := range map[string]string{"calm": "reading README.md", "asking": "git push --force origin main",
		"wild": "rm -rf /"} {
		c := connect(ctx, h, "directive-"+agent)
		r := acts(c, hint)
		c.Close()
		w.shaped("AutonomyDirective", r.Member("data"))
		w.unless(r.Member("data.continue") == map[bool]string{true: "true", false: "false"}[agent == "calm"] &&
			r.Member("data.factors.0") != "",
			"%s: %s", hint, r.Text)
	}
	return "a harmless, a risky and a catastrophic step are each answered with continue and at least one factor, as published",
		w.err()
}

func directivesWhole(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "whole")
	defer c.Close()
	var w wrong
	begin(c, "task")
	first, second := step(c, "task", "reading README.md"), step(c, "task", "reading LICENSE")
	risky := step(c, "task", "git push --force origin main")
	w.unless(first.Member("data.stepsRemaining") == "49" && second.Member("data.stepsRemaining") == "48",
		"steps remaining: %s, then %s",
		first.Member("data.stepsRemaining"), second.Member("data.stepsRemaining"))
	w.unless(first.Member("data.stopped") == "false" && first.Member("data.nextStepRisk") == "advisory" &&
		!strings.Contains(first.Member("data.notifications"), "autonomy_pause"),
		"a harmless step: %s", first.Text)
	w.unless(risky.Member("data.stopped") == "false" && risky.Member("data.reason") != "" &&
		risky.Member("data.nextStepRisk") == "confirm" &&
		len(notes(risky)) > 0 && strings.HasPrefix(risky.Member("data.request_id"), "apr_"), "a risky step: %s", risky.Text)
	return "stopped, reason, stepsRemaining, nextStepRisk and notifications", w.err()
}
