// Package messages holds what agents write to each other, and texts that are screened, to contracts and rules.
package messages

import (
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
)

// Messages is the room's part of an Admission.
type Messages struct {
	*core.Core
	Containment *containment.Containment
}
