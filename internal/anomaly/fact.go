package anomaly

import "time"

// A Fact is one thing that was recorded of an agent.
type Fact struct {
	At      time.Time
	Decided bool          // an action was decided
	Refused bool          // and refused, by what says what must not be done
	Ended   bool          // an action has ended
	Failed  bool          // and not well
	Took    time.Duration // how long it took, where that is known
	Message bool          // somebody was addressed: a person, another agent, a run that is delegated
	Tools   []string      // that were used: the tool, and the programs it ran
	Places  []string      // hosts it reached for
	Cost    int64         // tokens, and money in the smallest unit
	Data    int64         // records, and bytes by the thousand, that it read

	// of an action that only reads and was refused or failed: its name, and the patterns it is one of, see [Families]
	Probe    uint64
	Families []uint64

	Run    time.Duration // an orchestration has ended: how long it took
	Done   bool          // a run has ended
	Whole  bool          // and was completed
	Unsure bool          // and says what it is not sure of

	Begin bool // a person has said that what was unusual is explained: what is usual is learned again
}

// A Metric is what is counted in each slot.
type Metric int

// The metrics.
const (
	Actions Metric = iota
	Refused
	Failed
	Messages
	Cost
	Data
	New // tools and hosts that neither the agent nor its type had used before
	metrics
)

func (m Metric) String() string {
	return [metrics]string{"actions", "refusals", "failures", "messages", "tokens and money", "records read", "new tools and hosts"}[m]
}

// floor is how much of a metric in ten minutes is nothing to speak of, whatever was usual before.
func (m Metric) floor() float64 {
	return [metrics]float64{Actions: 150, Refused: 1, Failed: 12, Messages: 12, Cost: 20_000, Data: 5_000, New: 0.5}[m]
}

// The bounds of what is remembered.
const (
	SlotLength = 10 * time.Minute // what is held against others of its kind
	Learning   = 12               // slots before anything is compared: two hours in which something was done
	firstSlots = 3                // slots in which what is new is not counted
	BaseSlots  = 36               // slots that the fixed baseline is made of: six hours
	MaxDays    = 7                // of the rolling baseline
	Lives      = 90 * 24 * time.Hour
	maxTools   = 96
	maxPlaces  = 256
	maxName    = 48
	maxNamed   = 6   // new tools and hosts of a slot that are told by name
	maxPattern = 128 // patterns of what went wrong in a slot
	maxVariant = 16  // actions of a pattern
)

// A Stat is what is known of one metric over many slots.
type Stat struct {
	Sum float64 `json:"s,omitempty"`
	Sq  float64 `json:"q,omitempty"`
	Max float64 `json:"m,omitempty"`
}

func (s Stat) with(x float64) Stat { return Stat{s.Sum + x, s.Sq + x*x, max(s.Max, x)} }
func (s Stat) plus(o Stat) Stat    { return Stat{s.Sum + o.Sum, s.Sq + o.Sq, max(s.Max, o.Max)} }

// A Sum is a number of slots in which something was done.
type Sum struct {
	Day   int64         `json:"day,omitempty"` // since 1970
	Slots int           `json:"n,omitempty"`
	Of    [metrics]Stat `json:"of"`
	Took  Stat          `json:"took"` // milliseconds that an action took, on average of a slot
	Timed int           `json:"timed,omitempty"`
}

func (s Sum) plus(o Sum) Sum {
	s.Slots += o.Slots
	for m := range s.Of {
		s.Of[m] = s.Of[m].plus(o.Of[m])
	}
	s.Took, s.Timed = s.Took.plus(o.Took), s.Timed+o.Timed
	return s
}

// A Slot is the ten minutes that run.
type Slot struct {
	At     int64            `json:"at"` // which ten minutes since 1970
	Of     [metrics]float64 `json:"of"`
	Took   float64          `json:"took,omitempty"` // milliseconds of all that were timed
	Timed  int              `json:"timed,omitempty"`
	Named  []string         `json:"named,omitempty"` // the first new tools and hosts
	Probes []Pattern        `json:"probes,omitempty"`
	Long   float64          `json:"long,omitempty"` // how many times as long as usual an orchestration took
}

// A Pattern is what actions that went wrong have in common, and which they were.
type Pattern struct {
	Of      uint64   `json:"of"`
	Actions []uint64 `json:"actions"`
}
