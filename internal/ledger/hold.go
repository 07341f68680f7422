package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
)

// A HoldScope says what sort of thing a hold is on.
type HoldScope string

// The scopes. What can be held is decided, or made again, under something that its key names.
const (
	HoldRuleset  HoldScope = "ruleset"  // a ruleset, by its digest
	HoldManifest HoldScope = "manifest" // the snapshots that a manifest names, by the manifest's digest
	HoldEvent    HoldScope = "event"    // what one recorded decision was made from, by the id of its event
)

// A HoldBody says that nothing is decided, and nothing made again, under something until an operator clears it. It only tightens;
// that it ends is an operator's signed order.
type HoldBody struct {
	Scope HoldScope           `json:"scope"`
	Key   string              `json:"key"`
	Cause interlock.EventType `json:"cause"` // INTEGRITY_FAILURE or SECURITY_INCIDENT
	Why   string              `json:"why"`   // one sentence, without anything of an action
	Since time.Time           `json:"since"`
	Event string              `json:"event,omitempty"` // the event that found it
	Order string              `json:"order,omitempty"` // or the order that reported it
	Mode  KillMode            `json:"mode,omitempty"`  // of a stop of everything
	By    string              `json:"by,omitempty"`    // who stopped it, where no order says so
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
	return scope, key, ok && key != "" && (scope == HoldRuleset || scope == HoldManifest || scope == HoldEvent)
}

func holdAbout(h HoldBody) About {
	return About{Key: h.Name(), Marks: withAll(nano(h.Since)), Binds: true}
}

func holdInto(h HoldBody, to *Standing) { to.other(Hold, h.Name(), h) }

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
