package mcpaql

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// declared are the operators' declarations that concern a call of one of this door's own operations.
func (s *Server) declared(o operation, a arguments) (out []ruleset.DangerRule) {
	var arguments json.RawMessage
	var err error
	for _, d := range s.config.Rules().Danger() {
		if !d.User || !ruleset.Glob(d.Name, o.name) {
			continue
		}
		if arguments == nil && len(d.When) > 0 {
			arguments, err = a.canonical()
		}
		if err != nil || d.Applies(arguments) { // what can't be read may meet any condition
			out = append(out, d)
		}
	}
	return out
}

// wants reports whether declarations ask more of a call than a level: a pause since the last one, a human's code, certain
// approvers. Nothing is asked of the operations by which an agent learns what is asked of it and answers that.
func (s *Server) wants(o operation, a arguments) bool {
	if o.reachable {
		return false
	}
	for _, d := range s.declared(o, a) {
		if d.Cooldown > 0 || d.Reauth || d.Approvers != nil {
			return true
		}
	}
	return false
}

// decided has a call of an operation that declarations want something of decided and recorded like any action of the agent;
// held is false if they want nothing. What was done before counts for the agent and not for one of its executions: it could
// begin another.
func (s *Server) decided(ctx context.Context, c Caller, o operation,
	a arguments) (answer interlock.Answer, held bool, err error) {
	if s.config.Mode == interlock.Disabled || !s.wants(o, a) {
		return interlock.Answer{}, false, nil
	}
	arguments, err := a.canonical()
	if err != nil {
		return interlock.Answer{}, false, invalidType("params", "JSON without numbers beyond 2^53", map[string]any(a), o.name)
	}
	answer = s.config.Backend.ProposeBy(ctx, admission.Way{Loop: &interlock.Loop{Step: 1}}, interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindTool, Tool: o.name, Arguments: arguments, Dir: c.Dir},
		Requester: c.requester(), View: s.config.View(c.Dir), Door: "mcp", CanAsk: true})
	return answer, !answer.Answer.Allowed(), nil
}

// heldBack puts a decision about an operation itself into an error, for operations that answer with no directive.
func heldBack(o operation, answer interlock.Answer) *Failure {
	reason := "it could not be decided"
	code := CodePermissionDenied
	if f := answer.Decisive(); f != nil {
		reason = f.Reason
		if f.Rule == "danger.cooldown" {
			code = CodeRateLimit
		}
	}
	c := courseOf(answer)
	details := map[string]any{"operation": o.name, "reason": reason, "stopped": c.stopped, "factors": factors(answer)}
	next := "; do something else"
	switch {
	case answer.Event == "":
		code, next = CodeInternal, "; nothing was recorded, try again in a moment"
	case answer.Challenge != "":
		details["verificationId"] = answer.Challenge
		next = "; a human has to read out the code for the challenge (verify_challenge), then make the identical call again"
	case answer.Request != "":
		next = "; request " + answer.Request + " waits for an operator, make the identical call again once it is approved"
	case code == CodeRateLimit:
		next = ""
	}
	if answer.Request != "" {
		details["request_id"] = answer.Request
	}
	return &Failure{Code: code, Message: fmt.Sprintf("Operation '%s' is held back: %s%s", o.name, reason, next), Details: details}
}

// canonical is the arguments in the one form that is hashed and judged.
func (a arguments) canonical() (json.RawMessage, error) {
	text, err := json.Marshal(map[string]any(a))
	if err != nil {
		return nil, err
	}
	return strictjson.Canonical(text)
}
