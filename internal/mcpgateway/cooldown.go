package mcpgateway

import "interlock"

// ended is told how a forwarded action ended, before the client is.
func (s *Session) ended(p permit, status interlock.OutcomeStatus) {
	s.gateway.config.Backend.Ended(p.requester, p.answer.Decision, status)
}
