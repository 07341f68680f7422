package mcpgateway

import (
	"context"
	"encoding/json"

	"interlock"
)

// settle deals with an Ask: it may wait for the human, propose again, or ask the client's user on the wire. It returns the
// answer that counts, or what the client is to be sent instead of one: a whole JSON-RPC result.
func (s *Session) settle(_ context.Context, _ *request, _ interlock.Proposal, asked interlock.Answer) (interlock.Answer, json.RawMessage) {
	return asked, nil
}
