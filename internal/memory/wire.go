package memory

import "time"

// A Put is what an agent wants kept.
type Put struct {
	Key     string   `json:"key"`                   // scope/entity_type/entity_id/attribute
	Value   string   `json:"value"`                 // a text of at most 8,192 bytes
	Store   string   `json:"store,omitempty"`       // episodic, which is the default, or semantic: a stable fact, which the council approves
	Source  string   `json:"source,omitempty"`      // where the agent has it from: user, or a name such as web:example.com
	From    []string `json:"from,omitempty"`        // ids of the facts that it is made of
	TTL     int64    `json:"ttl_seconds,omitempty"` // of an episodic fact that ends sooner than the settings say
	Subject string   `json:"subject,omitempty"`     // whose personal data is in it, where they agreed to that
	Because string   `json:"because,omitempty"`     // why it is to be a stable fact, for those who vote
}

// A Promotion asks that an episodic fact become a stable one.
type Promotion struct {
	Key     string `json:"key"`               // of the episodic fact
	Because string `json:"because,omitempty"` // why, for those who vote
	Subject string `json:"subject,omitempty"` // whose personal data is in it
}

// A Shown is what those who vote on a stable fact are shown of it, as the params of their request.
type Shown struct {
	Fact     string   `json:"fact"`
	Value    string   `json:"value,omitempty"` // nothing of it where personal data is in it
	Taint    []string `json:"taint"`
	Personal []string `json:"personal,omitempty"` // kinds of personal data
	About    []string `json:"about,omitempty"`    // people
	Agent    string   `json:"agent"`
	Source   string   `json:"source,omitempty"`
}

// A Query is what an agent looks for.
type Query struct {
	Query string `json:"query"`           // words that a fact holds, all of them, in its key or its value; none: every fact
	Limit int    `json:"limit,omitempty"` // how many at most; 20 unless it says otherwise, and at most 100
}

// A Told is a fact as it is answered, with where it comes from.
type Told struct {
	Store    string    `json:"store"`
	Key      string    `json:"key"`
	Shared   bool      `json:"shared"` // other agents read and write it as well
	ID       string    `json:"id"`
	Value    string    `json:"value"`                // as it may be shown
	Agent    string    `json:"agent"`                // who wrote it
	Run      string    `json:"run,omitempty"`        // in which, told to that agent alone
	Source   string    `json:"source,omitempty"`     // where that agent says that it has it from
	Taint    []string  `json:"taint"`                // what may be wrong with where it comes from: ordered, returned, source, unheard, derived
	Number   int       `json:"number"`               // how often its key was written
	At       time.Time `json:"at"`                   // when it was written
	Until    time.Time `json:"until,omitzero"`       // when it ends
	Request  string    `json:"request_id,omitempty"` // by which the council approved a stable fact
	Withheld bool      `json:"withheld,omitempty"`   // its value may not be shown, or not all of it
}

// A Reply says what came of something that an agent asked of its memory.
type Reply struct {
	Outcome string `json:"outcome"`              // OK; anything else says why not
	Message string `json:"message,omitempty"`    // what is wrong
	ID      string `json:"id,omitempty"`         // of what was kept, or waits
	Request string `json:"request_id,omitempty"` // the council's request that it waits for
	Event   string `json:"event_id,omitempty"`   // that records it
	Facts   []Told `json:"facts,omitempty"`      // what was asked for, stable facts first
}
