package auditlog

import (
	"context"
	"fmt"
)

// A Disagreement says where the history that a head kept elsewhere represents parts from the one the log holds.
type Disagreement struct {
	Kept int64 `json:"kept"` // entries under the head that is kept
	Log  int64 `json:"log"`  // entries of the log
	From int64 `json:"from"` // the first entry on which the two may disagree: up to there another head agrees with the log
	To   int64 `json:"to"`   // the last one
}

// String says it in one sentence.
func (d Disagreement) String() string {
	entries := fmt.Sprintf("entries %d to %d", d.From, d.To)
	if d.From == d.To {
		entries = fmt.Sprintf("entry %d", d.From)
	}
	agreed := ", all of it"
	if d.From > 0 {
		agreed = fmt.Sprintf(", and agree up to entry %d", d.From-1)
	}
	if d.Kept > d.Log {
		missing := fmt.Sprintf("entries %d to %d are", d.Log, d.Kept-1)
		if d.Log == d.Kept-1 {
			missing = fmt.Sprintf("entry %d is", d.Log)
		}
		return fmt.Sprintf("two histories disagree on %s%s: the log had %d entries once and has %d now; %s missing", entries, agreed,
			d.Kept, d.Log, missing)
	}
	return fmt.Sprintf("two histories disagree on %s%s: the log is not the one that had %d entries once", entries, agreed, d.Kept)
}

// Histories holds heads of a log that were kept elsewhere, with good signatures, against the log as it is, and says of each that
// contradicts it on which entries. It can be no more exact than the heads lie apart.
func Histories(ctx context.Context, rows HashRows, log Checkpoint, kept []Checkpoint) ([]Disagreement, error) {
	agreed := make([]bool, len(kept))
	for i, head := range kept {
		if head.Origin != log.Origin || head.Size > log.Size || head.Size < 1 {
			continue
		}
		proof, err := ProveConsistency(ctx, rows, log.Size, head.Size)
		if err != nil {
			return nil, err
		}
		agreed[i] = CheckConsistency(proof, log, head) == nil
	}
	var apart []Disagreement
	for i, head := range kept {
		if agreed[i] || head.Origin != log.Origin || head.Size < 1 {
			continue
		}
		d := Disagreement{Kept: head.Size, Log: log.Size, To: head.Size - 1}
		for j, other := range kept {
			if agreed[j] && other.Size < head.Size {
				d.From = max(d.From, other.Size)
			}
		}
		apart = append(apart, d)
	}
	return apart, nil
}
