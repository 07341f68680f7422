package engine

import (
	"slices"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

// always reports whether a grant with a scope answers the questions of a decision: each of them is of a rule that it names, nothing of the
// decision is answered each time, and the action is written as the scope says. What was looked at when the grant was signed is looked
// at again here, because rules, analysis and the world change under a yes that is in force.
func always(gates gate.Table, g *interlock.Grant, d interlock.Decision, action interlock.Action) bool {
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Verdict != interlock.Allow && !slices.Contains(g.Rules, f.Rule) {
			return false
		}
	}
	if g.Kind.TakesObject() && g.Tool != action.Tool {
		return false
	}
	return eachTime(gates, d) == "" && g.Scope.Covers(action, impact.Words(action))
}

// EachTime says why no standing yes answers what a decision asks, or nothing: what protects systems and secrets, depends on more than
// the action, wants more than one yes, touches secrets, can't be undone in production, or could not be understood, is answered each time.
func EachTime(d interlock.Decision) string { return eachTime(gate.Gates(), d) }

func eachTime(gates gate.Table, d interlock.Decision) string {
	asked := false
	for n := range d.Findings {
		f := &d.Findings[n]
		switch {
		case f.Verdict == interlock.Allow:
			continue
		case f.Verdict != interlock.Ask:
			return f.Rule + " does not ask"
		case f.Layer <= 2:
			return f.Rule + " is of layer 1 or 2, which protect systems and secrets"
		case !gates.Of(f.Gate).Suppressible:
			return f.Rule + " depends on more than the action"
		}
		asked = true
	}
	if !asked {
		return "nothing is asked"
	}
	for _, o := range d.Obligations {
		if o.Type != interlock.ObligationConfirm && o.Type != interlock.ObligationRedact && o.Type != interlock.ObligationSandbox {
			return "more than one yes is wanted: " + o.Type
		}
	}
	return reserved(d.Impacts)
}

// reserved says what among impacts is answered each time.
func reserved(impacts []interlock.Impact) string {
	for _, i := range impacts {
		switch {
		case i.Kind == interlock.ImpactCredential || i.Has(fact.TraitSecret) || i.Has(fact.TraitSecretSend):
			return "it touches a secret"
		case i.Reach == interlock.ReachProduction && i.Reversibility == interlock.Irreversible:
			return "it can't be undone, and is production"
		case i.Reach == interlock.ReachSelf:
			return "it touches what Interlock rests on"
		case i.Confidence == interlock.Unknown:
			return "a part of it can't be understood"
		}
	}
	return ""
}

// sooner reports whether a grant ends before another, so that none is kept longer than it must; one that ends only when it is ended
// comes last.
func sooner(g, other *interlock.Grant) bool {
	if never := g.Expires.IsZero(); never != other.Expires.IsZero() {
		return !never
	}
	return g.Expires.Before(other.Expires) || g.Expires.Equal(other.Expires) && g.ID < other.ID
}
