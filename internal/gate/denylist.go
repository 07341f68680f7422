package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Denylist objects where a rule's pattern or glob is found in what would be executed. It sees the normalised texts and
// not the raw input, so a commit message that mentions a command is not that command.
func Denylist(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	for _, r := range rules.MatchTexts(action.Kind, texts(analysis)) {
		if !r.OnImpacts() && r.Under(snapshot.Profile) {
			out = append(out, ruleFinding("denylist", r, nil, analysis))
		}
	}
	return out
}
