package ruleset

import (
	"bytes"
	"encoding/json"
	"slices"

	"interlock"
	"interlock/internal/strictjson"
)

// Loosened names what denies in one ruleset and denies less in another: rules that are gone, object to something else or less
// strictly; globs of what policy denies that are gone; and settings of monitored executions that are others, where only
// fewer steps are taken for stricter. What rules say, and how they are tested, makes no difference.
func Loosened(from, to *Ruleset) ([]string, error) {
	var out []string
	for _, rule := range from.rules {
		if rule.Verdict.Compare(interlock.Deny) < 0 {
			continue
		}
		now, still := to.Rule(rule.ID)
		if !still || now.Verdict.Compare(rule.Verdict) < 0 {
			out = append(out, "rule "+rule.ID)
			continue
		}
		same, err := sameObjection(rule, now)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, "rule "+rule.ID)
		}
	}
	for _, glob := range from.policy.Deny {
		if !slices.Contains(to.policy.Deny, glob) {
			out = append(out, "policy.deny "+glob)
		}
	}
	if loosenedMaso(from, to) || to.watch.looser(from.watch) {
		out = append(out, "maso")
	}
	limits, err := loosenedLimits(from, to)
	if err != nil {
		return nil, err
	}
	budgets, err := loosenedBudgets(from, to)
	if err != nil {
		return nil, err
	}
	out = append(append(out, limits...), budgets...)
	less, err := loosenedLoop(from.loop, to.loop)
	if less {
		out = append(out, "loop")
	}
	if err != nil {
		return out, err
	}
	types, err := loosenedTypes(from, to)
	if err != nil {
		return out, err
	}
	commits, err := loosenedCommits(from, to)
	if err != nil {
		return out, err
	}
	types = append(types, commits...)
	policies, err := loosenedCedar(from, to)
	return append(append(out, types...), policies...), err
}

// loosenedLoop reports whether what is said of monitored executions is no longer said, or a single setting is another.
func loosenedLoop(from, to LoopRules) (bool, error) {
	if to.Steps > 0 && (from.Steps == 0 || to.Steps < from.Steps) {
		from.Steps = to.Steps // fewer without a human
	}
	var parts [2]map[string]json.RawMessage
	for i, loop := range []LoopRules{from, to} {
		text, err := strictjson.Marshal(loop)
		if err == nil {
			err = strictjson.DecodeSome(text, &parts[i])
		}
		if err != nil {
			return true, err
		}
	}
	for name, was := range parts[0] { // any order: one is enough
		var before, after []json.RawMessage
		if strictjson.DecodeSome(was, &before) != nil {
			if !bytes.Equal(was, parts[1][name]) {
				return true, nil
			}
			continue
		}
		if now := parts[1][name]; len(now) > 0 && strictjson.DecodeSome(now, &after) != nil {
			return true, nil
		}
		for _, one := range before {
			if !slices.ContainsFunc(after, func(o json.RawMessage) bool { return bytes.Equal(o, one) }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// sameObjection reports whether two rules object to the same, whatever they say about it.
func sameObjection(a, b *Rule) (bool, error) {
	var only [2]*Rule
	for i, rule := range []*Rule{a, b} {
		only[i] = &Rule{ID: rule.ID, Layer: rule.Layer, Profiles: rule.Profiles, Kinds: rule.Kinds, Match: rule.Match, After: rule.After,
			Heuristic: rule.Heuristic, Wanted: rule.Wanted}
	}
	return sameText(only[0], only[1])
}

// sameText reports whether two parts of rulesets are written alike.
func sameText(a, b any) (bool, error) {
	one, err := strictjson.Marshal(a)
	if err != nil {
		return false, err
	}
	other, err := strictjson.Marshal(b)
	return err == nil && bytes.Equal(one, other), err
}

// Without is a ruleset with one rule less, for telling what that rule does. Its digest stays, so that what was ordered and
// granted under the ruleset counts under this one too: it is compared with, and never in force.
func (r *Ruleset) Without(id string) *Ruleset {
	less := *r
	less.rules, less.index = nil, ruleIndex{}
	for _, rule := range r.rules {
		if rule.ID != id {
			own := *rule // it has another place here
			less.rules = append(less.rules, &own)
		}
	}
	less.danger, less.production = slices.Clone(r.danger), slices.Clone(r.production)
	for _, list := range []*[]string{&less.policy.Deny, &less.policy.RequiresApproval, &less.policy.AutoApprove} {
		*list = slices.Clone(*list) // finish sorts in place, and others read the whole ruleset
	}
	less.finish()
	return &less
}
