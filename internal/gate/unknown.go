package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
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
		{fact.TraitOversize, "the input is too large to be examined; split it into smaller steps"},
		{fact.TraitWork, "the input is too long to be examined; split it into smaller steps"},
		{fact.TraitNested, "the input is nested too deep to be examined; write it plainly"},
		{fact.TraitEncoding, "the input is not valid text; remove bytes that are not UTF-8"},
		{fact.TraitUnparsable, "the input could not be parsed; correct its syntax"},
		{fact.TraitVague, "this names nothing that could be judged; report the exact command, file, statement or call"},
		{fact.TraitUnsupported, "there is no way to examine this kind of input"},
		{fact.TraitDynamic, "what would run is only known at run time; name the command and its target plainly"},
		{fact.TraitWrapper, "the command is run by a program that is not known; run it directly"},
	} {
		if i.Has(known.trait) {
			reason = known.reason
			if known.trait == fact.TraitDynamic && i.Target != "" && i.Target != i.Via {
				reason = "what " + shown(i.Target) + " stands for shows only when it runs; name the command and its target plainly"
			}
			break
		}
	}
	if i.Has(fact.TraitInline) && i.Target != "" {
		reason = inProgram(i, reason)
	}
	return []interlock.Finding{{Gate: "unknown", Rule: "unknown.input", Layer: 3, Verdict: interlock.Ask,
		Reason: reason, Impacts: at}}
}

// inProgram says what of a program in the command nobody can tell beforehand.
func inProgram(i *interlock.Impact, reason string) string {
	switch {
	case i.Kind == interlock.ImpactDelete:
		return "the " + shown(i.Via) + " code deletes " + shown(i.Target) + "; name what it deletes"
	case i.Kind == interlock.ImpactWrite || i.Kind == interlock.ImpactPrivilege:
		return "the " + shown(i.Via) + " code changes " + shown(i.Target) + "; name what it changes"
	case i.Has(fact.TraitUnsupported):
		return "the " + shown(i.Via) + " code calls " + shown(i.Target) + ", of which nothing is known"
	case i.Has(fact.TraitDynamic):
		return "the " + shown(i.Via) + " code runs something that is only known at run time; name the command plainly"
	}
	return reason
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
