package interlock

// A Loop is how far a monitored execution is when it reports its next step (MCP-AQL 8.6): the part of a [Snapshot] that
// the safety loop's own stages look at. What an agent says of itself in it can only tighten.
type Loop struct {
	Execution string        `json:"execution"`         // id of the execution
	Step      int           `json:"step"`              // number of this step, from 1
	Limit     int           `json:"limit"`             // steps allowed without a human
	Outcome   OutcomeStatus `json:"outcome,omitempty"` // of the step before, as reported
	Tolerance int           `json:"tolerance"`         // a higher risk score pauses
	Risk      int           `json:"risk"`              // sum of the risk scores of the steps so far
	Counts    []Count       `json:"counts,omitempty"`  // what was done so far, by name

	// The agent's or adapter's own patterns, on top of the ruleset's; globs over the hint and what it names.
	Deny             []string `json:"deny,omitempty"`
	RequiresApproval []string `json:"requires_approval,omitempty"`
	AutoApprove      []string `json:"auto_approve,omitempty"`

	Verifying string `json:"verifying,omitempty"` // id of the verify challenge that pauses the agent
	// ids of the approval request that pauses the agent and asks about another action, and of one that asks about this action
	Paused string `json:"paused,omitempty"`
	Asked  string `json:"asked,omitempty"`
}

// A Count is how often something was done within a window.
type Count struct {
	Name    string `json:"name"`    // operation, or impact kind
	Seconds int    `json:"seconds"` // length of the window; 0 is the whole execution
	Times   int    `json:"times"`
}

// Tier is how much a reported step needs of a human (MCP-AQL danger levels 8). The zero value is advisory, which a Decision
// carries that no loop asked for.
type Tier uint8

// The tiers.
const (
	TierAdvisory   Tier = iota // 0 to 30: go on
	TierConfirm                // 31 to 60: a human confirms
	TierVerify                 // 61 to 85: a human gives a code that the agent can't see
	TierDangerZone             // 86 to 100: the agent is stopped
)

var tierNames = [...]string{"advisory", "confirm", "verify", "danger_zone"}

// String returns the tier's name.
func (t Tier) String() string { return name(tierNames[:], int(t)) }

// MarshalText writes the name; an out-of-range tier is an error.
func (t Tier) MarshalText() ([]byte, error) { return marshalName(tierNames[:], int(t), "tier") }

// UnmarshalText accepts exactly the four names.
func (t *Tier) UnmarshalText(text []byte) error {
	n, err := unmarshalName(tierNames[:], text, "tier")
	*t = Tier(n)
	return err
}

// TierOf returns the tier of a risk score from 0 to 100.
func TierOf(risk int) Tier {
	switch {
	case risk <= 30:
		return TierAdvisory
	case risk <= 60:
		return TierConfirm
	case risk <= 85:
		return TierVerify
	default:
		return TierDangerZone
	}
}
