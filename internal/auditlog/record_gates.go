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

// DenyingGate says which of the two gates denied: 1 the deterministic one, 2 the judge, 0 neither. Where both did it is the first, as the
// second is not asked then.
func DenyingGate(d interlock.Decision) int {
	first, second := gates(d)
	for n, g := range [...]gateWire{first, second} {
		if g.Result == interlock.Deny.String() || g.Result == interlock.Halt.String() {
			return n + 1
		}
	}
	return 0
}
