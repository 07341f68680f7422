package phase

import (
	"strings"
	"time"

	"interlock"
)

// A Hold is what a hold on agents says: the phase they are in, or that their breaker is open. Everything beside the phase and the
// breaker's state says since when, until when and on whose word.
type Hold struct {
	Phase    Phase     `json:"phase,omitempty"`
	Trigger  string    `json:"trigger,omitempty"`   // what brought it: one of the Trigger constants
	By       string    `json:"by,omitempty"`        // who ordered it; empty: nobody did
	Deadline time.Time `json:"deadline,omitzero"`   // from then on an alternate is a contingency
	Only     string    `json:"only,omitempty"`      // the one agent that goes on in contingency
	Snapshot string    `json:"snapshot,omitempty"`  // the digest of what stood before
	Cause    *Cause    `json:"root_cause,omitzero"` // the first of the two words by which emergency is left
	Breaker  *Breaker  `json:"breaker,omitempty"`   // of a hold that is an open breaker
	Backup   *Backup   `json:"backup,omitempty"`    // of a hold on an agent that stands in for another
	Instead  string    `json:"instead,omitempty"`   // the agent that stands in for the one it is on
	Earliest time.Time `json:"earliest,omitzero"`   // nobody loosens it before: it was begun again after an emergency
	Heals    time.Time `json:"heals,omitzero"`      // from then on a machine looks whether it may be left; never, if none is given
}

// A Cause is what somebody says emergency came of, before somebody else answers for leaving it.
type Cause struct {
	By    string `json:"by"`
	What  string `json:"what"`
	Order string `json:"order"`
}

// What brings a hold.
const (
	TriggerBreaker = "breaker"   // refusals
	TriggerQuality = "quality"   // a signal about what an agent puts out
	TriggerCost    = "cost"      // a signal about what it uses
	TriggerOrder   = "order"     // an operator's
	TriggerTimer   = "timer"     // an alternate that nobody has resolved
	TriggerCycles  = "cycles"    // it went to alternate too often in a day
	TriggerCap     = "cap"       // a cap was met
	TriggerSpread  = "spread"    // an agent in alternate has everybody else's changes asked about
	TriggerLayers  = "layers"    // two layers of control are in emergency
	TriggerSignal  = "signal"    // any other signal of a machine
	TriggerProbe   = "half-open" // the one action that a half-open breaker let run was refused
	TriggerLoss    = "loss"      // an agent that others need does not answer
	TriggerHealed  = "healed"    // a backup has stood in for so long without being refused anything
	TriggerContext = "context"   // most of a context window is used: an agent's, or the judge's
	TriggerJudge   = "judge"     // a judge denies what was let through already
	TriggerBox     = "time box"  // the time of a run is over
)

// The scopes of holds on agents. The names stand in stores.
const (
	ScopeAgent  = "agent"
	ScopeType   = "type" // all agents of a type
	ScopeRun    = "run"  // one run, or what a registered one is part of
	ScopeSystem = "system"
	ScopeLayer  = "layer" // a layer of control: gates, judge, people
)

// The keys that scopes without names of their own have.
const (
	SystemKey   = "all"
	LayerGates  = "gates"
	LayerJudge  = "judge"
	LayerPeople = "people"
)

// Scopes lists the scopes that a phase may be on.
func Scopes() []string { return []string{ScopeAgent, ScopeType, ScopeRun, ScopeSystem, ScopeLayer} }

// ValidKey reports whether a key is one of a scope's.
func ValidKey(scope, key string) bool {
	switch scope {
	case ScopeSystem:
		return key == SystemKey
	case ScopeLayer:
		return key == LayerGates || key == LayerJudge || key == LayerPeople
	case ScopeAgent, ScopeType, ScopeRun:
		return key != ""
	}
	return false
}

// At is what a hold says at a time: its phase, with what its deadline has made of it.
func (h Hold) At(now time.Time) Hold {
	if h.Phase == Alternate && !h.Deadline.IsZero() && !now.Before(h.Deadline) {
		h.Phase, h.Trigger, h.By = Contingency, TriggerTimer, ""
	}
	return h
}

// An Act is what a hold is held against: whose action, and what it does.
type Act struct {
	Agent    string
	Changes  bool // it does more than read
	Messages bool // it addresses others
}

// The rules of the findings below. They stand in the log.
const (
	ruleIsolated  = "phase.isolated"
	ruleChange    = "phase.change"
	ruleSuspended = "phase.suspended"
	ruleMessage   = "phase.message"
	ruleEvery     = "phase.every"
	ruleEmergency = "phase.emergency"
	ruleOver      = "phase.time"
)

// Object is what a hold in a phase objects to an action, if anything. What exceeds the phase is denied at layer 1, where no yes
// lowers it; what a person may answer is asked at layer 2.
func Object(name, scope string, since time.Time, h Hold, act Act, tier int) (f interlock.Finding, objects bool) {
	rule, verdict, what := h.object(scope, act)
	if rule == "" {
		return f, false
	}
	f = interlock.Finding{Gate: "phase", Rule: rule, Layer: 1, Verdict: verdict,
		Suggestion: "tell an operator: `interlock phase show` says what stands, `interlock phase set` changes it"}
	switch {
	case verdict == interlock.Ask:
		f.Layer = 2
	case rule == ruleOver: // which the run says as well, and what that says is named first; a clock that is set back changes only that
		f.Layer = 3
	}
	f.Reason = "phase " + h.Phase.Title() + " on " + name + " since " + since.UTC().Format(time.RFC3339) + ": " + what + "; " +
		looser(h.Phase, tier)
	return f, true
}

// looser says who may loosen a phase.
func looser(p Phase, tier int) string {
	down, known := Down(p, tier)
	if !known {
		return "nobody may loosen it"
	}
	who := strings.Join(down.Roles, " or ")
	if down.Owner {
		return "once another person has named the root cause, a " + who + " may loosen it"
	}
	return "a person with the role " + who + " may loosen it"
}

func (h Hold) object(scope string, act Act) (rule string, verdict interlock.Verdict, what string) {
	switch h.Phase {
	case "", Primary:
		return "", interlock.Allow, ""
	case Alternate:
		if scope == ScopeAgent {
			return ruleIsolated, interlock.Deny, "this agent is isolated and does nothing"
		}
		if act.Changes {
			return ruleChange, interlock.Ask, "every change needs a person's yes"
		}
		return "", interlock.Allow, ""
	case Contingency:
		return h.contingent(scope, act)
	}
	return ruleEmergency, interlock.Halt, "everything is stopped"
}

// contingent is what contingency objects: one named agent goes on, each of its actions is asked about, and nobody is addressed. A
// layer of control names no agent: every agent that acts has everything asked about.
func (h Hold) contingent(scope string, act Act) (rule string, verdict interlock.Verdict, what string) {
	switch {
	case h.Trigger == TriggerBox && h.Only == "":
		return ruleOver, interlock.Deny, "the time of this run is over, and it is paused until a person gives it more (interlock runs extend)"
	case scope != ScopeLayer && h.Only == "":
		return ruleSuspended, interlock.Deny, "no agent goes on until one is named"
	case scope != ScopeLayer && act.Agent != h.Only:
		return ruleSuspended, interlock.Deny, "another agent than this one goes on"
	case act.Messages:
		return ruleMessage, interlock.Deny, "no messages are sent"
	}
	return ruleEvery, interlock.Ask, "every action needs a person's yes"
}
