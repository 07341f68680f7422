package core

import (
	"context"
	"errors"
	"sort"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Code and reason turn an error into what an agent may read: the message of an *interlock.Error, else nothing specific.
func Code(err error) string {
	var e *interlock.Error
	switch {
	case errors.As(err, &e):
		return string(e.Code)
	case errors.Is(err, ledger.ErrConflict):
		return string(interlock.CodeConflict)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "deadline"
	default:
		return string(interlock.CodeUnavailable)
	}
}

func Reason(err error) string {
	var e *interlock.Error
	switch {
	case errors.As(err, &e):
		return e.Error()
	case errors.Is(err, ledger.ErrConflict):
		return "the standing kept changing while this was decided; try again"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "the decision was not recorded in time"
	default:
		return "the decision could not be recorded; `interlock doctor` says what is wrong"
	}
}

func SortRequests(requests []interlock.ApprovalRequest) {
	sort.Slice(requests, func(i, j int) bool { return requests[i].ID < requests[j].ID })
}

// Refuse records that input was refused before it became an action, and returns the refusal a door answers with.
func (a *Core) Refuse(ctx context.Context, r interlock.Requester, door string, cause error) interlock.Answer {
	return a.Refused(ctx, interlock.Proposal{Requester: r, Door: door}, cause)
}

func (a *Core) Refused(ctx context.Context, p interlock.Proposal, cause error) interlock.Answer {
	answer := interlock.Refusal(Code(cause), Reason(cause))
	if p.Requester.Agent == "" {
		p.Requester.Agent = interlock.NoName
	}
	receipt, err := a.Event(ctx, interlock.EventRefusal, p.Requester, "agent",
		auditlog.RefusalRecord{Door: p.Door, Code: Code(cause), Reason: Reason(cause)})
	if err == nil {
		answer.Event, answer.Index, answer.Checkpoint = receipt.Events[0], receipt.First, receipt.Checkpoint
	}
	return answer
}

// MaxDetail bounds what of a tool's own account of itself is recorded, in bytes.
const MaxDetail = 2048

// Bounded cuts a text at n bytes, at a character boundary.
func Bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + " [cut]"
}
