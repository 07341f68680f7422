package mcpgateway

import (
	"time"

	"interlock"
)

// What tests look at from outside.
var (
	ToolAction       = toolAction
	ResourceAction   = resourceAction
	PromptAction     = promptAction
	CompletionAction = completionAction
	ServerAction     = serverAction
	ServerRequester  = serverRequester
	AnnotationsOf    = annotationsOf
)

// OpenState is openState.
func (s *Sealer) OpenState(text string, r interlock.Requester, now time.Time) (any, error) {
	return s.openState(text, r, now)
}

// Sealed is a state of that requester as a client would carry it.
func (s *Sealer) Sealed(r interlock.Requester, expires time.Time) (string, error) {
	return s.sealState(requestState{Agent: r.Agent, Principal: r.Principal, Expires: expires.Unix()})
}

// ReasonOf is reasonOf.
var ReasonOf = reasonOf
