// Package containment stops, holds and slows agents: the kill switch, holds, phases and breakers, what triggers them, the signals
// and incidents that observers report, and what is found unusual in the log.
package containment

import (
	"sync/atomic"

	"interlock/internal/admission/core"
)

// Containment is the room's part of an Admission.
type Containment struct {
	*core.Core

	Overseen atomic.Int64 // when it was last looked for orchestrations that take too long, in unix nanoseconds

	signals   signals
	reporters reporters
	layers    layers
	Pulse     DecisionHealth
	watching  watching
}
