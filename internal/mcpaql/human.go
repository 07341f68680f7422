package mcpaql

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
)

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
	case core.Passed:
		return verification{Challenge: id, Verified: true, Unblocked: v.Unblocked, Request: v.Request,
			Next: "Report the step again with record_execution_step; it is judged afresh."}, nil
	case core.Unknown:
		return nil, &Failure{Code: CodeNoResource, Message: "No such challenge is open for this agent, or this is no code",
			Details: details}
	case core.Limited:
		details["retry_after_seconds"] = int(v.RetryAfter / time.Second)
		return nil, &Failure{Code: CodeRateLimit,
			Message: "Too many codes were wrong; wait before handing in another, and don't guess", Details: details}
	default: // wrong, expired, and whatever else is not a pass
		reason := v.Reason
		if reason == "" {
			reason = "the code is not right, or no longer in force"
		}
		return nil, &Failure{Code: CodePermissionDenied,
			Message: "Permission denied: " + reason + ". Ask the human for a new code; an operator can have one issued",
			Details: details}
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

// confirm asks admission what has become of a request. That an agent confirms is no reason for anything (AQL-8.7.3s).
func (s *Server) confirm(ctx context.Context, c Caller, a arguments) (any, error) {
	request, err := s.config.Backend.Confirm(ctx, c.requester(), a.text("request_id"), a.text("code"))
	if err != nil {
		return nil, err
	}
	out := confirmation{Request: request.ID, Status: string(request.Status),
		Confirmed: request.Status == interlock.RequestApproved}
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
