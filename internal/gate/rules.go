package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Rules objects where an impact meets a rule's conditions; a rule with conditions on texts or on earlier actions as well
// needs those too.
func Rules(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	hits := rules.MatchImpacts(action.Kind, analysis.Impacts)
	if len(hits) == 0 {
		return nil
	}
	var textual map[*ruleset.Rule]bool
	var out []interlock.Finding
	for _, h := range hits {
		if !h.Rule.Under(snapshot.Profile) || !h.Rule.Follows(&snapshot, analysis.Impacts, h.Impacts) {
			continue
		}
		if h.Rule.OnTexts() {
			if textual == nil {
				textual = map[*ruleset.Rule]bool{}
				for _, r := range rules.MatchTexts(action.Kind, texts(analysis)) {
					textual[r] = true
				}
			}
			if !textual[h.Rule] {
				continue
			}
		}
		out = append(out, ruleFinding("rules", h.Rule, h.Impacts, analysis))
	}
	return out
}
