package ledger

import (
	"crypto/sha256"
	"encoding/hex"

	"interlock"
)

// A Mend has a change put right what somebody else has done to what is beside the log: exactly the plan that an operator was shown and
// signed, or nothing.
type Mend struct {
	Plan interlock.Digest // see [PlanDigest]
	Said []Row            // what the log says of rows, oldest first
}

// A Repair is one thing that is wrong beside the log, and what mending it does.
type Repair struct {
	Wrong string `json:"wrong"`
	Does  string `json:"does"`
	Can   bool   `json:"can"` // else nothing is done: what it was can't be told
}

// PlanDigest names a plan by all that it says.
func PlanDigest(plan []Repair) interlock.Digest {
	h := sha256.New()
	for _, r := range plan {
		h.Write([]byte(r.Wrong + "\x00" + r.Does + "\x01"))
	}
	return interlock.Digest("sha256:" + hex.EncodeToString(h.Sum(nil)))
}
