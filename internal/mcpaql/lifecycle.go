package mcpaql

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
)

// execute starts an execution. A blocked agent starts none, under whatever name (AQL-8.8.3a).
func (s *Server) execute(ctx context.Context, c Caller, a arguments) (any, error) {
	if err := s.unblocked(ctx, c); err != nil {
		return nil, err
	}
	e, err := s.executions.start(c.requester(), c.Connection, a.text("element_name"), a.text("goal"), s.config.Now())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := s.record(ctx, e, e.goal); err != nil {
		e.state, e.finished = Failed, s.config.Now() // nobody learns its handle
		return nil, err
	}
	loop, err := s.loopOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return struct {
		executionState
		MaxSteps int    `json:"max_autonomous_steps"`
		Mode     string `json:"execution_safety_loop"`
		Next     string `json:"next"`
	}{e.show(), loop.Steps, s.config.Mode.String(),
		"Report each action with record_execution_step before you carry it out, and act only if continue is true."}, nil
}

// unblocked refuses the execution operations of an agent that a hard block forbids everything.
func (s *Server) unblocked(ctx context.Context, c Caller) error {
	if s.config.Mode != interlock.Enforcing {
		return nil
	}
	standing, err := s.config.Backend.Standing(ctx)
	if err != nil {
		return err
	}
	if revoked := standing.Agents[c.Agent].Revoked; !revoked.IsZero() && !s.config.Now().Before(revoked) {
		return interlock.Errorf(interlock.CodeUnauthorized, "", "this agent is revoked")
	}
	challenge, blocked := admission.Blocked(standing, c.requester())
	if !blocked {
		return nil
	}
	s.config.Backend.Refuse(ctx, c.requester(), "mcp", interlock.Errorf(interlock.CodeUnauthorized, "", "the agent is blocked by challenge %s", challenge.ID))
	return &Failure{Code: CodePermissionDenied,
		Message: "This agent is stopped: " + challenge.Reason + ". A human has to read out the code for the challenge (verify_challenge), or an admin lifts the block",
		Details: map[string]any{"stopped": true, "verificationId": challenge.ID, "reason": challenge.Reason}}
}

// complete ends an execution whose work is done or failed.
func (s *Server) complete(ctx context.Context, c Caller, a arguments) (any, error) {
	to := Completed
	if a.text("outcome") == "failure" {
		to = Failed
	}
	return s.finish(ctx, c, a, to, a.text("summary"))
}

// abort ends an execution before its work is done.
func (s *Server) abort(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.finish(ctx, c, a, Cancelled, a.text("reason"))
}

func (s *Server) finish(ctx context.Context, c Caller, a arguments, to State, reason string) (any, error) {
	if err := s.unblocked(ctx, c); err != nil {
		return nil, err
	}
	e, failure := s.executions.find(c.requester(), a.text("execution_id"), a.text("element_name"))
	if failure != nil {
		return nil, failure
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state.terminal() {
		return nil, hasEnded(e)
	}
	if err := s.move(ctx, e, to, reason); err != nil {
		return nil, err
	}
	return e.show(), nil
}

func hasEnded(e *execution) *Failure {
	return &Failure{Code: CodeConflictState, Message: "The execution is " + string(e.state) + ", which is final; start a new one with execute_agent",
		Details: map[string]any{"resource_type": "execution", "resource_id": e.id, "status": string(e.state)}}
}

// move records a change of state and makes it. What can't be recorded does not happen.
func (s *Server) move(ctx context.Context, e *execution, to State, reason string) error {
	if e.state == to {
		return nil
	}
	before := e.state
	e.state = to
	if err := s.record(ctx, e, reason); err != nil {
		e.state = before
		return err
	}
	if to.terminal() {
		e.finished, e.reason = s.config.Now(), reason
	}
	if to != Paused {
		e.pause = pause{}
	}
	return nil
}

func (s *Server) record(ctx context.Context, e *execution, reason string) error {
	return s.config.Backend.RecordExecution(ctx, e.requester, auditlog.ExecutionRecord{Execution: e.id, Element: e.element,
		State: string(e.state), Steps: e.steps, Reason: reason})
}

// end cancels the open executions for which is holds.
func (s *Server) end(ctx context.Context, reason string, is func(*execution) bool) {
	for _, e := range s.executions.all(is) {
		e.mu.Lock()
		if !e.state.terminal() {
			if err := s.move(ctx, e, Cancelled, reason); err != nil {
				// It is over all the same: an execution that goes on after its connection would be worse than a line missing.
				e.state, e.finished = Cancelled, s.config.Now()
				s.config.Logger.Error("the end of an execution could not be recorded", "execution", e.id, "error", err.Error())
			}
		}
		e.mu.Unlock()
	}
}

// loopOf is the safety loop as the ruleset sets it for a caller.
func (s *Server) loopOf(ctx context.Context, c Caller) (ruleset.LoopSetting, error) {
	standing, err := s.config.Backend.Known(ctx)
	if err != nil {
		return ruleset.LoopSetting{}, err
	}
	agent := standing.Agents[c.Agent]
	agent.ID = c.Agent
	return s.config.Rules.Loop(agent), nil
}

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
	outcome := interlock.OutcomeStatus(a.text("outcome"))
	if err := s.reportOutcome(ctx, e, outcome, a["findings"]); err != nil {
		return nil, err
	}
	action := interlock.Action{Kind: interlock.KindHint, Input: a.text("next_action_hint"), Hint: a.text("step_description"), Dir: c.Dir}
	loop, err := s.loop(ctx, e, action, outcome)
	if err != nil {
		return nil, err
	}
	answer := s.config.Backend.Propose(ctx, interlock.Proposal{Action: action, Requester: e.requester, View: s.config.View(c.Dir),
		Door: "mcp", Loop: loop, CanAsk: true})
	if err := s.take(ctx, e, answer, loop); err != nil {
		return nil, err
	}
	standing, err := s.config.Backend.Known(ctx)
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
	}{newDirective(answer, e.requester, standing, set.Steps-e.autonomous, s.config.Now()), e.show()}, nil
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
	if err := s.config.Backend.Report(ctx, e.requester, interlock.Outcome{Event: e.last, Status: outcome, Detail: detail}); err != nil {
		return err
	}
	e.last = ""
	return nil
}

