package httpapi

import (
	"context"
	"net"

	"interlock"
	"interlock/internal/account"
)

// The agents' door is a unix socket that other users of the machine may connect to, where Interlock runs as a user of its own. It
// takes what hooks hand over, as the local door does, with these differences:
//
//   - Who asks is who the kernel says: the principal of every request is the user at the other end of the connection.
//   - What may be known of the world is gathered here, for that user; nothing an agent says of it counts.
//   - No file is read for it, and nothing is handed over to a sandbox: what the server's user may read is not the agent's to learn of.
//   - Without an agent's token nothing is told of the log, of the past or of others.

// peerKey is the key of a connection's peer in the context of its requests.
type peerKey struct{}

// withPeer remembers the user at the other end of a unix socket.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if uid, known := peerOf(conn); known {
		return context.WithValue(ctx, peerKey{}, uid)
	}
	return ctx
}

// askedBy says who asks at the agents' door. One that the kernel does not name is nobody, and has to show a token.
func (x *exchange) askedBy() {
	if x.door != agents {
		return
	}
	if uid, known := x.r.Context().Value(peerKey{}).(int); known {
		x.uid, x.peer = uid, account.Of(uid)
	}
}

// user is for whom something is asked where nobody is named.
func (x *exchange) user() string {
	if x.door == agents {
		return x.peer.Name
	}
	return x.server.config.User
}

// view is what may be known of the world where an action is proposed.
func (x *exchange) view(dir string) interlock.View {
	if x.door == agents {
		if x.server.config.PeerView == nil {
			return interlock.View{} // that nothing is inside of
		}
		return x.server.config.PeerView(x.uid, dir)
	}
	return x.server.config.View(dir)
}

// forPeers refuses, at the agents' door and without a token, what tells of the log or of others.
func (x *exchange) forPeers() error {
	if x.door != agents || x.token {
		return nil
	}
	switch x.route {
	case routeDecide, routeOutcome, routeHeard, routeWait, routeRuns, routeRunEnd, routeTurn, routeHeartbeat, routeBind, routeKeep,
		routePlans, routeEvaluation, routeEvaluations, routeAuthzen, routeReady, routeCheckpoint:
		return nil
	case routeTelemetry: // which has shown a token of its own
		return nil
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "this is told to agents with a token only; send Bearer and the token")
}

// peerMay refuses what only the hook of the server's own user may say of a proposal.
func (x *exchange) peerMay(body *decideBody) error {
	if x.door != agents {
		return nil
	}
	if body.View != nil {
		return interlock.Errorf(interlock.CodeUnauthorized, "/view", "is gathered by the server for agents of other users; leave it out")
	}
	if body.Handover != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "/handover", "is for the server's own user; leave it out")
	}
	return nil
}
