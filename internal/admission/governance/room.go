// Package governance is what people decide: answers and votes, the council's requests, grants, suppressions, trust, operators and
// agents, which rules, settings and ground rules are in force, and the proofs of it.
package governance

import (
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/admission/messages"
	"interlock/internal/admission/pinning"
	"interlock/internal/admission/runs"
)

// Governance is the room's part of an Admission.
type Governance struct {
	*core.Core
	Containment *containment.Containment
	Judging     *judging.Judging
	Pins        *pinning.Pins
	Messages    *messages.Messages
	Runs        *runs.Runs
}
