package mcpgateway

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// A Link is one connection to a server. Send and Receive carry whole JSON-RPC messages without a line end. Send is safe for
// concurrent use and does not keep the message; if its error is an *interlock.Error, the message was not delivered, else nobody
// knows. Receive is called by one goroutine; what it returns is the caller's; it ends
// with io.EOF, or an error that says why, when the server is gone. An answer beyond the link's bound is an error whose data is
// {"interlock":"answer_dropped"}. Close ends both, and returns when the server has gone or was made to go.
//
// It is an alias, so that package upstream, which may not import this one, can declare the same type.
type Link = interface {
	Send(ctx context.Context, message []byte) error
	Receive() ([]byte, error)
	Close() error
}

// A Server is one server behind the gateway, as configured. It is safe for concurrent use: every session dials its own link.
type Server interface {
	// Name is what the server's tools are called by towards clients: letters, digits, - and _, no dot, 1 to 64 bytes.
	Name() string
	// Identity is a digest of what would be started or reached, and of no secret. Another identity is another server.
	Identity() interlock.Digest
	// Dial starts or reaches the server. MCP's handshake is the gateway's to make. It answers with an *interlock.Error of
	// CodeUnavailable while it backs off.
	Dial(ctx context.Context) (Link, error)
	// Local reports whether the server is a program on this machine, which the person who starts this one has named.
	Local() bool
	// Trouble is what is wrong with the server now, which operators get to know and callers don't; empty where nothing is, or
	// nothing more than Dial says. There is no secret in it.
	Trouble() string
}

// A Peer takes whole JSON-RPC messages for the client, without a line end. It is safe for concurrent use, comparable,
// and does not keep the message.
type Peer interface {
	Send(ctx context.Context, message []byte) error
}

// A LatePeer takes messages before its client can read them. Not every transport has such a peer.
type LatePeer interface {
	Peer
	// Unread is closed once it is clear that the client never reads what was sent.
	Unread() <-chan struct{}
}

// Backend is what the door needs of admission. Implementations are safe for concurrent use.
type Backend interface {
	// ProposeBy decides and records one action; see [interlock.Backend].
	ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer
	// Report records what executing an action did.
	Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error
	// Refuse records that input was refused before it became an action.
	Refuse(ctx context.Context, r interlock.Requester, door string, cause error) interlock.Answer
	// Ground returns what refs name of what is in force, and the version of the ledger.
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	// Watch tells that some of what is named may have changed.
	core.Watcher
	// Ended is told how a forwarded action ended, before the agent is: what has failed is not tried again at once, and an agent
	// is faster than a commit. The wait itself is a finding like any other, see gate.Cooldown.
	Ended(r interlock.Requester, d interlock.Decision, status interlock.OutcomeStatus)
	// Conclude records outcomes together, without looking the decisions up: the gateway has them at hand.
	Conclude(ctx context.Context, ended ...admission.Concluded) error
	// Weigh decides without recording, where nothing is enforced; what it is not sure of is to be proposed.
	Weigh(ctx context.Context, way admission.Way, p interlock.Proposal) (answer interlock.Answer, ok bool)
}

// A Caller is who calls, as the transport has established it. Nothing a message says changes it.
type Caller struct {
	Agent      string
	Principal  string
	Connection string // names the transport's connection, or the credential where a transport has none
	Dir        string // working directory of a local agent; empty for a remote one
	Shared     bool   // several connections of this agent share the session (stateless HTTP): equal ids are no duplicates
}

// A Hearer takes note of what the servers' results of a session name, so that a later call is judged by who named its target.
type Hearer interface {
	Returned(r interlock.Requester, view interlock.View, action interlock.Action, result string)
}

// A Classifier says what of a server's texts may go on to the client or to people. It is safe for concurrent use.
type Classifier interface {
	// Classify says what may go on, and has recorded what was taken out when it returns. With an error nothing may go on.
	Classify(ctx context.Context, c Classified) (Shown, error)
	// Plain is a text as people may be told of it where nothing of it need be recorded, such as a line of a log.
	Plain(text string) string
}

// A Classified is what is in one message of a server, and the decided call that it came of, if there is one.
type Classified struct {
	Requester interlock.Requester
	Event     string // of the decision; empty: none
	Where     string // what it is in, in words of ours, such as "result of a server"
	Texts     []string
	Runs      [][]int // texts that are read one behind the other, by their indices
	Before    int     // so many of the texts went on before: they are there for what reaches over from them
}

// A Shown is what of these texts may go on.
type Shown struct {
	Texts   []string // in the same order, without those that went on before
	Message string   // what the reader is told of what is missing; empty: nothing is
	Blocked bool     // none of it may go on

	Unreviewed string // a sentence that says why nobody reviews what is missing; empty: somebody does, or none of it waits for that
}

// Nowhere takes what belongs to a message that is no request: there is nobody who waits for it.
type Nowhere struct{}

func (Nowhere) Send(context.Context, []byte) error { return errNobodyWaits }

var errNobodyWaits = errors.New("nobody waits for an answer to this message")

// ErrClientGone is what the core is told when a client takes no more.
var ErrClientGone = errors.New("the client is gone or reads too slowly")

// What a server may have of what others share: lines of the log, and of the client's patience.
const (
	mostGarbage = 20  // lines a minute about what is no message
	mostChatter = 100 // log messages a second to the client
)

// The pause between two readings of a list that keeps changing, which grows while it does.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)
