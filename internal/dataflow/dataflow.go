// Package dataflow computes from the log which later actions used what earlier ones left: files, rows, addresses and servers that one
// wrote and another read, work that one run gave another, what a run knows because of what it read, and events that an agent named itself.
//
// Nobody records what really flowed, so the answer errs towards including. Each use is either certain, which is that what was written
// is what was read, or possible, which is that nothing recorded says otherwise. What an agent keeps where Interlock sees nothing of it
// is in neither.
//
// Start with [Log.Add], which takes the log's entries, then read [Log.Downstream].
package dataflow

import (
	"time"

	"interlock"
)

// Certainty says how sure it is that one action used what another left.
type Certainty string

// The certainties.
const (
	Certain  Certainty = "certain"
	Possible Certainty = "possible"
)

// weaker is the less sure of two.
func weaker(a, b Certainty) Certainty {
	if a == Certain {
		return b
	}
	return a
}

// An Action is what the log tells of one action that ran, or may have: by itself what it may have used, and what it may have left.
type Action struct {
	Event     string
	Index     int64
	At        time.Time
	Ended     time.Time // when its outcome was told; zero: nobody has told one
	Agent     string
	Principal string
	Run       string // as its door named it
	Tool      string
	Text      string // what it was, redacted, as the log has it
	Kind      interlock.Kind
	Workspace string
	Impacts   []interlock.Impact
	Source    string   // the tool whose result a value of it came from
	Uses      []string // events whose output its agent said that it uses
	Status    interlock.OutcomeStatus
	Discarded bool               // it wrote to a copy that was thrown away
	Effects   []interlock.Effect // what a sandbox saw it write
	Watched   bool               // Effects is all that it wrote

	// of work that was given or came back: which run it went to, and what it was, for people; such an action has no impacts
	Gave   Context
	Giving Giving

	contexts []Context
	handed   bool // it went on to something that decides it again, which is the action that ran
	answered bool // it was allowed
	message  string
}

// A Context is where what was read is known afterwards: one run of one agent.
type Context struct{ Agent, Run string }

// A Giving says what was given from one run to another.
type Giving string

// What is given.
const (
	GivingNothing Giving = ""
	GivingWork    Giving = "work"   // a run was registered for another, or the same, agent
	GivingResult  Giving = "result" // a run has ended, and the one that delegated it goes on
)

// Ran reports whether the action ran, or may have.
func (a *Action) Ran() bool {
	if a.Status != "" {
		return a.Status != interlock.OutcomeSkipped
	}
	return a.answered && !a.handed
}

// Passes reports whether the action sends or receives a message between agents, which Interlock carries itself.
func (a *Action) Passes() bool { return a.Tool == toolSend || a.Tool == toolReceive }

// Unfinished reports whether it may be half done: it was let through and nobody has told how it ended.
func (a *Action) Unfinished() bool {
	return a.Giving == GivingNothing && !a.Passes() && a.Ran() && (a.Status == "" || a.Status == interlock.OutcomeUnknown)
}

// stillOpen is how long an action may go on that nobody has told the end of. It is what a stop of everything lists as open, too.
const stillOpen = 10 * time.Minute

// until is when the action was over at the latest.
func (a *Action) until() time.Time {
	if !a.Ended.IsZero() || a.Giving != GivingNothing {
		return a.Ended
	}
	return a.At.Add(stillOpen)
}

// after says whether an action may have seen what another wrote, and whether both ran at the same time.
func (a *Action) after(wrote *Action) (may, parallel bool) {
	if a.Index < wrote.Index {
		return wrote.Giving == GivingNothing && !a.until().Before(wrote.At), true
	}
	return true, !wrote.Ended.IsZero() && a.At.Before(wrote.Ended)
}

// A Reason is why an action is downstream of another: which other, how sure that is, and what was used.
type Reason struct {
	From string    `json:"from"` // event
	Sure Certainty `json:"sure"`
	Why  string    `json:"why"`
}

// A Reached action is the one that was compromised, or one downstream of it.
type Reached struct {
	*Action
	Sure    Certainty
	Itself  bool     // it is what was compromised
	Because []Reason // the first few, the surest first
}
