package interlock

import "time"

// A Taken is what an action took from a limit when it was let through: reserved, until it is known what became of it.
type Taken struct {
	Limit     string        `json:"limit"`
	Per       string        `json:"per"`                // for whom it is counted, e.g. "agent"
	Of        []string      `json:"of,omitempty"`       // who that is
	Measure   string        `json:"measure"`            // what is counted
	Currency  string        `json:"currency,omitempty"` // of money
	Take      int64         `json:"take"`
	Window    time.Duration `json:"window_ns,omitempty"` // how long it counts; 0 is for ever
	Monitored bool          `json:"monitored,omitempty"` // where nothing is enforced it is counted in a book of its own
}

// A Measured is what an action was found to have used by the one that carried it out. What is nil was not measured.
type Measured struct {
	Records    *int64
	Bytes      *int64
	Recipients *int64
	Calls      *int64
	Tokens     *int64
	Money      map[string]int64 // by currency, in its smallest unit

	// what a service answered, for the record of modules that may have that kept; nil: nobody has seen it
	Said []byte `json:"-"`
}
