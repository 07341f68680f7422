package mcpaql

import (
	"context"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
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
	standing, err := s.config.Backend.Ground(ctx, agentRef(c),
		ledger.Ref{Kind: ledger.Challenge, Mark: ledger.Of(c.Agent)})
	if err != nil {
		return err
	}
	if revoked := standing.Agents[c.Agent].Revoked; !revoked.IsZero() && !s.config.Now().Before(revoked) {
		return interlock.Errorf(interlock.CodeUnauthorized, "", "this agent is revoked")
	}
	challenge, blocked := core.Blocked(standing, c.requester())
	if !blocked {
		return nil
	}
	s.config.Backend.Refuse(ctx, c.requester(), "mcp",
		interlock.Errorf(interlock.CodeUnauthorized, "", "the agent is blocked by challenge %s", challenge.ID))
	return &Failure{Code: CodePermissionDenied,
		Message: "This agent is stopped: " + challenge.Reason + ". A human has to read out the code for the challenge " +
			"(verify_challenge), or an admin lifts the block",
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
	return &Failure{Code: CodeConflict,
		Message: "The execution is " + string(e.state) + ", which is final; start a new one with execute_agent",
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
	standing, err := s.config.Backend.Known(ctx, agentRef(c))
	if err != nil {
		return ruleset.LoopSetting{}, err
	}
	agent := standing.Agents[c.Agent]
	agent.ID = c.Agent
	return s.config.Rules().Loop(agent), nil
}
