package ledger

import (
	"time"

	"interlock"
)

// A JudgedBody is what judges said of an action: exactly that one, with those impacts, under those ground rules, by those models. So long
// as it is in force they are not asked again. What failed is not remembered.
type JudgedBody struct {
	Key       interlock.Digest     `json:"key"` // of all that the answer depends on
	Judgments []interlock.Judgment `json:"judgments"`
	At        time.Time            `json:"at"`
	Until     time.Time            `json:"until,omitzero"` // zero: for ever, as of denials, which a second question might only talk round
}

// Counts reports whether the answer is still in force.
func (j *JudgedBody) Counts(now time.Time) bool {
	return len(j.Judgments) > 0 && (j.Until.IsZero() || now.Before(j.Until)) && !now.Before(j.At)
}

// An OwedBody is a judgment that is owed: an action of a class that is judged afterwards was let through, and its judge is still to be
// asked. It is kept beside the decision's event, so that it is asked after a restart as well.
type OwedBody struct {
	Event     string              `json:"event"` // of the decision
	Requester interlock.Requester `json:"requester"`
	Action    interlock.Digest    `json:"action"`
	Impacts   []interlock.Impact  `json:"impacts"`
	Class     string              `json:"class"`
	Payload   string              `json:"payload"` // what the judge is shown, without secrets
	Judge     string              `json:"judge"`   // who is asked, by the name in the settings
	By        string              `json:"by"`      // the process that let it through, which asks first
	At        time.Time           `json:"at"`
	Until     time.Time           `json:"until"` // without an answer by then it counts as denied
}

// owedOf is a judgment that is owed for an event.
func owedOf(value any, event string) (any, error) {
	o, ok := value.(OwedBody)
	if !ok {
		return nil, interlock.Errorf(interlock.CodeInvalid, "change", "a %T is no judgment that is owed", value)
	}
	o.Event = event
	return o, nil
}
