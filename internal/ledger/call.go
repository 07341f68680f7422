package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"interlock"
)

// CallLife is how long it is remembered how a call was decided.
const CallLife = 24 * time.Hour

// Called is the mark of the calls of an agent and run that have an id of the harness's, and Acted of those for an action.
func Called(agent, run, id string) string { return "call\x00" + agent + "\x00" + run + "\x00" + id }
func Acted(agent, run string, action interlock.Digest) string {
	return "action\x00" + agent + "\x00" + run + "\x00" + string(action)
}

func callMarks(c CallBody) []Mark {
	r := c.Requester
	marks := under(nano(c.At), Acted(r.Agent, r.Run, c.Action))
	if r.Call != "" {
		marks = append(marks, Mark{Called(r.Agent, r.Run, r.Call), nano(c.At)})
	}
	return marks
}

// callOf is a call that was decided by an event.
func callOf(value any, event string) (any, error) {
	c, ok := value.(CallBody)
	if !ok {
		return nil, interlock.Errorf(interlock.CodeInvalid, "change", "a %T is no call", value)
	}
	c.EventID = event
	return c, nil
}

// EventID is an event's id: lower-case hex of sha256(job_seed ":" sequence_index ":" event_type), as MACE has it. It is known as soon as
// the event has its place in its run.
func EventID(seed string, sequence int64, kind interlock.EventType) string {
	text := make([]byte, 0, len(seed)+len(kind)+24)
	text = append(text, seed...)
	text = append(text, ':')
	text = strconv.AppendInt(text, sequence, 10)
	text = append(text, ':')
	text = append(text, kind...)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Keyed is a row without a key as it is called once the change's first event has its id.
func (b Book) Keyed(r Row, event string) (Row, error) {
	k := b.kinds[r.Kind]
	if r.Key != "" || k.keyed == nil {
		return r, nil
	}
	value, err := k.keyed(r.Value, event)
	if err != nil {
		return r, err
	}
	r, err = Put(r.Kind, event, value)
	r.Value = value // so that nobody has to read what was just written
	return r, err
}

// A Call remembers how one tool call was decided, so that its second event and its outcome find it. A call is found by
// Requester.Agent, Requester.Run and Action, or by Requester.Call where the harness gives ids.
type CallBody struct {
	Requester interlock.Requester     `json:"requester"`
	Action    interlock.Digest        `json:"action"`
	Anywhere  interlock.Digest        `json:"anywhere,omitempty"` // the same with its directory left out; only where the call has an id
	Events    []string                `json:"events"`             // harness events that have seen it
	Decision  interlock.Decision      `json:"decision"`
	EventID   string                  `json:"event_id"` // of the decision; empty until that is recorded
	Request   string                  `json:"request,omitempty"`
	Gateway   bool                    `json:"gateway,omitempty"` // its question was left to Interlock's own gateway
	At        time.Time               `json:"at"`
	Outcome   interlock.OutcomeStatus `json:"outcome,omitempty"`
}

// An AgainBody says that a call for which a yes was used up was shown to its harness's hooks a second time: a third is asked about. It
// is kept apart from the call, because an older row of the call may be put back.
type AgainBody struct {
	Event string    `json:"event"` // of the decision
	At    time.Time `json:"at"`
}
