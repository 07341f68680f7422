package admission

import (
	"encoding/json"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
)

// redacted returns the proposal as it may be recorded and shown: the same action with its secrets replaced.
func (a *Admission) redacted(p interlock.Proposal) interlock.Proposal {
	p.Action.Input = a.redact(p.Action.Input)
	p.Action.Hint = a.redact(p.Action.Hint)
	if len(p.Action.Arguments) > 0 {
		p.Action.Arguments = a.redactedArguments(p.Action.Arguments)
	}
	return p
}

func (a *Admission) redact(text string) string {
	clean, _ := a.config.Redact(text)
	return clean
}

// redactedArguments redacts inside the JSON text; if that breaks the JSON, the whole value is withheld.
func (a *Admission) redactedArguments(arguments json.RawMessage) json.RawMessage {
	clean, kinds := a.config.Redact(string(arguments))
	if len(kinds) == 0 {
		return arguments
	}
	if canonical, err := strictjson.Canonical([]byte(clean)); err == nil {
		return canonical
	}
	return json.RawMessage(`{"redacted":true}`)
}

func (a *Admission) redactedDecision(d interlock.Decision) interlock.Decision {
	return auditlog.RedactDecision(d, a.config.Redact)
}
