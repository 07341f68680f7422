package engine

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/gate"
)

// ordered returns the findings that object, strictest first, then by layer and sub-layer, gate and rule, so that the first is the one
// to be named: a Deny is reported with the lowest layer that denies. What comes after the rule in the comparison only
// makes the order complete. A finding that argues for Allow objects to nothing and is left out.
func ordered(gates gate.Table, found []interlock.Finding) []interlock.Finding {
	out := []interlock.Finding{}
	for _, f := range found {
		if f.Verdict != interlock.Allow {
			out = append(out, f)
		}
	}
	if len(out) < 2 {
		return out
	}
	slices.SortStableFunc(out, func(a, b interlock.Finding) int {
		return first(
			b.Verdict.Compare(a.Verdict),
			a.Layer-b.Layer,
			a.Sublayer-b.Sublayer,
			gates.Place(a.Gate)-gates.Place(b.Gate),
			strings.Compare(a.Gate, b.Gate),
			strings.Compare(a.Rule, b.Rule),
			slices.Compare(a.Impacts, b.Impacts),
			strings.Compare(a.Reason, b.Reason),
			strings.Compare(a.Suggestion, b.Suggestion),
		)
	})
	return out
}

// first returns the first comparison that decides.
func first(comparisons ...int) int {
	for _, c := range comparisons {
		if c != 0 {
			return c
		}
	}
	return 0
}

// obligations is the union over the findings, without duplicates, by type and note.
func obligations(findings []interlock.Finding) []interlock.Obligation {
	var out []interlock.Obligation
	for _, f := range findings {
		out = append(out, f.Obligations...)
	}
	slices.SortFunc(out, func(a, b interlock.Obligation) int {
		return first(strings.Compare(a.Type, b.Type), strings.Compare(a.Note, b.Note))
	})
	return slices.Compact(out)
}
