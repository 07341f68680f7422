package module

import (
	"fmt"
	"strconv"
	"strings"

	"interlock"
)

// A Value is a trust value in billionths, from 0 to [One]: signed objects hold no floating-point numbers.
type Value int64

// The constants of trust (MACE APT).
const (
	One       Value = 1_000_000_000
	Initial   Value = One / 2      // APT_INIT
	Gain      Value = One / 10     // BETA
	Penalty   Value = One / 4      // GAMMA
	Low       Value = One / 10 * 6 // APT_DEGRADED
	Block     Value = One / 4      // APT_BLOCK
	kept      int64 = 999          // of a thousand: 1 - DECAY, for each event and not for each day
	MinEvents       = 2            // MIN_EVENTS_FOR_TRUST: with fewer it is degraded
	places          = 9            // of the decimals
)

// String is the value with nine decimals, as MACE writes numbers.
func (v Value) String() string { return fmt.Sprintf("%d.%09d", v/One, v%One) }

// MarshalText writes the value.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a value with nine decimals and no other spelling of it.
func (v *Value) UnmarshalText(text []byte) error {
	whole, rest, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseUint(whole+rest, 10, 63)
	if err != nil || len(whole) != 1 || len(rest) != places || Value(n) > One {
		return interlock.Errorf(interlock.CodeInvalid, "apt", "is no trust value; write nine decimals, such as %s", Initial)
	}
	*v = Value(n)
	return nil
}

// parts are so many parts of a whole of a value, rounded half to even.
func (v Value) parts(n, of int64) Value {
	product := int64(v) * n
	down, rest := product/of, product%of
	if rest*2 > of || rest*2 == of && down%2 == 1 {
		down++
	}
	return Value(down)
}

// A Kind is what happened to a module that its trust may move by. The names are MACE's and stand in the log.
type Kind string

// The kinds of events.
const (
	CouncilApproval Kind = "COUNCIL_APPROVAL"   // people said whether what it asked for was right
	GroundTruth     Kind = "GROUND_TRUTH_LABEL" // somebody knows whether what it did was right
	Timeout         Kind = "AGENT_TIMEOUT"      // nobody knows how an action of its ended
	Exception       Kind = "AGENT_EXCEPTION"    // an action of its failed
	Success         Kind = "SUCCESS"            // one went well, which ends a row of failures and earns no trust
	Note            Kind = "OPERATIONAL_NOTE"
	Feedback        Kind = "USER_FEEDBACK"
)

// An Event is one thing that happened to a module.
type Event struct {
	Kind  Kind
	Right bool // of the kinds that say so
}

// A Health is what is known of how a module does.
type Health struct {
	Trust    Value `json:"apt"`
	Events   int   `json:"events"`               // that have moved its trust
	Failures int   `json:"consecutive_failures"` // since something went well last
}

// New is the health of a module that nothing has happened to.
func New() Health { return Health{Trust: Initial} }

// After is the health after one more event. What is no kind that moves trust changes nothing.
func (h Health) After(e Event) Health {
	moved := Value(0)
	switch e.Kind {
	case CouncilApproval, GroundTruth:
		if e.Right {
			moved = Gain
		}
	case Timeout, Exception:
		moved = -Penalty
		h.Failures++
	case Success:
		h.Failures = 0
		return h
	default:
		return h
	}
	h.Trust = min(max(h.Trust.parts(kept, 1000)+moved, 0), One)
	h.Events++
	return h
}
