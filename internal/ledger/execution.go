package ledger

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// IdleExecution is how long nothing may happen in a run before what it did is forgotten.
const IdleExecution = time.Hour

// Done is what a monitored run has done so far: the risks its steps add up to, and how often it did what rules ask about.
type Done struct {
	Principal string           `json:"principal,omitempty"`
	Agent     string           `json:"agent"`
	Run       string           `json:"run,omitempty"`
	Seen      time.Time        `json:"seen"`  // the last step
	Steps     int              `json:"steps"` // that were decided, whatever came of them
	Risk      int              `json:"risk,omitempty"`
	Counts    map[string]Times `json:"counts,omitempty"` // by counter
}

// ExecutionKey names what a run of an agent has done.
func ExecutionKey(principal, agent, run string) string {
	return principal + "\x00" + agent + "\x00" + run
}

// executionNext lets a step follow the one before: of two that were decided at once the second is decided again. No other
// decision waits for either.
func executionNext(was, is Done, there bool, _ time.Time) error {
	if is.Steps != was.Steps+1 {
		return moved(Execution, "another step was decided meanwhile")
	}
	return nil
}

// Times are when something was done, oldest first, or only how often where nobody asks for a window.
type Times struct {
	Number int
	At     []time.Time
}

// timesBody is how it is written: the times as differences, because there may be thousands.
type timesBody struct {
	Number int    `json:"n"`
	At     []byte `json:"at,omitempty"`
}

// MarshalJSON writes a few bytes a time.
func (t Times) MarshalJSON() ([]byte, error) {
	body, last := timesBody{Number: t.Number}, int64(0)
	for _, at := range t.At {
		body.At = binary.AppendVarint(body.At, nano(at)-last)
		last = nano(at)
	}
	return json.Marshal(body)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (t *Times) UnmarshalJSON(data []byte) error {
	var body timesBody
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	*t = Times{Number: body.Number}
	for last := int64(0); len(body.At) > 0; {
		step, n := binary.Varint(body.At)
		if n <= 0 {
			return errors.New("the times of an execution can't be read")
		}
		last += step
		t.At, body.At = append(t.At, time.Unix(0, last).UTC()), body.At[n:]
	}
	return nil
}

// Since returns the times without those that are longer ago than a window.
func (t Times) Since(now time.Time, window time.Duration) Times {
	if window > 0 {
		old := 0
		for old < len(t.At) && now.Sub(t.At[old]) > window {
			old++
		}
		t.At = t.At[old:]
		t.Number = len(t.At)
	}
	return t
}

// With returns the times and one more, if there are fewer than most.
func (t Times) With(now time.Time, window time.Duration, most int) Times {
	if t.Number >= most {
		return t
	}
	t.Number++
	if window > 0 {
		t.At = append(slices.Clip(t.At), now)
	}
	return t
}
