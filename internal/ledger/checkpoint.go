package ledger

import (
	"time"

	"interlock"
)

// A CheckpointBody is the newest checkpoint of a run.
type CheckpointBody struct {
	interlock.RunKept
	Agent string `json:"agent"`
	// the digest of other constraints that a person has accepted for the next one
	Accepted interlock.Digest `json:"accepted,omitempty"`
}

// checkpointNext takes them in their order: of two at once the second is made again. That a person accepts something changes no number.
func checkpointNext(was, is CheckpointBody, there bool, _ time.Time) error {
	if is.Number != was.Number+1 && (is.Number != was.Number || is.Accepted == was.Accepted) {
		return moved(Checkpoint, "another one was kept meanwhile")
	}
	return nil
}

// Checkpoint is the newest checkpoint of a run of an agent.
func (s *Standing) Checkpoint(agent, run string) (CheckpointBody, bool) {
	c, ok := s.Others[Checkpoint][RunKey(agent, run)].(CheckpointBody)
	return c, ok
}
