package gate

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/module"
	"interlock/internal/ruleset"
)

// NameModule is the gate of what a registered module may not do.
const NameModule = "module"

// Module objects to what the policy of a registered module forbids or does not allow, to external services that it does not declare, and to
// further attempts at what failed that the seed of its job does not give it (MACE safety boundaries 5).
func Module(_ *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) (found []interlock.Finding) {
	m := snapshot.Agent.Module
	if m == nil {
		return nil
	}
	object := func(rule string, verdict interlock.Verdict, impacts []int, reason string) {
		found = append(found, interlock.Finding{Gate: NameModule, Rule: "module." + rule, Layer: 2, Verdict: verdict, Impacts: impacts,
			Reason: reason})
	}
	if forbids(m.Policy.Forbidden, action, analysis) {
		object("forbidden", interlock.Deny, nil, "the policy of this module forbids this action (forbidden_actions)")
	}
	if len(m.Policy.Allowed) > 0 && !given(m.Policy.Allowed, action, analysis) {
		object("not-allowed", interlock.Deny, nil, "the policy of this module does not have this action (allowed_actions)")
	}
	outside := func(i *interlock.Impact) bool {
		return onHost(i) && (i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction)
	}
	changes := func(i *interlock.Impact) bool {
		return len(m.Code) > 0 && onPath(i) && i.Kind != interlock.ImpactRead && acts(i)
	}
	if own := all(analysis.Impacts, func(i *interlock.Impact) bool {
		return changes(i) && !untold(i) && touches(m.Code, action,
			i)
	}); len(own) > 0 {
		object("code", interlock.Deny, own,
			"this would change what the module itself is made of (code), which takes a quorum of the council")
	}
	if unclear := all(analysis.Impacts, func(i *interlock.Impact) bool { return changes(i) && untold(i) }); len(unclear) > 0 {
		object("code", interlock.Ask, unclear,
			"which files this changes can't be told, and this module is not to change those it is made of")
	}
	undeclared := all(analysis.Impacts, func(i *interlock.Impact) bool {
		return outside(i) && !(len(m.Services) > 0 && untold(i)) && !liesOnHost(m.Services, action, i)
	})
	if len(undeclared) > 0 {
		object("service", interlock.Deny, undeclared,
			"this calls an external service that this module does not declare (external_services)")
	}
	unclear := all(analysis.Impacts, func(i *interlock.Impact) bool { return outside(i) && len(m.Services) > 0 && untold(i) })
	if len(unclear) > 0 {
		object("service", interlock.Ask, unclear,
			"which external service this calls can't be told, and this module declares which it calls")
	}
	if spent(m, snapshot) {
		object("retries", interlock.Deny, nil,
			"this has failed in this job, and its seed and max_attempts give the module no further attempt")
	}
	return found
}

// touches reports whether an impact is on a path that globs name, on a folder above one, or on one that its spelling hides.
func touches(globs []string, action interlock.Action, i *interlock.Impact) bool {
	at := *i
	at.Target = strings.TrimSuffix(path.Clean(strings.ReplaceAll(i.Target, `\`, "/")), "/")
	if !path.IsAbs(at.Target) && !strings.HasPrefix(at.Target, "~") && action.Dir != "" && !strings.Contains(at.Target, ":") {
		at.Target = path.Join(strings.ReplaceAll(action.Dir, `\`, "/"), at.Target)
	}
	return liesOnPath(globs, action, &at) || slices.ContainsFunc(globs, func(g string) bool {
		below := ruleset.Glob(strings.TrimSuffix(g, "/")+"/*", at.Target)
		literal := g[:strings.IndexFunc(g+"*", func(r rune) bool { return r == '*' || r == '?' })]
		return below || len(literal) > len(at.Target) && strings.EqualFold(literal[:len(at.Target)+1], at.Target+"/")
	})
}

// forbids reports whether globs name anything of an action: its tool, a text that it would execute, what would do it, or its kind.
func forbids(globs []string, action interlock.Action, analysis impact.Analysis) bool {
	if len(globs) == 0 {
		return false
	}
	if anyGlob(globs, string(action.Kind)) || action.Tool != "" && anyGlob(globs, action.Tool) {
		return true
	}
	for n := range analysis.Texts {
		if anyGlob(globs, analysis.Texts[n].Value) {
			return true
		}
	}
	for n := range analysis.Impacts {
		if via := analysis.Impacts[n].Via; via != "" && anyGlob(globs, via) {
			return true
		}
	}
	return false
}

// spent reports whether what a gateway would carry out has failed as often as it may be tried in a job: the id of its registered run is the
// seed. In none there is no seed, and max_attempts alone bounds it. What the run has changed since makes the next attempt another one,
// except where nobody knows how the last one ended.
func spent(m *interlock.Module, snapshot interlock.Snapshot) bool {
	f, most := snapshot.Failed, m.Attempts
	if f == nil || f.Changed && f.Outcome != interlock.OutcomeUnknown {
		return false
	}
	if job := snapshot.Run; job != nil && job.Run != "" {
		most = min(1+module.Retries(job.Run), most)
	}
	return f.Count >= most
}
