package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/know"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// Budget: 1 ms from the embedded defaults to the first decision, because a hook without a server is a new process each time.
func BenchmarkStart(b *testing.B) {
	action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: "git status", Dir: "/home/user/project"}
	b.ReportAllocs()
	for b.Loop() {
		defaults := rules.Defaults()
		know, err := know.Parse(defaults)
		if err != nil {
			b.Fatal(err)
		}
		rules, err := ruleset.LoadShipped(defaults, rules.Sums(), nil)
		if err != nil {
			b.Fatal(err)
		}
		snapshot := standing()
		Decide(rules, snapshot, action, impact.NewAnalyser(know).Analyse(snapshot.View, action), nil, nil, noon)
	}
}

// What is taken for granted of the shipped defaults is true: checked and digested again they give the same ruleset, and a
// user's rules add to it in the same way.
func TestShippedLoadIsTheSame(t *testing.T) {
	user := map[string][]byte{"team.yaml": []byte("rules:\n  - {id: team.x, layer: 3, verdict: ask, reason: a team's rule, match: {via: [deploy]}}\n")}
	checked, err := ruleset.Load(rules.Defaults(), user)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), user)
	if err != nil {
		t.Fatal(err)
	}
	if shipped.Digest() != checked.Digest() {
		t.Errorf("digest %s, checked again %s", shipped.Digest(), checked.Digest())
	}
	if diff := cmp.Diff(outline(t, checked), outline(t, shipped)); diff != "" {
		t.Error(diff)
	}
	taken := map[string][]byte{"team.yaml": []byte("rules:\n  - {id: fs.delete-root, layer: 3, verdict: ask, reason: a team's rule, match: {via: [deploy]}}\n")}
	if _, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), taken); err == nil {
		t.Error("a user's rule took the id of a default")
	}
}

// outline is all a ruleset holds, as JSON.
func outline(t *testing.T, r *ruleset.Ruleset) string {
	profiles := []*ruleset.Profile{}
	for _, name := range r.Profiles() {
		p, _ := r.Profile(name)
		profiles = append(profiles, p)
	}
	text, err := json.MarshalIndent([]any{r.Rules(), profiles, r.Policy(), r.Danger(), r.Scopes(), r.Production(), r.LoopRules()}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
