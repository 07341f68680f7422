package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Profile turns the base verdict into findings where it is not allow: the first row of the profile's table that matches
// an impact says what that impact gets, and the table's end asks. An unknown profile grants nothing.
func Profile(rules *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	p, ok := rules.Profile(snapshot.Profile)
	if !ok {
		return []interlock.Finding{{Gate: "profile", Rule: "profile.unknown", Layer: 1, Verdict: interlock.Deny,
			Reason: "the configured profile does not exist, so nothing is granted"}}
	}
	prefix := "profile." + p.Name + "."
	if len(analysis.Impacts) == 0 {
		if p.Empty == interlock.Allow {
			return nil
		}
		return []interlock.Finding{{Gate: "profile", Rule: prefix + "empty", Layer: 3, Verdict: p.Empty,
			Reason: "the profile wants a human to see everything"}}
	}
	var out []interlock.Finding
	at := map[*ruleset.Row]int{} // where the row's finding is
	for n := range analysis.Impacts {
		row := p.Row(&analysis.Impacts[n])
		if row != nil && row.Verdict == interlock.Allow {
			continue
		}
		if have, ok := at[row]; ok {
			out[have].Impacts = append(out[have].Impacts, n)
			continue
		}
		at[row] = len(out)
		f := interlock.Finding{Gate: "profile", Layer: 3, Impacts: []int{n}}
		if row == nil {
			f.Rule, f.Verdict, f.Reason = prefix+"end", interlock.Ask,
				"nothing in the profile grants this, so a human must say yes"
		} else {
			f.Rule, f.Verdict, f.Reason = prefix+row.ID, row.Verdict, row.Reason
		}
		out = append(out, f)
	}
	return out
}
