package core

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/strictjson"
)

// Random returns n fresh random bytes in hexadecimal.
func (a *Core) Random(n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(a.Config.Random, b); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// Draft returns an event about a requester, placed in the requester's run.
func (a *Core) Draft(kind interlock.EventType, r interlock.Requester, role string, payload []byte) (ledger.Draft, error) {
	seed, err := a.Random(16)
	if err != nil {
		return ledger.Draft{}, err
	}
	if payload, err = a.accounted(r, role, payload); err != nil {
		return ledger.Draft{}, err
	}
	return ledger.Draft{
		Type:     kind,
		Run:      r.Agent + "\x00" + r.Run,
		Seed:     seed,
		Trace:    r.Call,
		Actor:    r.Agent,
		Role:     role,
		Recorded: a.Config.Now().UTC(),
		Snapshots: map[string]string{
			"ruleset": string(a.Active.Load().Rules.Digest()),
		},
		Payload: payload,
	}, nil
}

// Append adds an event to a change.
func (a *Core) Append(change *ledger.Change, kind interlock.EventType, r interlock.Requester, role string,
	record auditlog.Record) error {
	payload, err := record.Payload()
	if err != nil {
		return fmt.Errorf("encoding %s: %w", kind, err)
	}
	draft, err := a.Draft(kind, r, role, payload)
	if err != nil {
		return err
	}
	change.Events = append(change.Events, draft)
	return nil
}

// notify asks the notifier; one that is missing or breaks is one that reached nobody.
func (a *Core) notify(ctx context.Context, n notice.Notice) (delivery notice.Delivery) {
	if a.Config.Notify == nil {
		return notice.Delivery{Failed: []string{"no channel is configured"}}
	}
	defer func() {
		if recover() != nil { // what it says could hold the code
			delivery = notice.Delivery{Failed: []string{"the channels failed on a defect"}}
		}
	}()
	return a.Config.Notify.Notify(ctx, n)
}

// Raise adds an alert to a change.
func (a *Core) Raise(change *ledger.Change, r interlock.Requester, code, message string) error {
	if a.Config.Alert != nil {
		a.Config.Alert(code, r.Agent+": "+message)
	}
	return a.Append(change, interlock.EventAlert, r, "system", auditlog.AlertRecord{Code: code, Message: message})
}

// Event commits one event that spends nothing and depends on nothing.
func (a *Core) Event(ctx context.Context, kind interlock.EventType, r interlock.Requester, role string,
	record auditlog.Record) (ledger.Receipt, error) {
	payload, err := record.Payload()
	if err != nil {
		return ledger.Receipt{}, err
	}
	draft, err := a.Draft(kind, r, role, payload)
	if err != nil {
		return ledger.Receipt{}, err
	}
	return a.Config.Store.Commit(ctx, ledger.Change{Events: []ledger.Draft{draft}})
}

// RecordExecution records that a monitored execution changed its state.
func (a *Core) RecordExecution(ctx context.Context, r interlock.Requester, record auditlog.ExecutionRecord) error {
	record.Element, record.Reason = a.Redact(record.Element), a.Redact(record.Reason)
	return a.recorded(ctx, interlock.EventExecution, r, "agent", record)
}

// RecordToken records that a confirmation token was issued, validated, rejected or revoked.
func (a *Core) RecordToken(ctx context.Context, kind interlock.EventType, r interlock.Requester,
	record auditlog.TokenRecord) error {
	switch kind {
	case interlock.EventTokenIssued, interlock.EventTokenValidated, interlock.EventTokenRejected, interlock.EventTokenRevoked:
		return a.recorded(ctx, kind, r, "agent", record)
	default:
		return interlock.Errorf(interlock.CodeInvalid, "type", "%s is no event of a token", kind)
	}
}

// RecordSession records that an operator came into the console, left it or was turned away.
func (a *Core) RecordSession(ctx context.Context, record auditlog.SessionRecord) error {
	record.Reason = a.Redact(record.Reason)
	actor := record.Operator
	if actor == "" {
		actor = interlock.NoName
	}
	return a.recorded(ctx, interlock.EventSession, interlock.Requester{Agent: actor}, "operator", record)
}

// recorded commits one event about a requester, under the owner configured for it.
func (a *Core) recorded(ctx context.Context, kind interlock.EventType, r interlock.Requester, role string,
	record auditlog.Record) error {
	if r.Agent == "" {
		return interlock.Errorf(interlock.CodeInvalid, "/requester/agent", "is missing")
	}
	_, err := a.Event(ctx, kind, r, role, record)
	return err
}

// Redacted returns the proposal as it may be recorded and shown: the same action with its secrets replaced.
func (a *Core) Redacted(p interlock.Proposal) interlock.Proposal {
	p.Action = a.RedactedAction(p.Action)
	return p
}

// RedactedAction is an action as it may be recorded and shown.
func (a *Core) RedactedAction(action interlock.Action) interlock.Action {
	action.Input = a.Redact(action.Input)
	action.Hint = a.Redact(action.Hint)
	if len(action.Arguments) > 0 {
		action.Arguments = a.RedactedArguments(action.Arguments)
	}
	return action
}

func (a *Core) Redact(text string) string {
	clean, _ := a.Config.Redact(text)
	return clean
}

// RedactedArguments redacts inside the JSON text; if that breaks the JSON, the whole value is withheld.
func (a *Core) RedactedArguments(arguments json.RawMessage) json.RawMessage {
	clean, kinds := a.Config.Redact(string(arguments))
	if len(kinds) == 0 {
		return arguments
	}
	if canonical, err := strictjson.Canonical([]byte(clean)); err == nil {
		return canonical
	}
	return json.RawMessage(`{"redacted":true}`)
}

func (a *Core) RedactedDecision(d interlock.Decision) interlock.Decision {
	return auditlog.RedactDecision(d, a.Config.Redact)
}
