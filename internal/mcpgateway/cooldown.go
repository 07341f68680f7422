package mcpgateway

import "interlock"

// cooling says whether a request that failed a moment ago must wait before it is tried again: nil means that it may go.
func (s *Session) cooling(_ interlock.Action, _ interlock.Answer) *refusal { return nil }

// ended is told how a forwarded action ended.
func (s *Session) ended(_ permit, _ interlock.OutcomeStatus) {}
