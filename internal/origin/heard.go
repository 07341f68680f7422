package origin

import (
	"time"
)

// Heard is what a run was told: by its user, and by what its calls returned. It holds no text: values that could say where
// something goes stand in it as salted digests, and of what the user wished for only the kinds of act. It is bounded, and
// what does not fit is counted as told by a result.
type Heard struct {
	At      time.Time  `json:"at"`                // when something was heard last
	Prompts int        `json:"prompts,omitempty"` // how many of the user's prompts were seen
	Wishes  [][]string `json:"wishes,omitempty"`  // what kinds of act the last prompts asked for, newest last
	Values  []Value    `json:"values,omitempty"`  // in the order in which they were heard first
	Sources []string   `json:"sources,omitempty"` // names of the tools that results came from
	Orders  int        `json:"orders,omitempty"`  // results that held instructions for their reader
	Over    bool       `json:"over,omitempty"`    // results held more values than are remembered
}

// A Value is one value a run has heard of.
type Value struct {
	Sum    uint64 `json:"sum"`              // of the value and the run
	By     Voice  `json:"by"`               // everybody who named it
	Source int    `json:"source,omitempty"` // the tool of the first result that held it, by its place in Heard.Sources from one
}

// A Voice says who named a value.
type Voice uint8

// The voices. A value may have several.
const (
	VoiceUser     Voice = 1 << iota // the user, in a prompt
	VoiceFile                       // a file that the user named
	VoiceResult                     // what some other call returned
	VoiceOrdering                   // a result, of whatever kind, that held instructions for its reader
)

// The bounds of what is remembered of what a run has heard.
const (
	HeardValues  = 4096
	HeardSources = 32
	HeardPrompts = 4 // whose wishes count
	HeardWindow  = 24 * time.Hour
)
