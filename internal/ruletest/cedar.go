package ruletest

import (
	"interlock"
	"interlock/internal/engine"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// runCedar runs the tests of every Cedar policy: a blocking test must be decided deny or halt and an asking test ask, with the policy
// among the findings; a passing test must not meet it.
func runCedar(rules *ruleset.Ruleset, analyser *impact.Analyser) (cases int, problems []Problem) {
	for _, p := range rules.Cedar() {
		for _, list := range []struct {
			want  string
			cases []ruleset.CedarCase
		}{{"block", p.Tests.Block}, {"ask", p.Tests.Ask}, {"pass", p.Tests.Pass}} {
			for _, c := range list.cases {
				cases++
				d := decideCedar(rules, analyser, c)
				if fault := judge(&ruleset.Rule{ID: p.ID()}, list.want, d); fault != "" {
					problems = append(problems, Problem{p.ID(), show(ruleset.TestCase{Action: c.Action}), fault})
				}
			}
		}
	}
	return cases, problems
}

// decideCedar decides a policy's test: as its agent, of its type, for its user, and when it says.
func decideCedar(rules *ruleset.Ruleset, analyser *impact.Analyser, c ruleset.CedarCase) interlock.Decision {
	snapshot := Snapshot(rules)
	snapshot.Taken = c.At
	for _, one := range []struct {
		to   *string
		text string
	}{{&snapshot.Agent.ID, c.Agent}, {&snapshot.Agent.Type, c.Type}, {&snapshot.Agent.Principal, c.User}} {
		if one.text != "" {
			*one.to = one.text
		}
	}
	action := c.Action
	if action.Kind == "" {
		action.Kind = interlock.KindShell
	}
	if action.Dir == "" {
		action.Dir = snapshot.View.Workspace
	}
	analysis := analyser.Analyse(snapshot.View, action)
	objections := gate.Cedar(rules, snapshot, action, analysis) // the types of those who ask are not what is tested
	return engine.Decide(rules.Plain(), snapshot, action, analysis, objections, nil, c.At)
}
