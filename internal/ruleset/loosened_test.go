package ruleset_test

import (
	"slices"
	"testing"

	"interlock/internal/ruleset"
)

// TestLoosened: what denies less is named; what denies more, or only says something else about it, is not.
func TestLoosened(t *testing.T) {
	const profile = "profiles: [{name: p, about: x, trust: certified, empty: allow, rows: [{id: all, verdict: allow}]}]\n"
	const deny = "rules: [{id: a.x, layer: 2, verdict: deny, reason: r, match: {glob: [\"xx*\"]}}]\n"
	for name, tc := range map[string]struct {
		from, to string
		want     []string
	}{
		"the same":     {deny, deny, nil},
		"a rule more":  {"", deny, nil},
		"a rule gone":  {deny, "", []string{"rule a.x"}},
		"only asks":    {deny, "rules: [{id: a.x, layer: 2, verdict: ask, reason: r, match: {glob: [\"xx*\"]}}]", []string{"rule a.x"}},
		"halts":        {deny, "rules: [{id: a.x, layer: 2, verdict: halt, reason: r, match: {glob: [\"xx*\"]}}]", nil},
		"matches less": {deny, "rules: [{id: a.x, layer: 2, verdict: deny, reason: r, match: {glob: [\"xxy*\"]}}]", []string{"rule a.x"}},
		"holds under one profile": {deny, "rules: [{id: a.x, layer: 2, verdict: deny, profiles: [p], reason: r, match: {glob: " +
			"[\"xx*\"]}}]", []string{"rule a.x"}},
		"another place": {deny, "rules: [{id: a.x, layer: 2, sublayer: 3, verdict: deny, reason: r, match: {glob: [\"xx*\"]}}]", nil},
		"a guess now": {deny, "rules: [{id: a.x, layer: 2, heuristic: true, verdict: deny, reason: r, match: {glob: [\"xx*\"]}}]",
			[]string{"rule a.x"}},
		"says it otherwise": {deny, "rules: [{id: a.x, layer: 2, verdict: deny, reason: other, match: {glob: [\"xx*\"]}}]", nil},
		"an ask gone":       {"rules: [{id: a.x, layer: 2, verdict: ask, reason: r, match: {glob: [\"xx*\"]}}]", "", nil},
		"a glob gone":       {"policy: {deny: [\"aa*\", \"bb*\"]}", "policy: {deny: [\"aa*\"]}", []string{"policy.deny bb*"}},
		"a glob more":       {"policy: {deny: [\"aa*\"]}", "policy: {deny: [\"aa*\", \"bb*\"]}", nil},
		"more steps":        {"loop: {max_autonomous_steps: 5}", "loop: {max_autonomous_steps: 9}", []string{"loop"}},
		"fewer steps":       {"loop: {max_autonomous_steps: 5}", "loop: {max_autonomous_steps: 4}", nil},
		"steps at all":      {"", "loop: {max_autonomous_steps: 5}", nil},
	} {
		load := func(text string) *ruleset.Ruleset {
			user := map[string][]byte{}
			if text != "" {
				user["a.yaml"] = []byte(text)
			}
			set, err := ruleset.Load(map[string][]byte{"p.yaml": []byte(profile)}, user)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return set
		}
		got, err := ruleset.Loosened(load(tc.from), load(tc.to))
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
		}
	}
}
