package mcpgateway

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"interlock"
)

// The protocol revisions the front speaks. Older ones are answered as the older of the two.
const (
	RevisionSessions  = "2025-11-25" // initialize, one session
	RevisionStateless = "2026-07-28" // everything a request needs is in its _meta
)

// A request is one request of the client while it is handled.
type request struct {
	id       json.RawMessage // as the client wrote it
	method   string
	params   json.RawMessage // as the client wrote it, strictly decoded; nil: none
	meta     meta
	revision string
	client   abilities
	ctx      context.Context // ends when the client cancels it or the session ends
	cancel   context.CancelFunc
	reply    Peer
	begun    time.Time
	shaped   bool       // the tool it calls declares an outputSchema
	held     *held      // the call it has made, once that outlives it
	finished *sync.Once // of being answered

	// Of requests whose front does not wait for them; see onward.go.
	alone   bool   // no other was under way when it came
	mayGoOn bool   // the reader of the server's answer may answer it
	onward  bool   // it is answered so
	aside   func() // called before anything that may wait, by the goroutine that read the request; nil: it may wait
}

// abilities are what the client said it can do, in its handshake or in the request's _meta.
type abilities struct {
	form     bool // elicitation by form
	url      bool // elicitation by URL
	sampling bool
	roots    bool
	tasks    bool            // the tasks extension
	raw      json.RawMessage // the whole object
}

// A permit is leave to forward one action once.
type permit struct {
	action    interlock.Action
	requester interlock.Requester
	answer    interlock.Answer
	by        interlock.Upstream // of what is no tool's: what it was judged by
	weighed   bool               // nothing is enforced and nothing was recorded, so neither is the outcome
}

// holds reports whether it is leave indeed: an Allow, and recorded unless nothing is.
func (p permit) holds() bool {
	return (p.answer.Event != "" || p.weighed) && p.answer.Answer.Allowed()
}
