package mcpgateway

import "context"

// A Session is one client's session with its own connections to the servers. It is safe for concurrent use.
type Session struct {
	gateway *Gateway
	caller  Caller
	peer    Peer
	run     string // names this session in the record
}

// Open begins a session. What belongs to no request of the client, such as list-changed notices, goes to peer. The session's
// servers are started when they are first needed. It is refused with an *interlock.Error of CodeLimited if there are too many.
func (g *Gateway) Open(c Caller, peer Peer) (*Session, error) {
	return &Session{gateway: g, caller: c, peer: peer}, nil
}

// Handle takes one message of the client and returns when it is dealt with. Whatever belongs to it (its answer, its
// progress, a server's requests while it runs) goes to reply; a request gets exactly one answer unless ctx ends, which
// cancels it. It is safe for concurrent use; messages that must be seen in order are handed over one after another.
func (s *Session) Handle(ctx context.Context, message []byte, reply Peer) {}

// Close cancels what is under way, ends the servers' connections and records what is left to record.
func (s *Session) Close() error { return nil }
