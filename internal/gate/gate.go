// Package gate holds the deterministic checks that may object to an action. Each gate is a function of values: the
// ruleset, the snapshot, the action and its analysis. It returns findings and decides nothing; engine.Decide does, and
// the strictest finding wins whatever the order. A gate never grants, never fails and keeps no state.
//
// Each gate has its file. Reasons are one plain sentence an agent may read: they never show a pattern, a threshold that
// could be played against, or a secret.
package gate

import (
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// A Gate objects to an action, or returns nothing.
type Gate func(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding

// all returns the indexes of the impacts for which is holds.
func all(impacts []interlock.Impact, is func(i *interlock.Impact) bool) []int {
	var out []int
	for n := range impacts {
		if is(&impacts[n]) {
			out = append(out, n)
		}
	}
	return out
}

// waiting is the obligation to wait for so long, in whole seconds.
func waiting(wait time.Duration) []interlock.Obligation {
	return []interlock.Obligation{{Type: interlock.ObligationCooldown, Note: meter.Seconds(wait).String()}}
}

// texts gives the analysis's texts in the ruleset's terms.
func texts(a impact.Analysis) []ruleset.Text {
	out := make([]ruleset.Text, len(a.Texts))
	for n, t := range a.Texts {
		out[n] = ruleset.Text(t)
	}
	return out
}

// WorkOf is how many rules are held against what an action would do.
func WorkOf(rules *ruleset.Ruleset, analysis impact.Analysis) ruleset.Work {
	return rules.Work(texts(analysis), analysis.Impacts)
}

// ruleFinding is the finding of a rule of the ruleset.
func ruleFinding(gate string, r *ruleset.Rule, impacts []int, analysis impact.Analysis) interlock.Finding {
	suggestion := r.Suggestion.Say
	if try := r.Suggestion.Try; try != "" && (fits(try, impacts, analysis) || suggestion == "") {
		if suggestion != "" {
			suggestion += ": "
		}
		suggestion += try
	}
	return interlock.Finding{Gate: gate, Rule: r.ID, Layer: r.Layer, Sublayer: r.Sublayer, Verdict: r.Verdict, Reason: r.Reason,
		Suggestion: suggestion, Heuristic: r.Heuristic, Obligations: r.Obligations, Impacts: impacts, Tags: r.Tags}
}
