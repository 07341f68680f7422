package ruleset

import (
	"bytes"
	"maps"
	"slices"
	"sort"

	"interlock/internal/strictjson"
)

// A Change is one difference between two rulesets.
type Change struct {
	What string // e.g. "rule fs.delete-root", "policy.deny git push*"
	How  string // "added", "removed" or "changed"
}

// Diff returns what changed from one ruleset to another, sorted.
func Diff(from, to *Ruleset) ([]Change, error) {
	before, err := from.parts()
	if err != nil {
		return nil, err
	}
	after, err := to.parts()
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(before)) {
		switch now, still := after[name]; {
		case !still:
			out = append(out, Change{name, "removed"})
		case !bytes.Equal(before[name], now):
			out = append(out, Change{name, "changed"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, had := before[name]; !had {
			out = append(out, Change{name, "added"})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].What < out[j].What })
	return out, nil
}

// parts returns the canonical form of everything in the ruleset by name.
func (r *Ruleset) parts() (map[string][]byte, error) {
	out := map[string][]byte{}
	put := func(name string, v any) error {
		data, err := strictjson.Marshal(v)
		out[name] = data
		return err
	}
	for _, rule := range r.rules {
		if err := put("rule "+rule.ID, rule); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.profiles)) {
		if err := put("profile "+name, r.profiles[name]); err != nil {
			return nil, err
		}
	}
	for _, list := range []struct {
		name  string
		globs []string
	}{{"policy.deny", r.policy.Deny}, {"policy.requiresApproval", r.policy.RequiresApproval},
		{"policy.autoApprove", r.policy.AutoApprove}, {"production", r.production}} {
		for _, g := range list.globs {
			out[list.name+" "+g] = nil
		}
	}
	for _, d := range r.danger {
		if err := put("danger "+d.Name+" "+d.Level.String(), d); err != nil {
			return nil, err
		}
	}
	for _, b := range r.budgets {
		if err := put("budget "+b.ID, b); err != nil {
			return nil, err
		}
	}
	for _, l := range r.limits {
		if err := put("limit "+l.ID, l); err != nil {
			return nil, err
		}
	}
	if err := put("loop", r.loop); err != nil {
		return nil, err
	}
	for _, s := range r.scopes {
		for _, g := range s.Allow {
			out["scope "+s.Agent+" "+g] = nil
		}
	}
	return out, nil
}
