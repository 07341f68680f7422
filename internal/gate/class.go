package gate

import (
	"slices"
	"strings"
	"unicode"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// A Target is what sort of thing an impact is done to, as MASO's tier 2 classifies actions (EC-2.1).
type Target string

// The targets. What is neither here nor known to be staging is production.
const (
	TargetRead         Target = "read"         // nothing is changed
	TargetLocal        Target = "local"        // this machine, which profile and rules speak of
	TargetStaging      Target = "staging"      // it has a name that the rules say is staging
	TargetProduction   Target = "production"   // or nobody said that it is not
	TargetExternal     Target = "external"     // people, services and money outside
	TargetIrreversible Target = "irreversible" // wherever it is
)

// TargetOf says what an impact of an action is done to.
func TargetOf(kind interlock.Kind, i *interlock.Impact) Target {
	sends := i.Has(fact.TraitUpload) || i.Has(fact.TraitPublish) || i.Has(fact.TraitSecretSend)
	switch {
	case i.Has(fact.TraitDryRun) || i.Has(fact.TraitNegated):
		return TargetRead
	case i.Kind == interlock.ImpactRead, i.Reversibility == interlock.Readonly:
		return TargetRead
	case i.Kind == interlock.ImpactNetwork && !sends && i.Reversibility != interlock.Irreversible:
		return TargetRead // what is done over the connection has impacts of its own
	case i.Reversibility == interlock.Irreversible:
		return TargetIrreversible
	case i.Kind == interlock.ImpactMessage || i.Kind == interlock.ImpactSpend:
		return TargetExternal
	case i.Reach == interlock.ReachProduction:
		return TargetProduction
	case i.Has(fact.TraitStaging):
		return TargetStaging
	case i.Kind == interlock.ImpactNetwork:
		return TargetExternal
	case i.Reach == interlock.ReachExternal:
		return TargetProduction
	case kind == interlock.KindTool && i.Confidence != interlock.Parsed:
		return TargetProduction // a server's tool: nothing says where it acts
	}
	return TargetLocal
}

// Class asks about what MASO has escalated whatever the profile is, from tier 2 on: what changes production, what goes to others, and
// what can't be undone (EC-AC-2). A pre-approved range answers the first two.
func Class(rules *ruleset.Ruleset, _ interlock.Snapshot, action interlock.Action, analysis impact.Analysis) (out []interlock.Finding) {
	if !rules.Maso().Classifies() {
		return nil
	}
	for _, c := range [...]struct {
		target Target
		reason string
	}{
		{TargetIrreversible, "this can't be undone, which takes a human from tier 2 on"},
		{TargetProduction, "this changes production, or what nobody declared to be staging"},
		{TargetExternal, "this goes to somebody outside"},
	} {
		var met []int
		for n := range analysis.Impacts {
			if TargetOf(action.Kind, &analysis.Impacts[n]) == c.target {
				met = append(met, n)
			}
		}
		if len(met) > 0 {
			out = append(out, interlock.Finding{Gate: nameClass, Rule: nameClass + "." + string(c.target), Layer: 3, Verdict: interlock.Ask,
				Reason: c.reason, Impacts: met})
		}
	}
	return out
}

const nameClass = "class"

// maxUses bounds how many tools one action is taken to use. What uses more is asked about each time.
const maxUses = 16

// Uses names what of an action's doing counts as the use of a tool: its tool or, of a command or a text, each program and operation
// that does more than read. Whole says that nothing was left out.
func Uses(action interlock.Action, impacts []interlock.Impact) (uses []string, whole bool) {
	for n := range impacts {
		i := &impacts[n]
		if TargetOf(action.Kind, i) == TargetRead {
			continue
		}
		name := action.Tool
		if !action.Kind.TakesObject() || name == "" {
			name, _, _ = strings.Cut(i.Via, " ")
		}
		use := string(action.Kind) + " " + printable(name)
		if len(use) > maxUse {
			use = use[:maxUse]
		}
		if use = strings.ToValidUTF8(strings.TrimSpace(use), ""); !slices.Contains(uses, use) {
			uses = append(uses, use)
		}
	}
	slices.Sort(uses)
	return uses[:min(len(uses), maxUses)], len(uses) <= maxUses
}

// printable is a name without what would not be seen of it.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
}

// maxUse bounds the name of a use, in bytes.
const maxUse = 120

// NameFirstUse is the gate of what a type of agents has not used before.
const NameFirstUse = "first-use"

// FirstUse is what is objected to the first use of tools by a type of agents.
func FirstUse(kind string, uses []string) interlock.Finding {
	return interlock.Finding{Gate: NameFirstUse, Rule: "first-use.tool", Layer: 3, Verdict: interlock.Ask,
		Reason: "agents of the type " + kind + " have not used this before: " + strings.Join(uses, ", ")}
}

// FirstUseAsked is what is objected while somebody is already asked about that.
func FirstUseAsked(kind string, use, request string) interlock.Finding {
	return interlock.Finding{Gate: NameFirstUse, Rule: "first-use.asked", Layer: 3, Verdict: interlock.Deny,
		Reason:     "whether agents of the type " + kind + " may use this (" + use + ") is being asked already, for another of them: " + request,
		Suggestion: "try again once somebody has answered"}
}
