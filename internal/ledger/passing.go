package ledger

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"interlock"
	"interlock/internal/origin"
)

// What runs did and heard a moment ago, and what agents wrote lately.

// A RecentBody is what a run did a moment ago, oldest first, as far as rules ask for it.
type RecentBody struct {
	Run     string                 `json:"run"` // whose, and which
	Actions []interlock.PastAction `json:"actions"`
}

// A Past is one more action of a run. Writing one is adding it to what the run did before.
type Past struct {
	Run    string
	Action interlock.PastAction
}

func recentMerge(r RecentBody, past Past) (RecentBody, bool) {
	return RecentBody{Run: past.Run, Actions: interlock.Remember(r.Actions, past.Action)}, true
}

// A WrittenBody is that an agent wrote a file, or fetched it, at a time; or, where it has By, who wrote one.
type WrittenBody struct {
	File string    `json:"file"` // a digest that says whose it is as well, or what [WrittenAt] makes of one that does not
	At   time.Time `json:"at"`
	// who wrote it, or had it written, and when last; of those who did within [interlock.WrittenWindow]
	By map[string]time.Time `json:"by,omitempty"`
}

// WrittenAt is the key under which it is kept who wrote a file.
func WrittenAt(place string) string { return "at\x00" + place }

// MaxWriters bounds how many agents it is remembered of that they wrote a file. More than may write what anybody runs is enough.
const MaxWriters = 40

// writtenMerge puts those who write a file to those who did.
func writtenMerge(w, more WrittenBody) (WrittenBody, bool) {
	if len(more.By) == 0 {
		return more, true
	}
	by := maps.Clone(more.By)
	for name, at := range w.By { // order-independent: each name by itself
		if more.At.Sub(at) <= interlock.WrittenWindow && by[name].Before(at) {
			by[name] = at
		}
	}
	for len(by) > MaxWriters {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(by)), func(a, b string) int { return by[a].Compare(by[b]) })
		delete(by, oldest)
	}
	if more.By = by; w.At.After(more.At) {
		more.At = w.At
	}
	return more, true
}

// maxHeard bounds of how many runs it is remembered what they heard.
const maxHeard = 256

// A HeardBody is what a run has heard.
type HeardBody struct {
	Run string `json:"run"` // whose, and which
	origin.Heard
}

// heardBody is how it is written: the values as bytes, ten a value, because there may be thousands.
type heardBody struct {
	Run string `json:"run"`
	origin.Heard
	Values []byte `json:"values,omitempty"`
}

const heardValue = 10 // digest, voices, source

// MarshalJSON writes ten bytes a value.
func (h HeardBody) MarshalJSON() ([]byte, error) {
	body := heardBody{Run: h.Run, Heard: h.Heard}
	for _, v := range h.Values {
		body.Values = binary.BigEndian.AppendUint64(body.Values, v.Sum)
		body.Values = append(body.Values, byte(v.By), byte(v.Source))
	}
	return json.Marshal(body)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (h *HeardBody) UnmarshalJSON(data []byte) error {
	var body heardBody
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	*h = HeardBody{Run: body.Run, Heard: body.Heard}
	if n := len(body.Values) / heardValue; n > 0 {
		h.Values = make([]origin.Value, n)
	}
	for n := range h.Values {
		at := body.Values[n*heardValue:]
		h.Values[n] = origin.Value{Sum: binary.BigEndian.Uint64(at), By: origin.Voice(at[8]), Source: int(at[9])}
	}
	return nil
}
