package gate

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// ruleVerifying is what speaks of a code that is waited for, and of no action.
const ruleVerifying = "loop.verifying"

// Loop holds a step that a monitored execution reports against the stages of the safety loop (MCP-AQL 8.7.2): the number of
// steps, how the step before went, the agent's own patterns, the tier of the risk score and the tolerance. Actions that no
// execution reports it leaves alone.
func Loop(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	l := snapshot.Loop
	if l == nil {
		return nil
	}
	var out []interlock.Finding
	object := func(rule string, layer int, verdict interlock.Verdict, reason string) *interlock.Finding {
		out = append(out, interlock.Finding{Gate: "loop", Rule: "loop." + rule, Layer: layer, Verdict: verdict, Reason: reason})
		return &out[len(out)-1]
	}
	if l.Verifying != "" {
		object(strings.TrimPrefix(ruleVerifying, "loop."), 2, interlock.Ask, "this agent pauses until a human gives the code for challenge "+l.Verifying)
	}
	if l.Step > l.Limit {
		object("step-limit", 3, interlock.Ask, "Step limit exceeded")
	}
	if l.Outcome == interlock.OutcomeFailure {
		object("previous-failed", 3, interlock.Ask, "the step before failed, so a human should look before it goes on")
	}
	if loopMeets(l.Deny, action, analysis) {
		object("deny", 2, interlock.Deny, "a pattern configured for this agent denies this")
	}
	if loopMeets(l.RequiresApproval, action, analysis) {
		object("requires-approval", 3, interlock.Ask, "a pattern configured for this agent wants this approved each time")
	}
	score := LoopRisk(rules, snapshot, action, analysis)
	for _, c := range rules.LoopRules().Cumulative {
		if l.Risk+score.Risk >= c.Risk {
			object("cumulative", 4, interlock.Ask, c.Reason).Heuristic = true
			break
		}
	}
	return append(out, tiers(l, score)...)
}

// tiers are the findings of the risk score: it pauses above the tolerance, wants a code in the tier verify and stops in the
// danger zone. A score that was raised by a declaration is no guess, and autoApprove does not reach it.
func tiers(l *interlock.Loop, score Score) []interlock.Finding {
	f := interlock.Finding{Gate: "loop", Layer: 4, Heuristic: !score.Declared, Impacts: score.Impacts}
	switch tier := interlock.TierOf(score.Risk); {
	case tier == interlock.TierDangerZone:
		f.Rule, f.Verdict, f.Layer = "loop.danger-zone", interlock.Deny, 2
		f.Reason = fmt.Sprintf("the risk score of %d of 100 is in the danger zone", score.Risk)
	case tier == interlock.TierVerify:
		f.Rule, f.Verdict = "loop.verify", interlock.Ask
		f.Reason = fmt.Sprintf("the risk score of %d of 100 needs a human's code", score.Risk)
		f.Obligations = []interlock.Obligation{{Type: interlock.ObligationVerify, Note: "risk"}}
	case score.Risk > l.Tolerance:
		f.Rule, f.Verdict = "loop.tolerance", interlock.Ask
		f.Reason = fmt.Sprintf("the risk score of %d of 100 is above the tolerance of %d", score.Risk, l.Tolerance)
	default:
		return nil
	}
	return []interlock.Finding{f}
}

// loopMeets reports whether a glob matches the tool, an executed text, or what a hint names.
func loopMeets(globs []string, action interlock.Action, analysis impact.Analysis) bool {
	if len(globs) == 0 {
		return false
	}
	for _, name := range namesOf(action, analysis) {
		for _, g := range globs {
			if ruleset.Glob(g, name) {
				return true
			}
		}
	}
	return false
}

// namesOf lists everything of an action that a glob is held against.
func namesOf(action interlock.Action, analysis impact.Analysis) []string {
	var names []string
	if action.Tool != "" {
		names = append(names, action.Tool)
	}
	for _, t := range analysis.Texts {
		names = append(names, t.Value)
	}
	if action.Kind == interlock.KindHint {
		names = append(names, analysis.Spoken...)
	}
	return names
}

// loopApproves reports whether the agent's own autoApprove covers the whole step, by the rules of [AutoApproved].
func loopApproves(l *interlock.Loop, action interlock.Action, analysis impact.Analysis) bool {
	if l == nil || len(l.AutoApprove) == 0 {
		return false
	}
	matches := func(text string) bool {
		for _, g := range l.AutoApprove {
			if ruleset.Glob(g, text) {
				return true
			}
		}
		return false
	}
	return covered(matches, action, analysis)
}

// A Score is a step's risk score and how it came about.
type Score struct {
	Risk     int              // 0 to 100
	Level    interlock.Danger // after escalation
	Declared bool             // a declaration, and no inference, gave the level
	Impacts  []int            // the level was inferred from
	Factors  []string         // what raised it, in plain words
}

// LoopRisk scores a step: the danger level, raised by what was repeated too often, gives the band, the impacts the place in
// it, and the ruleset's factors are added (MCP-AQL danger levels 8.3, 9).
func LoopRisk(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) Score {
	var s Score
	s.Level, s.Declared, s.Impacts = DangerLevel(rules, snapshot, action, analysis)
	loop := rules.LoopRules()
	for i := range loop.Escalation {
		e := &loop.Escalation[i]
		if escalates(e, snapshot, analysis) && e.Level > s.Level {
			s.Level, s.Declared = e.Level, true
			s.Factors = append(s.Factors, e.Reason)
		}
	}
	s.Risk = RiskScore(s.Level, analysis.Impacts)
	for i := range loop.Score {
		if f := &loop.Score[i]; f.Meets(action, analysis.Impacts) {
			s.Risk = min(100, s.Risk+f.Add)
			s.Factors = append(s.Factors, f.Say)
		}
	}
	return s
}

// escalates reports whether the step is one too many of its kind.
func escalates(e *ruleset.Escalation, snapshot interlock.Snapshot, analysis impact.Analysis) bool {
	return snapshot.Loop != nil && e.Meets(analysis.Impacts) && counted(snapshot.Loop, e.Counted())+1 >= e.Times
}

func counted(l *interlock.Loop, name string) int {
	for _, c := range l.Counts {
		if c.Name == name {
			return c.Times
		}
	}
	return 0
}

// Escalation says in findings what [LoopRisk] only adds up: each step that is one too many of its kind, and each factor that
// raises the score, so that the person asked reads why. What they do to the verdict is the trust matrix's and the score's.
func Escalation(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	if snapshot.Loop == nil {
		return nil
	}
	var out []interlock.Finding
	loop := rules.LoopRules()
	trust := trustOf(rules, snapshot)
	for i := range loop.Escalation {
		e := &loop.Escalation[i]
		if !escalates(e, snapshot, analysis) {
			continue
		}
		if verdict := matrix(e.Level, trust, false); verdict != interlock.Allow {
			out = append(out, interlock.Finding{Gate: "escalation", Rule: "escalation." + e.ID, Layer: 2, Verdict: verdict,
				Reason: e.Reason})
		}
	}
	return out
}
