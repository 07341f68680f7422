package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Risk asks where the score is at or above what the profile takes without a human. The score is a heuristic and so is
// the finding.
func Risk(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	p, ok := rules.Profile(snapshot.Profile)
	if !ok || p.Risk == 0 {
		return nil
	}
	level, _, at := DangerLevel(rules, snapshot, action, analysis)
	if RiskScore(level, analysis.Impacts) < p.Risk {
		return nil
	}
	return []interlock.Finding{{Gate: "risk", Rule: "risk.score", Layer: 4, Verdict: interlock.Ask, Heuristic: true, Impacts: at,
		Reason: "taken together this is riskier than the profile lets pass without a human"}}
}

// RiskScore is 0 to 100: the danger level gives the band, as MCP-AQL has it, and the impacts the place in the band.
func RiskScore(level interlock.Danger, impacts []interlock.Impact) int {
	bands := [...][2]int{
		interlock.DangerSafe: {0, 15}, interlock.DangerReversible: {16, 40}, interlock.DangerDestructive: {41, 60},
		interlock.DangerDangerous: {61, 85}, interlock.DangerForbidden: {86, 100},
	}
	if int(level) >= len(bands) {
		return 100
	}
	weight := 0 // 0 to 100 inside the band
	for n := range impacts {
		weight = max(weight, impactWeight(&impacts[n]))
	}
	if weight > 0 {
		weight = min(100, weight+2*(len(impacts)-1))
	}
	low, high := bands[level][0], bands[level][1]
	return low + (high-low)*weight/100
}

// impactWeight sums what makes one impact worse than another of the same level.
func impactWeight(i *interlock.Impact) int {
	weight := 0
	switch i.Reach {
	case interlock.ReachWorkspace:
	case interlock.ReachHome:
		weight += 15
	case interlock.ReachExternal:
		weight += 25
	case interlock.ReachSystem:
		weight += 30
	default:
		weight += 45
	}
	switch i.Reversibility {
	case interlock.Readonly:
	case interlock.Reversible:
		weight += 5
	case interlock.Window:
		weight += 15
	default:
		weight += 30
	}
	switch i.Kind {
	case interlock.ImpactCredential, interlock.ImpactSpend, interlock.ImpactPrivilege, interlock.ImpactPersist,
		interlock.ImpactMessage:
		weight += 15
	}
	if i.Confidence != interlock.Parsed {
		weight += 5
	}
	for _, t := range [...]string{fact.TraitRecursive, fact.TraitForce, fact.TraitBulk, fact.TraitElevated,
		fact.TraitObfuscated, fact.TraitSecret, fact.TraitUncommitted} {
		if i.Has(t) {
			weight += 8
		}
	}
	return min(weight, 100)
}
