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

func checkpointAbout(c CheckpointBody) About {
	return About{Key: RunKey(c.Agent, c.Run), Marks: withAll(nano(c.At), RunNamed(c.Run)), Binds: true}
}

func checkpointInto(c CheckpointBody, to *Standing) { to.other(Checkpoint, RunKey(c.Agent, c.Run), c) }

// checkpointNext takes them in their order: of two at once the second is made again. That a person accepts something changes no number.
func checkpointNext(before, after any, _ time.Time) error {
	was, _ := before.(CheckpointBody)
	is, _ := after.(CheckpointBody)
	if is.Number != was.Number+1 && (is.Number != was.Number || is.Accepted == was.Accepted) {
		return moved(Checkpoint, "another one was kept meanwhile")
	}
	return nil
}

func checkpointOwner(value any) string {
	c := value.(CheckpointBody)
	return ownerRun + RunKey(c.Agent, c.Run)
}

// Checkpoint is the newest checkpoint of a run of an agent.
func (s *Standing) Checkpoint(agent, run string) (CheckpointBody, bool) {
	c, ok := s.Others[Checkpoint][RunKey(agent, run)].(CheckpointBody)
	return c, ok
}
