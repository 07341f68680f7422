package auditlog

import "interlock"

// gates splits a decision into what the deterministic gates and what the judge said.
func gates(d interlock.Decision) (first, second gateWire) {
	second = gateWire{Result: "not_run", Reason: "no judge was asked"}
	result := interlock.Allow
	judged, objected := false, false
	for i := range d.Findings {
		f := &d.Findings[i]
		named := gateWire{Result: f.Verdict.String(), Rule: f.Rule, Layer: f.Layer, Reason: f.Reason}
		if f.Gate == judgeGate {
			if !judged || f.Verdict.String() != second.Result {
				second = named
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
	first.Result = result.String()
	return first, second
}
