package ledger

import (
	"time"

	"interlock"
	"interlock/internal/anomaly"
)

// ProfileCursor is the key of the row that says how far the log was looked at for what is unusual.
const ProfileCursor = "log"

// A ProfileBody is what is known of how an agent, or a type, behaves; or how far the log was looked at for that.
type ProfileBody struct {
	Name string `json:"name"`           // agent:NAME, type:NAME, or [ProfileCursor]
	Type string `json:"type,omitempty"` // of an agent, where it is bound to one
	From int64  `json:"from,omitempty"` // of the cursor: where the log was looked at from the last time
	Seen int64  `json:"seen,omitempty"` // and up to which entry

	anomaly.Profile
	Score   int       `json:"score,omitempty"`   // at the last look
	Drift   int       `json:"drift,omitempty"`   // likewise
	Sent    [2]int    `json:"sent"`              // the level of score and of drift that was told last
	Alarmed []AlarmAt `json:"alarmed,omitempty"` // the anomalies that people were told of lately
	Quality *SignalAt `json:"quality,omitempty"` // what observers said last
	Context *SignalAt `json:"context,omitempty"`
}

// An AlarmAt is that people were told of an anomaly, and in which slot.
type AlarmAt struct {
	Code string `json:"code"`
	Slot int64  `json:"slot"`
}

// A SignalAt is what an observer said, and when.
type SignalAt struct {
	Value int       `json:"value"`
	At    time.Time `json:"at"`
}

// quietSlots is for how long people are not told again of the same anomaly of the same agent: six hours.
const quietSlots = 36

// Tell reports whether people are to be told of an anomaly, and remembers that they are.
func (p *ProfileBody) Tell(code string) bool {
	var kept []AlarmAt
	for _, one := range p.Alarmed {
		if p.Slot.At-one.Slot >= quietSlots {
			continue
		}
		if one.Code == code {
			return false
		}
		kept = append(kept, one)
	}
	p.Alarmed = append(kept, AlarmAt{code, p.Slot.At})
	return true
}

// signalCounts is how long what an observer said counts for a score.
const signalCounts = time.Hour

// Told is what observers say of the agent at a time.
func (p *ProfileBody) Told(now time.Time) (told anomaly.Told) {
	if p.Quality != nil && now.Sub(p.Quality.At) < signalCounts {
		told.Quality = &p.Quality.Value
	}
	if p.Context != nil && now.Sub(p.Context.At) < signalCounts {
		told.Context = &p.Context.Value
	}
	return told
}

// Heard remembers what an observer says, where a score is made of it.
func (p *ProfileBody) Heard(s interlock.Signal, at time.Time) {
	switch s.Kind {
	case interlock.SignalQuality:
		p.Quality = &SignalAt{s.Value, at}
	case interlock.SignalContext:
		p.Context = &SignalAt{s.Value, at}
	}
}

// profileNext lets the log be looked at once: who goes on from elsewhere than it was looked at up to begins again.
func profileNext(was, is ProfileBody, there bool, _ time.Time) error {
	if is.Name == ProfileCursor && is.From != was.Seen {
		return moved(Profile, "the log was looked at by another process meanwhile")
	}
	return nil
}
