package groundrules

import "interlock"

// An Outcome is what one applicable rule says of one action. Its zero value denies.
type Outcome struct {
	Rule    string
	Layer   int               // 1 to 4
	Sub     int               // of the rule's id
	Verdict interlock.Verdict // Allow, Ask where a person has to confirm first, Deny
}

// Resolve is the conflict resolution of ASA section 13, with the outcome that its appendix A.2 needs and its algorithm lacks: a layer
// that makes its permission conditional.
//
// A denial is never overridden, neither by an allowance of another layer nor of its own, and the lowest-numbered layer that denies is
// reported. Where nothing denies, a condition holds whatever else allows, reported likewise. What no rule spoke about is denied,
// unlike in the draft, whose last line allows it: whether an action is in scope is a rule's outcome like any other, so that no outcome
// at all means that nobody looked. An outcome of a layer that does not exist, or with a verdict that is none, denies.
//
// layer and rule are those that decide; for Allow they are 0 and empty.
func Resolve(outcomes []Outcome) (verdict interlock.Verdict, layer int, rule string) {
	if len(outcomes) == 0 {
		return interlock.Deny, 0, ""
	}
	var denies, asks *Outcome
	for n := range outcomes {
		o := &outcomes[n]
		switch {
		case o.Verdict != interlock.Allow && o.Verdict != interlock.Ask, o.Layer < 1, o.Layer > Layers:
			denies = lower(denies, o)
		case o.Verdict == interlock.Ask:
			asks = lower(asks, o)
		}
	}
	switch {
	case denies != nil:
		return interlock.Deny, denies.Layer, denies.Rule
	case asks != nil:
		return interlock.Ask, asks.Layer, asks.Rule
	}
	return interlock.Allow, 0, ""
}

// lower is the outcome of the lower layer, then of the lower sub-layer, then of the rule that comes first by id, so that the order of
// outcomes changes nothing.
func lower(a, b *Outcome) *Outcome {
	switch {
	case a == nil:
		return b
	case a.Layer != b.Layer:
		if b.Layer < a.Layer {
			return b
		}
	case a.Sub != b.Sub:
		if b.Sub < a.Sub {
			return b
		}
	case b.Rule < a.Rule:
		return b
	}
	return a
}

// Outcome is what a rule says of an action that a judge denies by it.
func (r *Rules) Outcome(id string) (Outcome, bool) {
	rule := r.byID[id]
	if rule == nil {
		return Outcome{}, false
	}
	return Outcome{Rule: id, Layer: rule.Layer, Sub: rule.Sub, Verdict: rule.Verdict()}, true
}
