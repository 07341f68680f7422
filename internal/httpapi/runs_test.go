package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"interlock"
)

// RegisterRun answers a run that says what was asked; a task of "refused" is one.
func (b *fakeBackend) RegisterRun(_ context.Context, by interlock.Requester, q interlock.RunRequest) (interlock.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Task == "refused" {
		return interlock.Run{}, interlock.Errorf(interlock.CodeLimited, "/task", "was tried 4 times")
	}
	b.events = append(b.events, fmt.Sprintf("RUN %s/%s: task=%q for=%q in=%q", by.Principal, by.Agent, q.Task, q.Agent, q.Parent))
	return interlock.Run{ID: "run_0123456789abcdef01234567", Agent: by.Agent, Principal: by.Principal,
		Orchestration: "run_0123456789abcdef01234567", Task: q.Task, Tools: q.Tools, Output: q.Output, Created: noon, Status: interlock.RunOpen}, nil
}

func (b *fakeBackend) EndRun(_ context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if by.Agent != "builder" {
		return interlock.Run{}, interlock.Errorf(interlock.CodeNotFound, "/id", "no run of this name is this agent's, or was delegated by it")
	}
	b.events = append(b.events, fmt.Sprintf("RUN END %s %s: %s %s", by.Agent, id, end.Status, end.Result))
	return interlock.Run{ID: id, Agent: by.Agent, Orchestration: id, Created: noon, Ended: noon, Status: end.Status}, nil
}

func (b *fakeBackend) Turn(_ context.Context, by interlock.Requester, id, conversation string) (int, error) {
	if conversation == "over" {
		return 0, interlock.Errorf(interlock.CodeLimited, "/conversation", "has had its 10 turns and ends here; a human decides (runs.turns)")
	}
	return 3, nil
}

func (b *fakeBackend) BindRun(_ context.Context, by interlock.Requester, id, session string) error {
	if session == "taken" {
		return interlock.Errorf(interlock.CodeConflict, "/session", "is bound to the run run_000000000000000000000000; end that first")
	}
	return nil
}

func (b *fakeBackend) Checkpoint(_ context.Context, by interlock.Requester, run string, c interlock.RunCheckpoint) (interlock.RunKept, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(c.Constraints) == 0 {
		return interlock.RunKept{}, interlock.Errorf(interlock.CodeConflict, "/constraints", "has lost 1 of the constraints")
	}
	b.events = append(b.events, fmt.Sprintf("CHECKPOINT %s %s: %s", by.Agent, run, c.Goal))
	return interlock.RunKept{RunCheckpoint: c, Run: run, Number: 1, At: noon}, nil
}

func (b *fakeBackend) Resume(_ context.Context, by interlock.Requester, run string) (interlock.RunKept, error) {
	if by.Agent != "builder" {
		return interlock.RunKept{}, interlock.Errorf(interlock.CodeNotFound, "/id", "no run of this name is this agent's, or was delegated by it")
	}
	return interlock.RunKept{RunCheckpoint: interlock.RunCheckpoint{System: "sha256:" + interlock.Digest(strings.Repeat("a", 64)), Goal: "build",
		Constraints: []interlock.RunConstraint{{Kind: interlock.ConstraintNever, Text: "push"}}}, Run: run, Number: 2, At: noon}, nil
}

func (b *fakeBackend) Heartbeat(context.Context, interlock.Requester) error { return nil }

// SubmitPlan answers a plan that names the run that was asked for.
func (b *fakeBackend) SubmitPlan(_ context.Context, by interlock.Requester, q interlock.PlanRequest) (interlock.Plan, error) {
	return interlock.Plan{ID: "pln_000000000000000000000000", Run: q.Run, Agent: by.Agent, Status: interlock.PlanAccepted,
		Digest: "sha256:01", Ruleset: "sha256:02", Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Steps: []interlock.StepView{{Action: "sha256:03", Says: q.Steps[0].Input, Verdict: interlock.Allow,
			Reversibility: interlock.Readonly, Takes: 30}}}, nil
}
