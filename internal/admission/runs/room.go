// Package runs registers and ends runs of agents, with their plans, commitments, checkpoints and time, and rolls them back.
package runs

import (
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
)

// Runs is the room's part of an Admission.
type Runs struct {
	*core.Core
	Containment *containment.Containment
	Judging     *judging.Judging
}
