package ruletest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/know"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/strictyaml"
)

// files reads the default documents from their YAML.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := filepath.Join("..", "..", "rules")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = strictyaml.ToJSON(path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func shipped(t testing.TB) (*ruleset.Ruleset, *impact.Analyser) {
	t.Helper()
	files := files(t)
	rules, err := ruleset.Load(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	know, err := know.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	return rules, impact.NewAnalyser(know)
}

func TestShippedRulesPassTheirOwnTests(t *testing.T) {
	rules, analyser := shipped(t)
	cases, problems := ruletest.Run(rules, analyser)
	for _, p := range problems {
		t.Error(p)
	}
	t.Logf("%d rules, %d cases", len(rules.Rules()), cases)
}

func TestShippedRulesAreVerified(t *testing.T) {
	if err := ruleset.Verify(files(t)); err != nil {
		t.Error(err)
	}
}

func TestShippedRulesHaveNoLint(t *testing.T) {
	rules, analyser := shipped(t)
	for _, p := range ruletest.Lint(rules, analyser) {
		t.Error(p)
	}
}

func TestEverydayCommandsPass(t *testing.T) {
	rules, analyser := shipped(t)
	for _, command := range ruletest.Everyday() {
		d := ruletest.Decide(rules, analyser, ruletest.Shell(command))
		if !d.Verdict.Allowed() {
			t.Errorf("%q is decided %s: %s", command, d.Verdict, d.Findings[0].Rule)
		}
	}
}

// TestSuggestionsPassWhereTheyAreMade: what a rule suggests is not itself denied under the default profile or under asa, where the rule
// holds there; an agent that does as it is told would else run from one denial into the next.
func TestSuggestionsPassWhereTheyAreMade(t *testing.T) {
	rules, analyser := shipped(t)
	tried := map[string]int{}
	for _, profile := range []string{"asa", "guard"} {
		for _, r := range rules.Rules() {
			if r.Suggestion.Try == "" || len(r.Profiles) > 0 && !slices.Contains(r.Profiles, profile) {
				continue
			}
			tried[profile]++
			d := ruletest.DecideUnder(rules, analyser, profile, ruletest.Shell(r.Suggestion.Try))
			if d.Verdict.Compare(interlock.Deny) >= 0 {
				t.Errorf("under %s the rule %s suggests %q, which is stopped by %s", profile, r.ID, r.Suggestion.Try, d.Decisive().Rule)
			}
		}
	}
	if tried["asa"] == 0 || tried["guard"] == 0 {
		t.Errorf("tried %v", tried)
	}
}
