package gate

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Type objects to what an agent's type does not give it, and to what the type of anybody does not who delegated the run to it: an
// action is permitted by all of them or by none. It objects as well where the registered run that an action names is none that its
// agent may act in. Where the ruleset defines no types, only the run is looked at.
func Type(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	basis := snapshot.Run
	if basis == nil {
		if !rules.Typed() {
			return nil
		}
		basis = &interlock.RunBasis{User: snapshot.Agent.Principal}
	}
	if basis.Wrong != "" {
		return []interlock.Finding{{Gate: "type", Rule: "type.run", Layer: 2, Verdict: interlock.Deny, Reason: basis.Wrong}}
	}
	if !rules.Typed() {
		return nil
	}
	name := ruleset.TypeName(snapshot.Agent)
	own := rules.TypeNamed(name)
	level, _, _ := DangerLevel(rules, snapshot, action, analysis)
	score := RiskScore(level, analysis.Impacts)
	found := inRuns(own, name, basis)
	found = append(found, typed{own, name, "of this agent", score}.objections(action, analysis)...)
	for _, by := range basis.Links {
		whose := "of the agent " + by.Agent + ", which delegated this,"
		found = append(found, typed{rules.TypeNamed(by.Type), by.Type, whose, score}.objections(action, analysis)...)
	}
	for _, by := range snapshot.Authors { // what its own type has against it is said already
		if by.Type != name {
			whose := "of the agent " + by.Agent + ", which wrote what this runs,"
			found = append(found, typed{rules.TypeNamed(by.Type), by.Type, whose, score}.objections(action, analysis)...)
		}
	}
	for _, t := range rules.TypesOfUser(basis.User) {
		found = append(found, typed{t, t.Name, "of the person for whom this is done", score}.objections(action, analysis)...)
	}
	if len(basis.Links) > 0 && !deepEnough(rules, basis) {
		found = append(found, interlock.Finding{Gate: "type", Rule: "type.depth", Layer: 2, Verdict: interlock.Deny,
			Reason: "this run was delegated on more often than the types of those who delegated it let (tier)"})
	}
	if t := own; t.Sandbox != "" && (action.Kind == interlock.KindShell || action.Kind == interlock.KindPython ||
		action.Kind == interlock.KindJavaScript) {
		found = append(found, interlock.Finding{Gate: "type", Rule: "type.sandbox", Layer: 3, Verdict: interlock.Allow,
			Reason:      fmt.Sprintf("what agents of the type %s run is run in the sandbox %s", t.Name, t.Sandbox),
			Obligations: []interlock.Obligation{{Type: interlock.ObligationSandbox, Note: t.Sandbox}}})
	}
	return found
}

// inRuns objects to actions outside of the runs that an agent has to act in.
func inRuns(t *ruleset.Type, name string, basis *interlock.RunBasis) []interlock.Finding {
	reason, rule := "", "type.runs"
	switch {
	case basis.Run == "" && basis.Delegated:
		reason = "this agent holds runs that were delegated to it, and the action names none of its runs; name the one it is done in"
	case basis.Run == "" && t.Runs != ruleset.RunsOptional:
		reason = fmt.Sprintf("agents of the type %s act in registered runs only (runs), and the action names none", name)
	case t.Runs == ruleset.RunsDelegated && len(basis.Links) == 0:
		reason = fmt.Sprintf("agents of the type %s act in runs only that were delegated to them (runs)", name)
	case basis.Run != "" && basis.Delegated && len(basis.Links) == 0:
		reason = "while this agent holds runs that were delegated to it, it does nothing in a run that it began by itself"
	default:
		return nil
	}
	return []interlock.Finding{{Gate: "type", Rule: rule, Layer: 2, Verdict: interlock.Deny, Reason: reason}}
}

// deepEnough reports whether everybody on the way lets a run be delegated on as often as this one was: the one that began it as
// often as it was, and each further one as often as it was after that. What is delegated to counts for nothing.
func deepEnough(rules *ruleset.Ruleset, basis *interlock.RunBasis) bool {
	for n, by := range basis.Links {
		if rules.Deep(rules.TypeNamed(by.Type)) < n+1 {
			return false
		}
	}
	return true
}

// A typed is one type that an action is held against, and how a reason speaks of it.
type typed struct {
	*ruleset.Type
	name  string
	whose string
	score int // of the action's risk
}

func (t typed) finding(field string, verdict interlock.Verdict, impacts []int, why string) interlock.Finding {
	return interlock.Finding{Gate: "type", Rule: "type." + field, Layer: 2, Verdict: verdict, Impacts: impacts,
		Reason: fmt.Sprintf("the type %s %s %s (%s)", t.name, t.whose, why, field)}
}

// objections are what a type has against an action.
func (t typed) objections(action interlock.Action, analysis impact.Analysis) (found []interlock.Finding) {
	if !t.Defined() {
		if beyond := all(analysis.Impacts, acts); len(beyond) > 0 || len(analysis.Impacts) == 0 {
			found = append(found, interlock.Finding{Gate: "type", Rule: "type.undefined", Layer: 2, Verdict: interlock.Deny, Impacts: beyond,
				Reason: fmt.Sprintf("nobody has defined the type %s %s, so that it may look and do nothing", t.name, t.whose)})
		}
	}
	if !given(t.Tools, action, analysis) {
		found = append(found, t.finding("tools", interlock.Deny, nil, "does not have this tool or command"))
	}
	if parameter, fits := t.Fits(action.Tool, action.Arguments); !fits {
		found = append(found, t.finding("parameters", interlock.Deny, nil, "sets bounds to "+parameter+" that this does not keep"))
	}
	if class := t.touches(analysis.Impacts); class != "" {
		found = append(found, t.finding("data", interlock.Deny, nil, "does not touch "+class+" data"))
	}
	found = append(found, t.outside(action, analysis.Impacts)...)
	if t.Risk > 0 && t.score > t.Risk {
		found = append(found, t.finding("risk", interlock.Ask, nil, "takes less risk than this without a human"))
	}
	return found
}

