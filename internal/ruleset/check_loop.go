package ruleset

import (
	"fmt"
	"slices"

	"interlock"
)

// The bounds of what an operation or a loop may declare.
const (
	maxSteps = 100_000
	maxTimed = 10_000 // repetitions counted
)

var operators = []string{"<", "<=", ">", ">=", "==", "!=", "matches", "in"}

// danger checks declarations of danger levels.
func (c *checker) danger(rules []DangerRule) error {
	for i := range rules {
		at, rule := fmt.Sprintf("/danger/%d", i), &rules[i]
		if rule.Name == "" {
			return c.doc.Errorf(at+"/name", "name is missing; give a glob over tool names or commands")
		}
		if err := c.conditions(rule.When, at+"/when"); err != nil {
			return err
		}
		if len(rule.Message) > maxReason {
			return c.doc.Errorf(at+"/confirmation_message", "the message is longer than %d bytes", maxReason)
		}
		if a := rule.Approvers; a != nil && len(a.Roles)+len(a.Teams) == 0 {
			return c.doc.Errorf(at+"/approvers", "nobody may approve; name roles or teams, or remove it")
		}
	}
	return nil
}

func (c *checker) conditions(conditions []interlock.Condition, at string) error {
	for i, one := range conditions {
		at := fmt.Sprintf("%s/%d", at, i)
		if one.Parameter == "" {
			return c.doc.Errorf(at+"/parameter", "parameter is missing; give a path such as params.count")
		}
		if !slices.Contains(operators, one.Operator) {
			return c.doc.Errorf(at+"/operator", "operator must be one of %v", operators)
		}
		if len(one.Value) == 0 {
			return c.doc.Errorf(at+"/value", "value is missing")
		}
		if _, ok := number(one.Value); !ok && slices.Contains(operators[:4], one.Operator) {
			return c.doc.Errorf(at+"/value", "%s compares numbers; give one, without an exponent", one.Operator)
		}
	}
	return nil
}

// loop checks the settings of the safety loop.
func (c *checker) loop(l *LoopRules) error {
	if l == nil {
		return nil
	}
	if err := c.loopSetting(l.Steps, l.Tolerance, "/loop"); err != nil {
		return err
	}
	for i, own := range l.Agents {
		at := fmt.Sprintf("/loop/agents/%d", i)
		if own.Agent == "" {
			return c.doc.Errorf(at+"/agent", "agent is missing; give a glob over agent ids or types")
		}
		if err := c.loopSetting(own.Steps, own.Tolerance, at); err != nil {
			return err
		}
	}
	for i, e := range l.Escalation {
		at := fmt.Sprintf("/loop/escalation/%d", i)
		switch {
		case !idForm().MatchString(e.ID):
			return c.doc.Errorf(at+"/id", "id must be lower-case words joined by dots and dashes, e.g. many-deletes")
		case e.Match.compile().empty:
			return c.doc.Errorf(at+"/match", "match is empty; say what is counted")
		case e.Times < 2 || e.Times > maxTimed:
			return c.doc.Errorf(at+"/times", "times must be from 2 to %d", maxTimed)
		case e.Reason == "" || len(e.Reason) > maxReason:
			return c.doc.Errorf(at+"/reason", "reason must be one plain sentence of at most %d bytes", maxReason)
		}
		if err := c.predicate(e.Match, at+"/match"); err != nil {
			return err
		}
	}
	return c.scores(l)
}

func (c *checker) scores(l *LoopRules) error {
	for i, f := range l.Score {
		at := fmt.Sprintf("/loop/score/%d", i)
		switch {
		case !idForm().MatchString(f.ID):
			return c.doc.Errorf(at+"/id", "id must be lower-case words joined by dots and dashes, e.g. production")
		case f.Match.compile().empty && len(f.When) == 0:
			return c.doc.Errorf(at, "the factor concerns every step; give match or when")
		case f.Add < 1 || f.Add > 100:
			return c.doc.Errorf(at+"/add", "add must be from 1 to 100; nothing lowers a score")
		case f.Say == "" || len(f.Say) > maxReason:
			return c.doc.Errorf(at+"/say", "say must name the factor in plain words, in at most %d bytes", maxReason)
		}
		if err := c.predicate(f.Match, at+"/match"); err != nil {
			return err
		}
		if err := c.conditions(f.When, at+"/when"); err != nil {
			return err
		}
	}
	for i, cumulative := range l.Cumulative {
		at := fmt.Sprintf("/loop/cumulative/%d", i)
		if cumulative.Risk < 1 {
			return c.doc.Errorf(at+"/risk", "risk must be at least 1")
		}
		if cumulative.Reason == "" || len(cumulative.Reason) > maxReason {
			return c.doc.Errorf(at+"/reason", "reason must be one plain sentence of at most %d bytes", maxReason)
		}
	}
	return nil
}

func (c *checker) loopSetting(steps int, tolerance, at string) error {
	if steps < 0 || steps > maxSteps {
		return c.doc.Errorf(at+"/max_autonomous_steps", "must be from 1 to %d", maxSteps)
	}
	if _, known := tolerances[tolerance]; !known && tolerance != "" {
		return c.doc.Errorf(at+"/tolerance", "tolerance must be conservative, moderate or aggressive")
	}
	return nil
}
