package mcpgateway

import "interlock"

// ended is told how a forwarded action ended.
func (s *Session) ended(_ permit, _ interlock.OutcomeStatus) {}
