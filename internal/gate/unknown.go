package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Unknown asks about whatever the analysis could not understand. What is merely inferred is left to the other gates.
func Unknown(_ *ruleset.Ruleset, _ interlock.Snapshot, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	at := all(analysis.Impacts, func(i *interlock.Impact) bool { return !understood(i) })
	if len(at) == 0 {
		return nil
	}
	reason := "part of this could not be understood, so a human must look at it"
	i := &analysis.Impacts[at[0]]
	for _, known := range []struct{ trait, reason string }{
		{impact.TraitOversize, "the input is too large to be examined; split it into smaller steps"},
		{impact.TraitWork, "the input is too long to be examined; split it into smaller steps"},
		{impact.TraitNested, "the input is nested too deep to be examined; write it plainly"},
		{impact.TraitEncoding, "the input is not valid text; remove bytes that are not UTF-8"},
		{impact.TraitUnparsable, "the input could not be parsed; correct its syntax"},
		{impact.TraitUnsupported, "there is no way to examine this kind of input"},
		{impact.TraitDynamic, "what would run is only known at run time; name the command and its target plainly"},
		{impact.TraitWrapper, "the command is run by a program that is not known; run it directly"},
	} {
		if i.Has(known.trait) {
			reason = known.reason
			break
		}
	}
	return []interlock.Finding{{Gate: "unknown", Rule: "unknown.input", Layer: 3, Verdict: interlock.Ask, Reason: reason, Impacts: at}}
}

// understood reports whether every word of the impact is of the vocabulary and its confidence is more than unknown.
func understood(i *interlock.Impact) bool {
	return (i.Confidence == interlock.Parsed || i.Confidence == interlock.Inferred) &&
		known(interlock.ImpactKinds(), i.Kind) && known(interlock.Reaches(), i.Reach) &&
		known(interlock.Reversibilities(), i.Reversibility)
}

func known[T comparable](list []T, v T) bool {
	for _, k := range list {
		if k == v {
			return true
		}
	}
	return false
}
