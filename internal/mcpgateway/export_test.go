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

// CheckForm holds arguments against the inputSchema of a definition.
func CheckForm(definition, arguments []byte) error {
	return (&form{definition: definition}).check(arguments)
}

// OpenState is openState of a question that waits for a human.
func (s *Sealer) OpenState(text string, r interlock.Requester, now time.Time) (any, error) {
	return s.openState(sealState, text, r, now)
}

// Sealed is a state of that requester as a client would carry it.
func (s *Sealer) Sealed(r interlock.Requester, expires time.Time) (string, error) {
	return s.sealState(sealState, requestState{Agent: r.Agent, Principal: r.Principal, Expires: expires.Unix()})
}

// ReasonOf is reasonOf.
var ReasonOf = reasonOf

// MaxHeld is maxHeld.
const MaxHeld = maxHeld

// OpenHeldState is openState of a held call.
func (s *Sealer) OpenHeldState(text string, r interlock.Requester, now time.Time) (any, error) {
	return s.openState(sealHeld, text, r, now)
}
