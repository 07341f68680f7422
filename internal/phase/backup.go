package phase

import (
	"time"

	"interlock"
)

// A Backup is what a hold says of an agent that stands in for another: it reads until it has gone on for a stated time without being
// refused anything.
type Backup struct {
	For    string    `json:"for"`               // the agent that was lost
	Steady time.Time `json:"steady,omitzero"`   // since when it has acted and nothing was refused it; not at all, where it has not acted
	Writes time.Time `json:"writes,omitzero"`   // from then on it may change something
	Alone  bool      `json:"unasked,omitempty"` // and nobody is asked, where the system is in alternate for that loss alone
}

// A Healing says how a loss heals by itself: for how long a backup only reads, and how long after the loss the phase is left again at
// the earliest. The zero value heals nothing.
type Healing struct {
	Machine  bool          // a machine may leave alternate; otherwise only people do
	ReadOnly time.Duration // a backup that was steady for so long may write
	After    time.Duration // since the loss
}

// Acted is a hold of a backup after it has done something, or was refused something, which begins its time again. changed says
// whether that makes a difference: of an action of one that is steady already it does not.
func (h Hold) Acted(how Healing, refused bool, now time.Time) (after Hold, changed bool) {
	if h.Backup == nil || !refused && !h.Backup.Steady.IsZero() {
		return h, false
	}
	b := *h.Backup
	b.Steady, b.Writes, b.Alone = now, now.Add(how.ReadOnly), how.Machine
	h.Backup = &b
	if how.Machine && h.Heals.Before(b.Writes) {
		h.Heals = b.Writes
	}
	return h, true
}

// MayWrite reports whether a backup may change something at a time. A clock that is set back to before it was steady says no.
func (b Backup) MayWrite(now time.Time) bool {
	return !b.Writes.IsZero() && !now.Before(b.Writes)
}

// Alone reports whether a hold says that an agent which stands in changes something without anybody being asked.
func (h Hold) Alone(now time.Time) bool {
	return h.Backup != nil && h.Backup.Alone && h.Backup.MayWrite(now)
}

const ruleBackup = "phase.backup"

// ObjectBackup is what the hold of an agent that stands in for another objects to an action, if anything.
func ObjectBackup(name string, since time.Time, h Hold, act Act, now time.Time) (f interlock.Finding, objects bool) {
	if h.Backup == nil || !act.Changes || h.Backup.MayWrite(now) {
		return f, false
	}
	until := "until it has acted and nothing was refused it for a while"
	if !h.Backup.Writes.IsZero() {
		until = "until " + h.Backup.Writes.UTC().Format(time.RFC3339) + ", if nothing is refused it before"
	}
	return interlock.Finding{Gate: "phase", Rule: ruleBackup, Layer: 1, Verdict: interlock.Deny,
		Reason: name + " since " + since.UTC().Format(time.RFC3339) + ": this agent stands in for " + h.Backup.For + " and reads, " + until,
		Suggestion: "go on reading; `interlock phase show` says since when this agent stands in, and `interlock phase set agent:" +
			h.Backup.For + " P` ends it"}, true
}
