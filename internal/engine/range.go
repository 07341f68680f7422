package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// inRange returns the id of the pre-approved range that answers the Ask of a tool call (EC-AC-1). It answers what is asked because
// something is production or goes to others, and nothing else: not what can't be undone, what a limit or half of one asks, the first use
// of a tool, what a judge flags, and never what is denied.
func inRange(gates gate.Table, d interlock.Decision, snapshot interlock.Snapshot, action interlock.Action, now time.Time) string {
	if !slices.ContainsFunc(snapshot.Grants, func(g interlock.Grant) bool { return g.Range != nil }) || !inAdvance(d) || !rangeable(gates, d, action) {
		return ""
	}
	var chosen *interlock.Grant
	for n := range snapshot.Grants {
		g := &snapshot.Grants[n]
		if g.Range == nil || g.ID == "" || !g.InForce(now) || g.Kind != action.Kind || g.Tool != action.Tool ||
			g.Range.Type != ruleset.TypeName(snapshot.Agent) || !bounds(g, action, d.Impacts) {
			continue
		}
		if chosen == nil || sooner(g, chosen) {
			chosen = g
		}
	}
	if chosen == nil {
		return ""
	}
	return chosen.ID
}

// rangeable reports whether everything that a decision asks is about production and others outside.
func rangeable(gates gate.Table, d interlock.Decision, action interlock.Action) bool {
	for n := range d.Impacts {
		if i := &d.Impacts[n]; gate.TargetOf(action.Kind, i) == gate.TargetIrreversible || i.Confidence == interlock.Unknown {
			return false
		}
	}
	if reserved(d.Impacts) != "" {
		return false
	}
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Verdict == interlock.Allow {
			continue
		}
		if f.Verdict != interlock.Ask || f.Layer < 2 || !gates.Of(f.Gate).Ranges || len(f.Impacts) == 0 {
			return false
		}
		for _, at := range f.Impacts {
			if at < 0 || at >= len(d.Impacts) {
				return false
			}
			if f.Layer == 2 && d.Impacts[at].Kind != interlock.ImpactSpend { // of layer 2 money alone: the range says how much
				return false
			}
			switch gate.TargetOf(action.Kind, &d.Impacts[at]) {
			case gate.TargetProduction, gate.TargetExternal, gate.TargetStaging:
			default:
				return false
			}
		}
	}
	for _, o := range d.Obligations {
		if o.Type != interlock.ObligationConfirm && o.Type != interlock.ObligationRedact && o.Type != interlock.ObligationSandbox {
			return false
		}
	}
	return true
}

// bounds reports whether every argument is within what the range says of it, and all money of a call within its amount.
func bounds(g *interlock.Grant, action interlock.Action, impacts []interlock.Impact) bool {
	var arguments map[string]json.RawMessage
	if strictjson.DecodeSome(action.Arguments, &arguments) != nil || !ruleset.Hold(g.Conditions, action.Arguments) {
		return false
	}
	for name := range arguments { // any order: one that is not bounded is enough
		bounded := slices.ContainsFunc(g.Conditions, func(c interlock.Condition) bool {
			first, _, _ := strings.Cut(c.Parameter, ".")
			return c.Parameter == name || first == name && wholly(g.Conditions, g.Range.Free, name, arguments[name])
		})
		if !bounded && !slices.Contains(g.Range.Free, name) {
			return false
		}
	}
	spent := int64(0)
	for n := range impacts {
		i := &impacts[n]
		minor, currency := i.Sum()
		if i.Kind != interlock.ImpactSpend && minor == 0 {
			continue
		}
		if minor <= 0 || currency == "" || currency != g.Range.Currency || minor > g.Range.Most-spent {
			return false // an amount that nobody can tell is not within any
		}
		spent += minor
	}
	return true
}

// wholly reports whether every member of an argument that is an object is bounded or free.
func wholly(conditions []interlock.Condition, free []string, name string, value json.RawMessage) bool {
	var members map[string]json.RawMessage
	if strictjson.DecodeSome(value, &members) != nil {
		return false
	}
	for member := range members { // any order: likewise
		path := name + "." + member
		if !slices.ContainsFunc(conditions, func(c interlock.Condition) bool { return c.Parameter == path }) && !slices.Contains(free, path) {
			return false
		}
	}
	return true
}