// take puts an answer into the execution: what was let through counts, and what waits for a human pauses.
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
	waits := pause{request: answer.Request, challenge: answer.Challenge, action: answer.Action}
	if waits.request == "" && waits.challenge == "" {
		return nil // refused for good: there is nothing to wait for, and another action may be tried
	}
	reason := ""
	if f := answer.Decisive(); f != nil {
		reason = f.Reason
	}
	if err := s.move(ctx, e, Paused, reason); err != nil {
		return err
	}
	e.pause = waits
	return nil
}

// verification is what verify_challenge answers.
type verification struct {
	Challenge string `json:"challenge_id"`
	Verified  bool   `json:"verified"`
	Unblocked bool   `json:"unblocked"`
	Request   string `json:"request_id,omitempty"`
	Next      string `json:"next"`
}

// verify hands a code to admission. Nothing of the code is kept, answered or logged here.
func (s *Server) verify(ctx context.Context, c Caller, a arguments) (any, error) {
	id := a.text("challenge_id")
	v, err := s.config.Backend.Verify(ctx, c.requester(), id, a.text("code"))
	if err != nil {
		return nil, err
	}
	details := map[string]any{"result": v.Result, "failed_attempts": v.Failed}
	switch v.Result {
	case admission.Passed:
		return verification{Challenge: id, Verified: true, Unblocked: v.Unblocked, Request: v.Request,
			Next: "Report the step again with record_execution_step; it is judged afresh."}, nil
	case admission.Unknown:
		return nil, &Failure{Code: CodeNoResource, Message: "No such challenge is open for this agent, or this is no code", Details: details}
	case admission.Limited:
		details["retry_after_seconds"] = int(v.RetryAfter / time.Second)
		return nil, &Failure{Code: CodeRateLimit, Message: "Too many codes were wrong; wait before handing in another, and don't guess", Details: details}
	default: // wrong, expired, and whatever else is not a pass
		reason := v.Reason
		if reason == "" {
			reason = "the code is not right, or no longer in force"
		}
		return nil, &Failure{Code: CodePermissionDenied, Message: "Permission denied: " + reason + ". Ask the human for a new code; an operator can have one issued", Details: details}
	}
}

// confirmation is what confirm_operation answers.
type confirmation struct {
	Request   string `json:"request_id"`
	Status    string `json:"status"`
	Confirmed bool   `json:"confirmed"`
	Expires   string `json:"expires_at,omitempty"`
	Next      string `json:"next"`
}

// confirm asks admission where a request stands. That an agent confirms is no reason for anything (AQL-8.7.3s).
func (s *Server) confirm(ctx context.Context, c Caller, a arguments) (any, error) {
	request, err := s.config.Backend.Confirm(ctx, c.requester(), a.text("request_id"), a.text("code"))
	if err != nil {
		return nil, err
	}
	out := confirmation{Request: request.ID, Status: string(request.Status), Confirmed: request.Status == interlock.RequestApproved}
	if !request.Expires.IsZero() {
		out.Expires = stamp(request.Expires)
	}
	switch request.Status {
	case interlock.RequestApproved:
		out.Next = "A human said yes. Report the identical step again; it passes once."
	case interlock.RequestPending:
		out.Next = "Nobody has answered yet. Tell the user that the request waits, and stop until they have answered."
	default:
		out.Next = "This request is closed. Do something else, or report the step again to ask anew."
	}
	return out, nil
}
