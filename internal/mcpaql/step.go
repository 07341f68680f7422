package mcpaql

import (
	"context"
	"encoding/json"
	"errors"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// step takes the report of an action and answers with the directive. The action goes to admission as the agent worded it;
// nothing here looks at what it says.
func (s *Server) step(ctx context.Context, c Caller, a arguments) (any, error) {
	e, failure := s.executions.find(c.requester(), a.text("execution_id"), a.text("element_name"))
	if failure != nil {
		return nil, failure
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state.terminal() {
		return nil, hasEnded(e)
	}
	o, _ := s.find("record_execution_step")
	if answer, held, err := s.decided(ctx, c, o, a); err != nil || held {
		if err != nil {
			return nil, err
		}
		return s.direct(ctx, c, e, answer)
	}
	outcome := interlock.OutcomeStatus(a.text("outcome"))
	if err := s.reportOutcome(ctx, e, outcome, a["findings"]); err != nil {
		return nil, err
	}
	action := interlock.Action{Kind: interlock.KindHint, Input: a.text("next_action_hint"),
		Hint: a.text("step_description"), Dir: c.Dir}
	loop := &interlock.Loop{Execution: e.id, Step: e.autonomous + 1, Outcome: outcome}
	answer := s.config.Backend.ProposeBy(ctx, admission.Way{Loop: loop},
		interlock.Proposal{Action: action, Requester: e.requester, View: s.config.View(c.Dir), Door: "mcp", CanAsk: true})
	if err := s.take(ctx, e, answer, loop); err != nil {
		return nil, err
	}
	return s.direct(ctx, c, e, answer)
}

// direct puts an answer about a step of an execution, which is locked, into a directive.
func (s *Server) direct(ctx context.Context, c Caller, e *execution, answer interlock.Answer) (any, error) {
	standing, err := s.config.Backend.Known(ctx, agentRef(c), ledger.Ref{Kind: ledger.Challenge, Mark: ledger.Of(c.Agent)})
	if err != nil {
		return nil, err
	}
	told, err := s.broadcasts(ctx, standing, e.requester, answer.Challenge)
	if err != nil {
		return nil, err
	}
	set, err := s.loopOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return struct {
		directive
		executionState
	}{newDirective(answer, told, set.Steps-e.autonomous, s.config.Now()), e.show()}, nil
}

// maxFindings bounds what of an agent's own account of a step is handed on.
const maxFindings = 8 << 10

// reportOutcome records how the step before ended, as the agent tells it.
func (s *Server) reportOutcome(ctx context.Context, e *execution, outcome interlock.OutcomeStatus, findings any) error {
	if outcome == "" || e.last == "" {
		return nil
	}
	detail := ""
	if findings != nil {
		text, err := json.Marshal(findings)
		if err != nil {
			return errors.New("encoding findings")
		}
		detail = string(text[:min(len(text), maxFindings)])
	}
	if err := s.config.Backend.Report(ctx, e.requester,
		interlock.Outcome{Event: e.last, Status: outcome, Detail: detail}); err != nil {
		return err
	}
	e.last = ""
	return nil
}

// take puts an answer into the execution: what was let through counts, and what waits for a human pauses. The state is there to
// be looked at: whether the agent pauses is decided by admission, from what is in the ledger.
func (s *Server) take(ctx context.Context, e *execution, answer interlock.Answer, loop *interlock.Loop) error {
	now := s.config.Now()
	e.touched = now
	if answer.Event == "" {
		return nil // nothing was decided, so nothing was done and nothing is paused
	}
	e.steps++
	e.last = answer.Event
	if answer.Answer.Allowed() {
		e.autonomous = loop.Step
		if answer.Approval != "" || answer.Grant != "" {
			e.autonomous = 0 // a human has just answered
		}
		return s.move(ctx, e, Running, "a step may go ahead")
	}
	f := answer.Decisive()
	if answer.Request == "" && answer.Challenge == "" && (f == nil || !gate.Of(f).Waits) {
		return nil // refused for good: there is nothing to wait for, and another action may be tried
	}
	reason := ""
	if f != nil {
		reason = f.Reason
	}
	return s.move(ctx, e, Paused, reason)
}
