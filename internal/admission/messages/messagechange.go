package messages

import (
	"slices"

	"interlock"
)

// Attest has a message carry an attestation of its own, also where nothing is enforced and it was let through in spite of what it
// is.
func (p *MessageCheck) Attest() {
	if len(p.M.Steps) > 0 {
		return
	}
	p.M.Steps = append(slices.Clone(p.Before), interlock.StepAttestation{Step: p.step(), Agent: p.M.From, Message: p.M.ID,
		Type: p.M.Type, Version: p.M.Version,
		Content: p.M.Digest})
}
