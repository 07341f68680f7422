package ruleset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ruleset"
)

const loopDefaults = `{"loop":{"max_autonomous_steps":50,"tolerance":"moderate"}}`

func TestLoopSettings(t *testing.T) {
	const team = `loop:
  tolerance: aggressive
  agents:
    - {agent: "build*", max_autonomous_steps: 200, policy: {deny: ["drop_*"], autoApprove: ["read_*"]}}
    - {agent: "*-nightly", max_autonomous_steps: 5, tolerance: conservative, policy: {deny: ["wipe_*"]}}
`
	rules, err := ruleset.Load(map[string][]byte{"loop.yaml": []byte(loopDefaults)}, map[string][]byte{"team.yaml": []byte(team)})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ruleset.Load(map[string][]byte{"loop.yaml": []byte(loopDefaults)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rules *ruleset.Ruleset
		agent interlock.AgentRecord
		want  ruleset.LoopSetting
	}{
		{plain, interlock.AgentRecord{ID: "builder"}, ruleset.LoopSetting{Steps: 50, Tolerance: 50}},
		{rules, interlock.AgentRecord{ID: "other"}, ruleset.LoopSetting{Steps: 50, Tolerance: 75}},
		{rules, interlock.AgentRecord{ID: "x", Type: "builder"}, ruleset.LoopSetting{Steps: 200, Tolerance: 75,
			Policy: ruleset.Policy{Deny: []string{"drop_*"}, AutoApprove: []string{"read_*"}}}},
		{rules, interlock.AgentRecord{ID: "build-nightly"}, ruleset.LoopSetting{Steps: 5, Tolerance: 25,
			Policy: ruleset.Policy{Deny: []string{"drop_*", "wipe_*"}, AutoApprove: []string{"read_*"}}}},
	} {
		got := test.rules.Loop(test.agent)
		for _, list := range []*[]string{&got.Policy.Deny, &got.Policy.RequiresApproval, &got.Policy.AutoApprove} {
			if len(*list) == 0 {
				*list = nil
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.agent.ID, test.agent.Type, diff)
		}
	}
}

func TestLoopMistakes(t *testing.T) {
	for _, test := range []struct{ document, want string }{
		{"loop: {max_autonomous_steps: -1}", "loop.max_autonomous_steps"},
		{"loop: {tolerance: brave}", "conservative, moderate or aggressive"},
		{"loop: {agents: [{max_autonomous_steps: 3}]}", "loop.agents[0].agent"},
		{"loop: {escalation: [{id: x, match: {}, times: 3, level: dangerous, reason: y}]}", "match is empty"},
		{"loop: {escalation: [{id: x, match: {kind: [delete]}, times: 1, level: dangerous, reason: y}]}", "times must be"},
		{"loop: {escalation: [{id: x, match: {kind: [delete]}, times: 3, level: dangerous}]}", "reason"},
		{"loop: {score: [{id: x, add: 5, say: y}]}", "every step"},
		{"loop: {score: [{id: x, match: {kind: [delete]}, add: -5, say: y}]}", "nothing lowers a score"},
		{"loop: {score: [{id: x, when: [{parameter: a, operator: '>', value: many}], add: 5, say: y}]}", "compares numbers"},
		{"loop: {cumulative: [{risk: 0, reason: x}]}", "loop.cumulative[0].risk"},
		{"danger: [{name: x, level: dangerous, when: [{parameter: a, operator: like, value: 1}]}]", "operator must be"},
		{"danger: [{name: x, level: dangerous, when: [{operator: '>', value: 1}]}]", "parameter is missing"},
		{"danger: [{name: x, level: dangerous, approvers: {}}]", "nobody may approve"},
	} {
		_, err := ruleset.Load(nil, map[string][]byte{"team.yaml": []byte(test.document)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error about %q", test.document, err, test.want)
		}
	}
}
