package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
)

// RecordExecution records that a monitored execution changed its state.
func (a *Admission) RecordExecution(ctx context.Context, r interlock.Requester, record auditlog.ExecutionRecord) error {
	record.Element, record.Reason = a.redact(record.Element), a.redact(record.Reason)
	return a.recorded(ctx, interlock.EventExecution, r, "agent", record)
}

// RecordToken records that a confirmation token was issued, validated, rejected or revoked.
func (a *Admission) RecordToken(ctx context.Context, kind interlock.EventType, r interlock.Requester,
	record auditlog.TokenRecord) error {
	switch kind {
	case interlock.EventTokenIssued, interlock.EventTokenValidated, interlock.EventTokenRejected, interlock.EventTokenRevoked:
		return a.recorded(ctx, kind, r, "agent", record)
	default:
		return interlock.Errorf(interlock.CodeInvalid, "type", "%s is no event of a token", kind)
	}
}

// RecordSession records that an operator came into the console, left it or was turned away.
func (a *Admission) RecordSession(ctx context.Context, record auditlog.SessionRecord) error {
	record.Reason = a.redact(record.Reason)
	actor := record.Operator
	if actor == "" {
		actor = interlock.NoName
	}
	return a.recorded(ctx, interlock.EventSession, interlock.Requester{Agent: actor}, "operator", record)
}

// recorded commits one event about a requester, under the owner configured for it.
func (a *Admission) recorded(ctx context.Context, kind interlock.EventType, r interlock.Requester, role string,
	record auditlog.Record) error {
	if r.Agent == "" {
		return interlock.Errorf(interlock.CodeInvalid, "/requester/agent", "is missing")
	}
	_, err := a.event(ctx, kind, r, role, record)
	return err
}
