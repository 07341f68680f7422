package auditlog

import (
	"encoding/json"

	"interlock"
)

// A RunRecord says that a run was registered or has ended.
type RunRecord struct {
	Run         interlock.Run    // redacted
	Accountable string           // the human who answers for its agent, as the agent's type says
	Result      interlock.Digest // of a result that was handed over
	Requests    []string         // questions that were withdrawn with it
	Uncertain   []string         // what its agent says is not certain; redacted
	Last        bool             // the task failed as often as it may be tried, and is not tried again

	Judgments []interlock.Judgment // what judges said of the result; their words redacted
	Approval  string               // the request whose answer let the result leave, although judges object to it
}

// Payload renders the record.
func (r RunRecord) Payload() (json.RawMessage, error) {
	return payload("a run", struct {
		Run         interlock.Run    `json:"run"`
		Accountable string           `json:"accountable_human,omitempty"`
		Result      interlock.Digest `json:"result,omitempty"`
		Requests    []string         `json:"withdrawn,omitempty"`
		Uncertain   []string         `json:"uncertain,omitempty"`
		Last        bool             `json:"not_tried_again,omitempty"`

		Judgments []interlock.Judgment `json:"judgments,omitempty"`
		Approval  string               `json:"approval,omitempty"`
	}{r.Run, r.Accountable, r.Result, r.Requests, r.Uncertain, r.Last, r.Judgments, r.Approval})
}

// A TurnRecord says that agents have taken one more turn of a conversation, or may take none.
type TurnRecord struct {
	Run          string
	Conversation string // redacted
	Turn         int
	Most         int
	Decides      string // who decides, where there are no more turns
}

// Payload renders the record.
func (r TurnRecord) Payload() (json.RawMessage, error) {
	return payload("a turn", struct {
		Run          string `json:"run"`
		Conversation string `json:"conversation"`
		Turn         int    `json:"turn"`
		Most         int    `json:"most"`
		Decides      string `json:"decides,omitempty"`
	}{r.Run, r.Conversation, r.Turn, r.Most, r.Decides})
}

// A BindingRecord says that what is done in a session counts as done in a run.
type BindingRecord struct {
	Run     string
	Session string
}

// Payload renders the record.
func (r BindingRecord) Payload() (json.RawMessage, error) {
	return payload("a binding", struct {
		Run     string `json:"run"`
		Session string `json:"session"`
	}{r.Run, r.Session})
}
