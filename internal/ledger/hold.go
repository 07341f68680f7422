package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/memory"
	"interlock/internal/phase"
)

// A HoldScope says what sort of thing a hold is on.
type HoldScope string

// The scopes. What can be held is decided, or made again, under something that its key names.
const (
	HoldRuleset  HoldScope = "ruleset"  // a ruleset, by its digest
	HoldManifest HoldScope = "manifest" // the snapshots that a manifest names, by the manifest's digest
	HoldEvent    HoldScope = "event"    // what one recorded decision was made from, by the id of its event

	HoldReplays   HoldScope = "replays"   // every replay; its key is all
	HoldSnapshots HoldScope = "snapshots" // that rules and settings become others; its key is all
)

// The keys of holds that there is only one of.
const (
	HoldAll    = "all"
	HoldIntake = "intake" // of [HoldSystem]: no agent begins anything
)

// IntakeName is the name of the hold by which an admin has paused intake.
const IntakeName = string(HoldSystem) + ":" + HoldIntake

// The scopes of holds on those who act: see package phase. A breaker's hold has as its key what it guards, such as agent:builder.
const (
	HoldAgent   HoldScope = phase.ScopeAgent
	HoldType    HoldScope = phase.ScopeType
	HoldRun     HoldScope = phase.ScopeRun
	HoldSystem  HoldScope = phase.ScopeSystem
	HoldLayer   HoldScope = phase.ScopeLayer
	HoldBreaker HoldScope = "breaker"
	HoldBackup  HoldScope = "backup" // of an agent that stands in for another, such as backup:agent:second
)

// A HoldBody says that nothing is decided, and nothing made again, under something until an operator clears it; or in which phase
// somebody who acts is, or that their breaker is open. It only tightens; that it ends is an operator's signed order.
type HoldBody struct {
	Scope HoldScope           `json:"scope"`
	Key   string              `json:"key"`
	Cause interlock.EventType `json:"cause"` // INTEGRITY_FAILURE or SECURITY_INCIDENT, PHASE_CHANGED or BREAKER_TRIPPED
	Why   string              `json:"why"`   // one sentence, without anything of an action
	Since time.Time           `json:"since"`
	Event string              `json:"event,omitempty"` // the event that found it
	Order string              `json:"order,omitempty"` // or the order that reported it
	Mode  KillMode            `json:"mode,omitempty"`  // of a stop of everything
	phase.Hold
}

// Name is what people call a hold by, and its key in the ledger: of one thing there is one hold at most.
func (h *HoldBody) Name() string { return HoldName(h.Scope, h.Key) }

// Row is the hold as a row to write.
func (h *HoldBody) Row() Row { return Row{Kind: Hold, Key: h.Name(), Value: *h} }

// HoldName is the name of a hold on something.
func HoldName(scope HoldScope, key string) string { return string(scope) + ":" + key }

// HoldOf is what a hold's name says it is on.
func HoldOf(name string) (scope HoldScope, key string, ok bool) {
	before, key, ok := strings.Cut(name, ":")
	scope = HoldScope(before)
	return scope, key, ok && key != "" && (scope == HoldRuleset || scope == HoldManifest || scope == HoldEvent ||
		scope == HoldMemory && memory.ValidSource(key))
}

// OnActors reports whether a hold is on those who act, and not on what is decided under.
func (h *HoldBody) OnActors() bool { return onActors(h.Scope) }

// Halts reports whether a hold is on what is decided or made again under, or kept: what the council clears where one sits. One that took
// something back for good is none.
func (h *HoldBody) Halts() bool {
	return !h.OnActors() && h.Scope != HoldCut && h.Name() != KillName
}

func onActors(scope HoldScope) bool {
	return scope == HoldBreaker || scope == HoldBackup || slices.Contains(phase.Scopes(), string(scope))
}

// Actors is what a name of a hold on actors says it is on, if it is one.
func Actors(name string) (scope HoldScope, key string, ok bool) {
	before, key, _ := strings.Cut(name, ":")
	scope = HoldScope(before)
	if scope == HoldBreaker {
		of, whose, _ := strings.Cut(key, ":")
		return scope, key, (of == phase.ScopeAgent || of == phase.ScopeType) && phase.ValidKey(of, whose)
	}
	if scope == HoldBackup { // it comes and goes with what it stands in for, and nobody names it
		return scope, key, false
	}
	return scope, key, onActors(scope) && phase.ValidKey(before, key)
}

// AsOf is a hold as it is at a time: where its deadline has made it stricter, that is since when it is so.
func (h HoldBody) AsOf(now time.Time) HoldBody {
	if after := h.At(now); after.Phase != h.Phase {
		h.Hold, h.Since, h.Deadline = after, h.Deadline, time.Time{}
	}
	return h
}

// State is what a hold on those who act says of them, for people; empty for any other.
func (h *HoldBody) State() string {
	switch {
	case !h.OnActors():
		return ""
	case h.Name() == IntakeName:
		return "intake paused"
	case h.Breaker != nil:
		return "breaker " + h.Breaker.State
	case h.Backup != nil:
		return "service for " + h.Backup.For
	}
	return "phase " + h.Phase.Title()
}

// OverAll is the mark of the holds that every decision is under: those on the system and on layers of control.
const OverAll = "over"

// Over is the mark of the holds on one agent, type or run, its breaker's among them: what a decision knows of the one that acts
// names all that may hold it.
func Over(scope HoldScope, key string) string { return OverAll + "\x00" + HoldName(scope, key) }

// Heals is the mark of the holds on agents that stand in for others, by when a machine may look whether that is over.
const Heals = "heals"

// BackupName is the name of the hold on an agent that stands in for another.
func BackupName(agent string) string { return HoldName(HoldBackup, HoldName(HoldAgent, agent)) }

// holdNext keeps an agent standing in for one at a time: two that are lost at once have two agents stand in.
func holdNext(was, is HoldBody, there bool, _ time.Time) error {
	if was.Backup != nil && is.Backup != nil && was.Backup.For != is.Backup.For {
		return moved(Hold, "it stands in for another agent already")
	}
	return nil
}

// Due is the mark of the holds that become stricter at a time, if nobody has resolved them by then.
const Due = "due"

func (h *HoldBody) over() string {
	switch h.Scope {
	case HoldSystem, HoldLayer:
		return OverAll
	case HoldBreaker, HoldBackup:
		return OverAll + "\x00" + h.Key
	}
	return Over(h.Scope, h.Key)
}

func holdMarks(h HoldBody) []Mark {
	marks := withAll(nano(h.Since))
	switch {
	case h.OnActors():
		marks = appendMarks(marks, nano(h.Since), h.over())
	case h.Scope == HoldMemory, h.Scope == HoldCut:
		marks = appendMarks(marks, nano(h.Since), MemoryHolds)
	}
	if (h.Phase == phase.Alternate || h.Mode == KillProposed) && !h.Deadline.IsZero() {
		marks = appendMarks(marks, nano(h.Deadline), Due)
	}
	if h.Backup != nil && !h.Heals.IsZero() {
		marks = appendMarks(marks, nano(h.Heals), Heals)
	}
	return marks
}

// Holds are the holds in a standing, by name.
func (s *Standing) Holds() []HoldBody {
	var list []HoldBody
	for _, name := range slices.Sorted(maps.Keys(s.Others[Hold])) {
		if h, ok := s.Others[Hold][name].(HoldBody); ok {
			list = append(list, h)
		}
	}
	return list
}
