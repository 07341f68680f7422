package admission

import (
	"context"
	"errors"
	"sort"

	"interlock"
	"interlock/internal/ledger"
)

// code and reason turn an error into what an agent may read: the message of an *interlock.Error, else nothing specific.
func code(err error) string {
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

func reason(err error) string {
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

func sortRequests(requests []interlock.ApprovalRequest) {
	sort.Slice(requests, func(i, j int) bool { return requests[i].ID < requests[j].ID })
}
