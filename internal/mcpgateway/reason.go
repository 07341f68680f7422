package mcpgateway

import (
	"time"

	"interlock"
	"interlock/internal/gate"
)

// A Reason is a stable code by which a program on the agent's side tells refusals apart. It says what kind of thing is in
// the way and never which rule, so that nobody learns to write around one; the rule is in the log under the event named
// beside it. Codes are never renamed.
type Reason string

// The reasons.
const (
	ReasonPolicy      Reason = "policy_denied"        // a rule, a limit of what the agent may use, or a law says no
	ReasonHalted      Reason = "halted"               // no, and a human has to look before anything goes on
	ReasonBlocked     Reason = "agent_blocked"        // this agent may do nothing until a human says otherwise
	ReasonPending     Reason = "pending_approval"     // a human has been asked and has not answered yet
	ReasonDenied      Reason = "approval_denied"      // a human has said no
	ReasonDeclined    Reason = "approval_declined"    // the client's own user has said no
	ReasonExpired     Reason = "approval_expired"     // nobody has answered in time
	ReasonNobody      Reason = "nobody_to_ask"        // a human would have to be asked and none is there
	ReasonQuestions   Reason = "too_many_questions"   // a human would have to be asked and was asked too often
	ReasonCooldown    Reason = "retry_cooldown"       // the same call has just failed
	ReasonBudget      Reason = "retry_budget"         // the same call has failed too often in this run
	ReasonQuarantine  Reason = "tool_quarantined"     // an operator has to approve this tool, or its server, first
	ReasonState       Reason = "invalid_state"        // the requestState is not one that was given out for this
	ReasonInvalid     Reason = "invalid_request"      // what was sent can't be read as an action
	ReasonUnavailable Reason = "decision_unavailable" // no decision could be made or recorded
)

// reasonOf finds the code of a refusal. What is not known is policy: a refusal is never told apart by accident.
func reasonOf(a interlock.Answer) Reason {
	f := a.Decisive()
	if f == nil {
		return ReasonPolicy
	}
	switch f.Rule {
	case "standing.blocked":
		return ReasonBlocked
	case "limit.questions":
		return ReasonQuestions
	case "cooldown.failed", "cooldown.unknown":
		return ReasonCooldown
	case "cooldown.budget":
		return ReasonBudget
	}
	if f.Rule == gate.NameAdmission+"."+string(interlock.CodeInvalid) {
		return ReasonInvalid
	}
	switch cause := gate.Of(f).Cause; {
	case cause == gate.CauseQuarantine:
		return ReasonQuarantine
	case cause == gate.CauseInput:
		return ReasonInvalid
	case cause == gate.CauseFailure:
		return ReasonUnavailable
	case a.Answer == interlock.Halt:
		return ReasonHalted
	case a.Verdict == interlock.Ask && a.Request != "":
		return ReasonNobody
	default:
		return ReasonPolicy
	}
}

// retryAfter is how long a decision wants the agent to wait before it proposes the same again; zero if it says nothing of it.
func retryAfter(d interlock.Decision) time.Duration {
	var longest time.Duration
	for _, o := range d.Obligations {
		if o.Type != interlock.ObligationCooldown {
			continue
		}
		if wait, err := time.ParseDuration(o.Note); err == nil && wait > longest {
			longest = wait
		}
	}
	return longest
}
