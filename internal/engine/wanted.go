package engine

import (
	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// wanted takes out the questions that the user's own words have answered. Only rules that say so of themselves are silent for
// it, and what was merely inferred from what they saw; a denial, layer 1 and every other objection stay.
func wanted(gates gate.Table, found []interlock.Finding, rules *ruleset.Ruleset, snapshot interlock.Snapshot,
	action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	if snapshot.Origin == nil || !snapshot.Origin.Prompted {
		return found
	}
	var kept []interlock.Finding
	silenced := map[int]bool{}
	for _, f := range found {
		if gates.Of(f.Gate).Wanted && f.Verdict == interlock.Ask && f.Layer > 1 && rules.Wanted(f.Rule) &&
			gate.Wanted(snapshot, action, analysis, f) {
			for _, n := range f.Impacts {
				silenced[n] = true
			}
			continue
		}
		kept = append(kept, f)
	}
	if len(silenced) == 0 {
		return found
	}
	out := kept[:0]
	for _, f := range kept {
		if row := gates.Of(f.Gate); !(f.Verdict == interlock.Ask && row.Repeats && (f.Heuristic || row.Base) &&
			covered(f.Impacts, silenced)) {
			out = append(out, f)
		}
	}
	return out
}

func covered(impacts []int, by map[int]bool) bool {
	for _, n := range impacts {
		if !by[n] {
			return false
		}
	}
	return len(impacts) > 0
}
