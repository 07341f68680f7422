// Package judging asks judges whether an action, a plan or an output breaks the ground rules, remembers what they said and what
// that cost, and hears those it owes a question afterwards.
package judging

import (
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
)

// Judging is the room's part of an Admission.
type Judging struct {
	*core.Core
	Containment *containment.Containment

	Inquiries *inquiries
	Owing     owing
}

// New returns the room.
func New(c *containment.Containment) *Judging {
	return &Judging{Core: c.Core, Containment: c, Inquiries: newInquiries()}
}
