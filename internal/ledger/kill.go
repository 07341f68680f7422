package ledger

import (
	"time"

	"interlock/internal/phase"
)

// HoldKill is the scope of the one hold that is on everything: an operator, or a machine that watches, has stopped all agents.
const HoldKill HoldScope = "kill"

// KillName is the name of the hold on everything.
const KillName = "kill:everything"

// A KillMode says how everything is stopped.
type KillMode string

// The modes. One that nobody knows is hard.
const (
	KillHard      KillMode = "hard"      // at once
	KillGraduated KillMode = "graduated" // in steps, so that what is half done can come to its end
	// an observer asks for it: at its deadline it is as if it were hard, unless an admin has declined or somebody confirmed it before
	KillProposed KillMode = "proposed"
)

// The steps of a graduated stop, counted from its order. What ends of itself in the meantime was checked as it always is.
const (
	KillCloses  = 30 * time.Second // so long nothing new is begun: no run, no sandbox, no session of the gateway
	KillDrains  = 60 * time.Second // so long after that nothing is let through, and what is under way may end
	KillWaits   = 10 * time.Second // so long after being told to end, what has not ended is killed
	maxKillText = 300              // runes of why, and of who
)

// A KillStep is how far a stop has come.
type KillStep string

// The steps, each stricter than the one before.
const (
	KillNone    KillStep = ""
	KillClosing KillStep = "closing"
	KillFrozen  KillStep = "frozen"
	KillStopped KillStep = "stopped"
)

// Kill is a stop of everything from a time on.
func Kill(mode KillMode, why, by string, since time.Time) HoldBody {
	return HoldBody{Scope: HoldKill, Key: "everything", Mode: mode, Why: clip(why), Since: since, Hold: phase.Hold{By: clip(by)}}
}

// clip bounds a text, which may come from a file that anybody has written.
func clip(text string) string {
	if runes := []rune(text); len(runes) > maxKillText {
		return string(runes[:maxKillText])
	}
	return text
}

// Step is how far a stop has come at a time. A clock that was set back to before the order gives no time.
func (h *HoldBody) Step(now time.Time) KillStep {
	since := now.Sub(h.Since)
	switch {
	case h.Scope != HoldKill, h.proposed(now):
		return KillNone
	case h.Mode != KillGraduated || since < 0 || since >= KillCloses+KillDrains:
		return KillStopped
	case since >= KillCloses:
		return KillFrozen
	}
	return KillClosing
}

// proposed reports whether an observer asks for a stop, and people have time left to answer.
func (h *HoldBody) proposed(now time.Time) bool {
	return h.Mode == KillProposed && now.Before(h.Deadline) && !now.Before(h.Since)
}

// Killed is the hold on everything in a standing, if there is one.
func (s *Standing) Killed() (HoldBody, bool) {
	h, ok := s.Others[Hold][KillName].(HoldBody)
	return h, ok
}

// Stricter is whichever of two stops has come further at a time. Either may be none.
func Stricter(one, other HoldBody, now time.Time) HoldBody {
	order := map[KillStep]int{KillNone: 0, KillClosing: 1, KillFrozen: 2, KillStopped: 3}
	if order[other.Step(now)] > order[one.Step(now)] {
		return other
	}
	return one
}
