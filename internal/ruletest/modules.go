package ruletest

import (
	"cmp"
	"slices"
	"time"

	"interlock"
	"interlock/internal/engine"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Module holds an agent's registration against the rules, as the params of a request to register it as a module: it is one, each action
// that its policy forbids is denied, and none that the policy allows is (MACE 9.1: forbidden actions). name is the file's.
func Module(rules *ruleset.Ruleset, analyser *impact.Analyser, name string, registration []byte) (cases int, problems []Problem) {
	wrong := func(what, text string) { problems = append(problems, Problem{Rule: name, Message: what, Case: text}) }
	var m interlock.Module
	if err := strictjson.Decode(registration, &m); err != nil {
		wrong("is no registration of a module: "+err.Error(), "")
		return 1, problems
	}
	m.Timeout, m.Attempts = cmp.Or(m.Timeout, interlock.ModuleTimeout), cmp.Or(m.Attempts, interlock.ModuleAttempts)
	if err := m.Check(ruleset.ModuleMeasures()); err != nil {
		wrong(err.Error(), "")
		return 1, problems
	}
	for _, glob := range m.Policy.Forbidden {
		if !moduleSays(rules, analyser, m, glob, "module.forbidden") {
			wrong("is forbidden, and the action that it names is not denied: it names neither a tool, an executed text nor a kind", glob)
		}
	}
	for _, glob := range m.Policy.Allowed {
		switch {
		case slices.Contains(m.Policy.Forbidden, glob) || moduleSays(rules, analyser, m, glob, "module.forbidden"):
			wrong("is allowed and forbidden at once; what is forbidden is denied", glob)
		case moduleSays(rules, analyser, m, glob, "module.not-allowed"):
			wrong("is allowed, and the action that it names is denied: it names neither a tool, an executed text nor a kind", glob)
		}
	}
	return 1 + len(m.Policy.Forbidden) + len(m.Policy.Allowed), problems
}

// moduleSays reports whether the gate of modules objects by a rule to the plainest action that a glob names: as a command, a tool and a
// kind. It denies whichever of them the glob names, and allows it where one of them is allowed.
func moduleSays(rules *ruleset.Ruleset, analyser *impact.Analyser, m interlock.Module, glob, rule string) bool {
	text, says := plainest(glob), 0
	actions := []interlock.Action{Shell(text), {Kind: interlock.KindTool, Tool: text, Arguments: []byte("{}")}}
	if kind := interlock.Kind(glob); kind.Valid() && !kind.TakesObject() {
		actions = append(actions, interlock.Action{Kind: kind, Input: "x"})
	}
	for _, action := range actions {
		snapshot := Snapshot(rules)
		snapshot.Agent.Module = &m
		action.Dir = snapshot.View.Workspace
		d := engine.Decide(rules.Plain(), snapshot, action, analyser.Analyse(snapshot.View, action), nil, nil, time.Time{})
		if slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool { return f.Gate == gate.NameModule && f.Rule == rule }) {
			says++
		}
	}
	return says > 0 && (rule != "module.not-allowed" || says == len(actions))
}
