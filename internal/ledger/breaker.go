package ledger

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/module"
	"interlock/internal/phase"
)

// A BreakerBody is what counts towards holding an agent, a type or the whole system: it is there whether its breaker is open or not,
// because what has been counted outlives the hold.
type BreakerBody struct {
	Name   string      `json:"name"`             // the name of a hold on them, such as agent:builder
	Blocks []time.Time `json:"blocks,omitempty"` // refusals that count, the newest last
	Cycles []time.Time `json:"cycles,omitempty"` // when a machine moved it to alternate
	// since when it was last isolated: what it had sent by then, and nobody had received, waits for a person
	Isolated time.Time `json:"isolated,omitzero"`
	// how it does, where it is a registered module
	Health *module.Health `json:"health,omitempty"`
}

func breakerMarks(b BreakerBody) []Mark {
	at := int64(0)
	if n := len(b.Blocks); n > 0 {
		at = nano(b.Blocks[n-1])
	}
	return withAll(at)
}

// maxLast bounds how many actions are remembered of one that acts, for what is kept when a phase changes.
const maxLast = 16

// A TallyBody is how much was decided lately of whom, and what the last of it was.
type TallyBody struct {
	Name   string      `json:"name"` // as in [BreakerBody]
	Counts phase.Tally `json:"counts,omitempty"`
	Last   []Act       `json:"last,omitempty"` // oldest first
}

// An Act is one action as it was decided, without anything of its text.
type Act struct {
	At      time.Time         `json:"at"`
	Action  interlock.Digest  `json:"action"`
	Verdict interlock.Verdict `json:"verdict"`
	Rule    string            `json:"rule,omitempty"`
}

// A Counted is one more decision. Writing one is adding it to the tally.
type Counted struct {
	Name    string
	Refused bool
	Act
}

func tallyMerge(t TallyBody, c Counted) (TallyBody, bool) {
	last := append(slices.Clone(t.Last), c.Act)
	return TallyBody{Name: c.Name, Counts: t.Counts.With(c.At, c.Refused), Last: last[max(len(last)-maxLast, 0):]}, true
}
