package mcpgateway

import "interlock"

// An ender wants to know how forwarded actions end before the agent does. Admission is one: what has failed is not tried again
// at once, and an agent is faster than a commit. The wait itself is a finding like any other, see gate.Cooldown.
type ender interface {
	Ended(r interlock.Requester, d interlock.Decision, status interlock.OutcomeStatus)
}

// ended is told how a forwarded action ended, before the client is.
func (s *Session) ended(p permit, status interlock.OutcomeStatus) {
	if e, ok := s.gateway.config.Backend.(ender); ok {
		e.Ended(p.requester, p.answer.Decision, status)
	}
}