// given reports whether globs name an action's tool, or everything that it would execute; what has neither goes by its kind.
func given(globs []string, action interlock.Action, analysis impact.Analysis) bool {
	if action.Tool == "" && len(analysis.Texts) == 0 {
		return anyGlob(globs, string(action.Kind))
	}
	return listed(globs, action, analysis)
}

// touches is the class of data that an action touches and the type does not name.
func (t typed) touches(impacts []interlock.Impact) string {
	for n := range impacts {
		for _, class := range ruleset.DataClasses() {
			if ofClass(&impacts[n], class) && !anyGlob(t.Data, class) {
				return class
			}
		}
	}
	return ""
}

func ofClass(i *interlock.Impact, class string) bool {
	switch class {
	case ruleset.DataSecret:
		return i.Kind == interlock.ImpactCredential || i.Has(fact.TraitSecret) || i.Has(fact.TraitSecretSend) || i.Has(fact.TraitEnvironment)
	case ruleset.DataPersonal:
		return i.Has(fact.TraitPersonal)
	}
	return true
}

// outside objects to targets that lie outside of the type's scopes, and asks about those where it can't be told.
func (t typed) outside(action interlock.Action, impacts []interlock.Impact) (found []interlock.Finding) {
	for _, scope := range []struct {
		name  string
		globs []string
		has   func(*interlock.Impact) bool
		lies  func(globs []string, action interlock.Action, i *interlock.Impact) bool
	}{
		{"paths", t.Scopes.Paths, onPath, liesOnPath},
		{"hosts", t.Scopes.Hosts, onHost, liesOnHost},
		{"databases", t.Scopes.Databases, onDatabase, liesInDatabase},
	} {
		if len(scope.globs) == 0 {
			continue
		}
		vague := func(i *interlock.Impact) bool { return scope.has(i) && untold(i) }
		if unclear := all(impacts, vague); len(unclear) > 0 {
			found = append(found, t.finding("scopes."+scope.name, interlock.Ask, unclear, "is bound to places, and where this acts can't be told"))
		}
		beyond := all(impacts, func(i *interlock.Impact) bool {
			return scope.has(i) && !vague(i) && !scope.lies(scope.globs, action, i)
		})
		if len(beyond) > 0 {
			found = append(found, t.finding("scopes."+scope.name, interlock.Deny, beyond, "is bound to other places"))
		}
	}
	return found
}

// untold reports whether it can't be told where an impact is.
func untold(i *interlock.Impact) bool {
	return i.Target == "" || i.Confidence == interlock.Unknown || i.Has(fact.TraitDynamic)
}

func onDatabase(i *interlock.Impact) bool { return i.Has(fact.TraitDatabase) }

func onHost(i *interlock.Impact) bool {
	return !onDatabase(i) && (i.Kind == interlock.ImpactNetwork || i.Kind == interlock.ImpactMessage || i.Has(fact.TraitRemote))
}

// onPath takes for a path whatever is read, written or removed and is none of the others.
func onPath(i *interlock.Impact) bool {
	switch i.Kind {
	case interlock.ImpactRead, interlock.ImpactWrite, interlock.ImpactDelete, interlock.ImpactPersist, interlock.ImpactPrivilege,
		interlock.ImpactCredential:
		return !onDatabase(i) && !onHost(i) && !i.Has(fact.TraitAgents)
	}
	return false
}

func liesOnPath(globs []string, action interlock.Action, i *interlock.Impact) bool {
	target := strings.ReplaceAll(i.Target, `\`, "/")
	for _, g := range globs {
		if g == "workspace" {
			if i.Reach == interlock.ReachWorkspace {
				return true
			}
			continue
		}
		whole := target
		if !strings.HasPrefix(whole, "/") && !strings.HasPrefix(whole, "~") && !strings.Contains(whole, ":") && action.Dir != "" {
			whole = path.Join(strings.ReplaceAll(action.Dir, `\`, "/"), whole)
		}
		if !strings.Contains(whole+"/", "/../") && ruleset.Glob(g, whole) {
			return true
		}
	}
	return false
}

func liesOnHost(globs []string, _ interlock.Action, i *interlock.Impact) bool {
	host := strings.TrimSuffix(i.Target, ":")
	if strings.Contains(host, "://") {
		at, err := url.Parse(host)
		if err != nil || at.Hostname() == "" || strings.ContainsAny(host, "\\ \t") {
			return false
		}
		host = at.Hostname()
	}
	return !strings.ContainsAny(host, `/\@`) && anyGlob(globs, strings.TrimSuffix(host, "."))
}

func liesInDatabase(globs []string, _ interlock.Action, i *interlock.Impact) bool {
	return anyGlob(globs, i.Target)
}
