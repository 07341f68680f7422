package ledger

import (
	"math"
	"time"

	"interlock"
)

// A JudgedBody is what judges said of an action: exactly that one, with those impacts, under those ground rules, by those models. So long
// as it stands they are not asked again. What failed is not remembered.
type JudgedBody struct {
	Key       interlock.Digest     `json:"key"` // of all that the answer depends on
	Judgments []interlock.Judgment `json:"judgments"`
	At        time.Time            `json:"at"`
	Until     time.Time            `json:"until,omitzero"` // zero: for ever, as of denials, which a second question might only talk round
}

// Counts reports whether the answer still stands.
func (j *JudgedBody) Counts(now time.Time) bool {
	return len(j.Judgments) > 0 && (j.Until.IsZero() || now.Before(j.Until)) && !now.Before(j.At)
}

func judgedAbout(j JudgedBody) About {
	until := int64(math.MaxInt64)
	if !j.Until.IsZero() {
		until = nano(j.Until)
	}
	return About{Key: string(j.Key), Marks: under(until, Until)}
}
