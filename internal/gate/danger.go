package gate

import (
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Danger holds the action's danger level against how far the agent has been examined, by the matrix of MCP-AQL. A level
// that was inferred gives a heuristic finding, one that was declared an explicit one.
func Danger(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	level, declared, at := DangerLevel(rules, snapshot, action, analysis)
	trust := trustOf(rules, snapshot)
	needed := needs(rules, snapshot, action, analysis)
	f := interlock.Finding{Gate: "danger", Rule: "danger." + level.String(), Layer: 2, Heuristic: !declared, Impacts: at}
	switch matrix(level, trust, introspects(action)) {
	case interlock.Allow:
		return needed
	case interlock.Ask:
		f.Verdict = interlock.Ask
		f.Reason = "what is " + level.String() + " needs a person's yes"
		f.Obligations = []interlock.Obligation{{Type: interlock.ObligationConfirm, Note: "danger level " + level.String()}}
	default:
		f.Verdict = interlock.Deny
		f.Reason = "the operation is " + level.String() + " and the agent is not trusted that far"
	}
	return append([]interlock.Finding{f}, needed...)
}

// needs are the findings of what declarations want beside a level: a pause between two, a fresh code, certain approvers.
func needs(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	declared := rules.Danger()
	for n := range declared {
		d := &declared[n]
		if d.Cooldown == 0 && !d.Reauth && d.Approvers == nil || !concerns(d.Name, action, analysis) ||
			!d.Applies(action.Arguments) {
			continue
		}
		if d.Cooldown > 0 && snapshot.Loop != nil && counted(snapshot.Loop, d.Counted()) > 0 {
			out = append(out, interlock.Finding{Gate: "danger", Rule: "danger.cooldown", Layer: 2, Verdict: interlock.Deny,
				Reason: "this operation may not run again so soon; try it later"})
		}
		if d.Reauth || d.Approvers != nil {
			out = append(out, confirmation(d))
		}
	}
	return out
}

// confirmation is the Ask of an operation that wants a fresh code or certain approvers.
func confirmation(d *ruleset.DangerRule) interlock.Finding {
	f := interlock.Finding{Gate: "danger", Rule: "danger.confirmation", Layer: 2, Verdict: interlock.Ask,
		Reason: "the operation is declared to need a human's confirmation each time"}
	if d.Reauth {
		f.Obligations = append(f.Obligations, interlock.Obligation{Type: interlock.ObligationVerify, Note: "declared"})
	}
	if a := d.Approvers; a != nil {
		f.Obligations = append(f.Obligations, interlock.Obligation{Type: interlock.ObligationApprovers, Note: a.Note()})
		if a.Within > 0 {
			f.Obligations = append(f.Obligations,
				interlock.Obligation{Type: interlock.ObligationWithin, Note: time.Duration(a.Within).String()})
		}
	}
	return f
}

// matrix is the table of levels and trust. Unknown levels and unknown trust are denied.
func matrix(level interlock.Danger, trust interlock.Trust, introspect bool) interlock.Verdict {
	const confirm, deny, allow = interlock.Ask, interlock.Deny, interlock.Allow
	table := [...][5]interlock.Verdict{
		interlock.DangerSafe:        {deny, allow, allow, allow, allow},
		interlock.DangerReversible:  {deny, deny, allow, allow, allow},
		interlock.DangerDestructive: {deny, deny, confirm, allow, allow},
		interlock.DangerDangerous:   {deny, deny, deny, confirm, allow},
		interlock.DangerForbidden:   {deny, deny, deny, deny, confirm},
	}
	if int(level) >= len(table) || trust > interlock.TrustCertified {
		return interlock.Deny
	}
	if level == interlock.DangerSafe && trust == interlock.TrustUntested && introspect {
		return interlock.Allow // an untested adapter may say what it is and nothing more
	}
	return table[level][trust]
}

func introspects(action interlock.Action) bool {
	return action.Kind == interlock.KindTool && ruleset.Glob("introspect*", action.Tool)
}

// Permits is what the matrix says of an operation that declares its level, for an agent as it is registered, and the trust
// it went by. A door asks it about its own operations; what an action would do to the world is Danger's.
func Permits(rules *ruleset.Ruleset, profile string, agent interlock.AgentRecord, level interlock.Danger,
	introspects bool) (interlock.Verdict, interlock.Trust) {
	trust := trustOf(rules, interlock.Snapshot{Profile: profile, Agent: agent})
	return matrix(level, trust, introspects), trust
}

// FreeTrust is the least trust for which the matrix has nothing against a level.
func FreeTrust(level interlock.Danger) (least interlock.Trust, found bool) {
	for trust := interlock.TrustUntested; trust <= interlock.TrustCertified; trust++ {
		if matrix(level, trust, false) == interlock.Allow {
			return trust, true
		}
	}
	return interlock.TrustCertified, false
}

// MinimumTrust is the least trust for which the matrix does not deny a level.
func MinimumTrust(level interlock.Danger) interlock.Trust {
	for trust := interlock.TrustUntested; trust < interlock.TrustCertified; trust++ {
		if matrix(level, trust, false) != interlock.Deny {
			return trust
		}
	}
	return interlock.TrustCertified
}

// trustOf is the trust of a registered agent; of one that nobody registered, such as a local hook's, the profile's.
func trustOf(rules *ruleset.Ruleset, snapshot interlock.Snapshot) interlock.Trust {
	if !snapshot.Agent.Created.IsZero() {
		return snapshot.Agent.Trust
	}
	if p, ok := rules.Profile(snapshot.Profile); ok {
		return p.Trust
	}
	return interlock.TrustUntested
}

// DangerLevel returns an action's danger level, whether a declaration gave it, and the impacts it was inferred from.
//
// What the impacts show is the floor. Where nothing is declared, the form of the operation's name may raise it, and it is
// at least reversible unless everything is read only; a declaration takes the place of the name. Declarations of
// operators' documents only ever raise.
func DangerLevel(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) (interlock.Danger, bool, []int) {
	shown, named := interlock.DangerSafe, interlock.DangerSafe
	for n := range analysis.Impacts {
		shown = max(shown, shownDanger(&analysis.Impacts[n]))
		named = max(named, namedDanger(&analysis.Impacts[n]))
	}
	level, declared := shown, false
	for _, d := range snapshot.Danger {
		if concerns(d.Name, action, analysis) {
			level, declared = max(level, d.Level), true
		}
	}
	var raised interlock.Danger
	rulesOf := rules.Danger()
	for n := range rulesOf {
		d := &rulesOf[n]
		if !concerns(d.Name, action, analysis) || !d.Applies(action.Arguments) {
			continue
		}
		if d.User {
			raised = max(raised, d.Level)
		} else {
			level, declared = max(level, d.Level), true
		}
	}
	if !declared {
		level = max(level, named)
	}
	explicit := declared
	if raised >= level { // also as high: what an operator declares is no guess because the name argues for it as well
		level, explicit = raised, true
	}
	if explicit && shown < level {
		return level, true, nil
	}
	at := all(analysis.Impacts, func(i *interlock.Impact) bool {
		return max(shownDanger(i), namedDanger(i)) >= level && level > interlock.DangerSafe
	})
	return level, explicit && level > shown, at
}

// concerns reports whether a declaration's glob names the tool or any command of the action.
func concerns(glob string, action interlock.Action, analysis impact.Analysis) bool {
	if action.Tool != "" && ruleset.Glob(glob, action.Tool) {
		return true
	}
	for n := range analysis.Impacts {
		if via := analysis.Impacts[n].Via; via != "" && ruleset.Glob(glob, via) {
			return true
		}
	}
	for _, t := range analysis.Texts {
		if t.Kind == interlock.KindTool && ruleset.Glob(glob, t.Value) {
			return true
		}
	}
	return false
}

// shownDanger is the level an impact shows by what it does.
func shownDanger(i *interlock.Impact) interlock.Danger {
	switch {
	case !understood(i):
		return interlock.DangerDestructive // the gate for unknown input asks in any case
	case i.Has(fact.TraitDryRun) || i.Has(fact.TraitNegated):
		return interlock.DangerSafe
	case i.Reversibility == interlock.Readonly:
		return interlock.DangerSafe
	case i.Reversibility == interlock.Irreversible && lastingHarm(i):
		return interlock.DangerDangerous
	case i.Reversibility == interlock.Irreversible || i.Kind == interlock.ImpactDelete:
		return interlock.DangerDestructive
	case i.Kind == interlock.ImpactRead:
		return interlock.DangerSafe
	}
	return interlock.DangerReversible
}

// lastingHarm tells irreversible impacts that reach far from the many small ones of everyday work.
func lastingHarm(i *interlock.Impact) bool {
	if i.Reach == interlock.ReachProduction || i.Reach == interlock.ReachSelf {
		return true
	}
	if sum, _ := i.Sum(); i.Kind == interlock.ImpactSpend && sum > 0 {
		return true
	}
	for _, t := range [...]string{fact.TraitRoot, fact.TraitDevice, fact.TraitBoot, fact.TraitBomb, fact.TraitBackup} {
		if i.Has(t) {
			return true
		}
	}
	return i.Has(fact.TraitBulk) && (i.Has(fact.TraitDatabase) || i.Has(fact.TraitInfra))
}

// namedDanger is the level the form of an operation's name argues for.
func namedDanger(i *interlock.Impact) interlock.Danger {
	switch {
	case i.Has(fact.TraitNamedForbidden):
		return interlock.DangerForbidden
	case i.Has(fact.TraitNamedDangerous):
		return interlock.DangerDangerous
	}
	return interlock.DangerSafe
}
