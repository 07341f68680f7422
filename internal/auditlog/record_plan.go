package auditlog

import (
	"encoding/json"

	"interlock"
	"interlock/internal/ledger"
)

// A Committed is what the action of one decision decides, where the rules say that calls of its tool decide something.
type Committed struct {
	Name     string           `json:"name"` // of the commitment
	Rule     string           `json:"rule"`
	Choice   interlock.Digest `json:"choice"`
	Input    interlock.Digest `json:"input,omitempty"`    // what it was decided from
	Reversed string           `json:"reversed,omitempty"` // it was decided otherwise before: by what that may be, input or human
	Locked   bool             `json:"locked,omitempty"`   // it would have gone to and fro once more, and stays as it is
}

// A PlanStep says which step of its run's plan an action is.
type PlanStep struct {
	Plan string `json:"plan"`
	Step int    `json:"step"` // from 1
}

// A PlanRecord is what a run is to do, as it was looked at; or that a person has acknowledged it.
type PlanRecord struct {
	Plan      interlock.Plan       // redacted
	Judgments []interlock.Judgment // what judges said of it as a whole; their words redacted
}

// Payload renders the record.
func (r PlanRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	p := r.Plan
	p.Steps = append([]interlock.StepView(nil), p.Steps...)
	for n := range p.Steps {
		p.Steps[n].Says, p.Steps[n].MadeGood = c.text("says", p.Steps[n].Says), c.text("compensation", p.Steps[n].MadeGood)
	}
	return payload("a plan", struct {
		Plan      interlock.Plan       `json:"plan"`
		Judgments []interlock.Judgment `json:"judgments,omitempty"`
		Cut       []cutWire            `json:"truncated,omitempty"`
	}{p, c.judgments(r.Judgments), c.cut})
}

// An UnlockRecord says that a commitment that was locked may be decided anew, on whose order, and how often it had gone to and fro.
type UnlockRecord struct {
	Commitment ledger.CommitmentBody // as it is now, redacted
	Reversals  []ledger.Reversal
	Order      interlock.Order // redacted
}

// Payload renders the record.
func (r UnlockRecord) Payload() (json.RawMessage, error) {
	return payload("an unlocked commitment", struct {
		Commitment ledger.CommitmentBody `json:"commitment"`
		Reversals  []ledger.Reversal     `json:"reversals,omitempty"`
		Order      interlock.Order       `json:"order"`
	}{r.Commitment, r.Reversals, r.Order})
}
