package auditlog

import (
	"slices"

	"interlock"
)

// gates splits a decision into what the deterministic gates and what judges said (ASA 14.1).
func gates(d interlock.Decision, judgments []interlock.Judgment) (first, second gateWire) {
	second = gateWire{Result: "not_run", Reason: "no judge was asked"}
	result, judge := interlock.Allow, interlock.Allow
	judged, objected := len(judgments) > 0, false
	if judged {
		second = gateWire{Result: judge.String(), Reason: judgments[0].Reason}
	}
	if Spared(judgments) != "" { // which is no answer; where it did not count, a finding says so
		second, judged = gateWire{Result: "not_run", Reason: judgments[0].Reason}, false
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		named := gateWire{Result: f.Verdict.String(), Rule: f.Rule, Layer: f.Layer, Reason: f.Reason}
		if f.Gate == judgeGate {
			if f.Verdict.Compare(judge) > 0 {
				judge, second = f.Verdict, named
			}
			judged = true
			continue
		}
		objected = true
		if f.Verdict.Compare(result) > 0 {
			result, first = f.Verdict, named
		}
	}
	if !objected && !judged {
		result = d.Verdict
	}
	switch {
	case judged:
	case d.Mode == interlock.Logging || d.Mode == interlock.Disabled:
		second.Reason = "no judge is asked in the mode " + d.Mode.String()
	case result.Compare(interlock.Deny) >= 0:
		second.Reason = "no judge was asked about what gate 1 denies"
	}
	first.Result = result.String()
	return first, second
}

// judgments are shortened where they speak; what says who judged, by what and at which price stays whole.
func (c *cutter) judgments(said []interlock.Judgment) []interlock.Judgment {
	out := slices.Clone(said)
	for n := range out {
		out[n].Reason, out[n].Rule = c.text("judgments.reason", out[n].Reason), c.text("judgments.rule_id", out[n].Rule)
	}
	return out
}

// DenyingGate says which of the two gates denied: 1 the deterministic one, 2 the judge, 0 neither. Where both did it is the first, as the
// second is not asked then.
func DenyingGate(d interlock.Decision) int {
	first, second := gates(d, nil)
	for n, g := range [...]gateWire{first, second} {
		if g.Result == interlock.Deny.String() || g.Result == interlock.Halt.String() {
			return n + 1
		}
	}
	return 0
}
