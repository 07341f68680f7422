package ruleset_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/ruleset"
)

func masoOf(t *testing.T, documents ...string) *ruleset.Ruleset {
	t.Helper()
	user := map[string][]byte{}
	for n, text := range documents {
		user[string(rune('a'+n))+".yaml"] = []byte(text)
	}
	set, err := ruleset.Load(nil, user)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestOversightSettings: of several documents the stricter holds, and a mistake names its field.
func TestOversightSettings(t *testing.T) {
	set := masoOf(t, `maso: {tier: 2, staging: ["b-stage*"], first_use: noted, review: {low: 3h, high: 2h}, latency: [{within: 2s}]}`,
		`maso: {tier: 0, staging: ["a-stage*", "b-stage*"], review: {low: 5h}, latency: [{types: ["plan*"], within: 500ms}]}`)
	m := set.Maso()
	if !slices.Equal(set.Staging(), []string{"a-stage*", "b-stage*"}) || m.AsksFirstUse() || !m.Classifies() {
		t.Errorf("%+v", m)
	}
	for l, want := range map[ruleset.Level]time.Duration{ruleset.LevelLow: 3 * time.Hour, ruleset.LevelMedium: 24 * time.Hour,
		ruleset.LevelHigh: 2 * time.Hour, ruleset.LevelCritical: time.Hour} {
		if within, timed := m.Within(l); within != want || !timed {
			t.Errorf("%s: %v, %v", l, within, timed)
		}
	}
	if set.LatencyOf("planner") != 500*time.Millisecond || set.LatencyOf("other") != 2*time.Second || masoOf(t).LatencyOf("x") != 0 {
		t.Error("how long an orchestration may take")
	}
	if asks := masoOf(t, "maso: {tier: 2, first_use: noted}", "maso: {tier: 2, first_use: ask}").Maso(); !asks.AsksFirstUse() {
		t.Error("whoever asks prevails")
	}
	if _, timed := masoOf(t, "maso: {tier: 1}").Maso().Within(ruleset.LevelLow); timed {
		t.Error("below tier 2 the settings say how long a question waits")
	}
	for risk, want := range map[int]ruleset.Level{0: ruleset.LevelLow, 30: ruleset.LevelLow, 31: ruleset.LevelMedium, 60: ruleset.LevelMedium,
		61: ruleset.LevelHigh, 85: ruleset.LevelHigh, 86: ruleset.LevelCritical, 100: ruleset.LevelCritical} {
		if got := ruleset.LevelOf(risk); got != want {
			t.Errorf("%d: %s", risk, got)
		}
	}
	for document, want := range map[string]string{
		"maso: {first_use: never}":              "first_use must be ask or noted",
		`maso: {staging: ["*.x"]}`:              "the glob would take nearly everything for staging",
		"maso: {review: {high: 10s}}":           "maso.review.high",
		"maso: {review: {low: 900h}}":           "maso.review.low",
		"maso: {latency: [{within: 0s}]}":       "name how long an orchestration may take",
		"maso: {latency: [{types: [planner]}]}": "name how long an orchestration may take",
	} {
		if _, err := ruleset.Load(nil, map[string][]byte{"a.yaml": []byte(document)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}

// TestReclassified names what one ruleset has people see that another has not, and nothing where it is as strict.
func TestReclassified(t *testing.T) {
	const strict = `
maso: {tier: 2, staging: ["stage-*"]}
production: ["db-main"]
policy: {requiresApproval: ["deploy_*"]}
danger: [{name: "drop_*", level: dangerous}]
`
	for name, test := range map[string]struct{ to, want string }{
		"the same":             {strict, ""},
		"a higher tier":        {strings.Replace(strict, "tier: 2", "tier: 3", 1), ""},
		"less staging":         {strings.Replace(strict, `["stage-*"]`, "[]", 1), ""},
		"more production":      {strings.Replace(strict, `["db-main"]`, `["db-main", "db-two"]`, 1), ""},
		"a shorter review":     {strings.Replace(strict, "tier: 2", "tier: 2, review: {low: 2h}", 1), ""},
		"a lower tier":         {strings.Replace(strict, "tier: 2", "tier: 1", 1), "maso.tier"},
		"more staging":         {strings.Replace(strict, `["stage-*"]`, `["stage-*", "test-*"]`, 1), "maso.staging test-*"},
		"less production":      {strings.Replace(strict, `["db-main"]`, "[]", 1), "production db-main"},
		"a longer review":      {strings.Replace(strict, "tier: 2", "tier: 2, review: {critical: 2h}", 1), "maso.review CRITICAL"},
		"noted":                {strings.Replace(strict, "tier: 2", "tier: 2, first_use: noted", 1), "maso.first_use"},
		"approved by itself":   {strict + "\n", ""},
		"no approval is asked": {strings.Replace(strict, `["deploy_*"]`, "[]", 1), "policy.requiresApproval deploy_*"},
		"less dangerous":       {strings.Replace(strict, "level: dangerous", "level: destructive", 1), "danger drop_*"},
	} {
		less, err := ruleset.Reclassified(masoOf(t, strict), masoOf(t, test.to))
		if err != nil || (test.want == "") != (len(less) == 0) || test.want != "" && !slices.Contains(less, test.want) {
			t.Errorf("%s: %v %v, want %q", name, less, err, test.want)
		}
	}
}
