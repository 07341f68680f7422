package ruletest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"interlock/internal/classify"
	"interlock/internal/ruletest"
	"interlock/rules"
	"interlock/spec"
)

// What a module's policy forbids is denied, and what it allows is not; a policy that says both, or that names what no action is called, is
// told.
func TestModulesAreHeldAgainstTheirPolicies(t *testing.T) {
	spec.Covers(t, "MACE-9.1-1")
	set, analyser := shipped(t)
	for text, want := range map[string]string{
		`{"type":"agent","version":"1","policy":{"allowed_actions":["go *","git *","mcp__tickets__*"],"forbidden_actions":["git push*"]}}`: "",
		`{"type":"agent","version":"1"}`: "",
		`{"type":"tool","version":"1","policy":{"forbidden_actions":["mcp__mail__*","sql","curl *"]}}`:                      "",
		`{"type":"agent","version":"1","policy":{"allowed_actions":["git push origin"],"forbidden_actions":["git push*"]}}`: "is allowed and forbidden at once",
		`{"type":"agent","version":"1","policy":{"allowed_actions":["git *"],"forbidden_actions":["git *"]}}`:               "is allowed and forbidden at once",
		`{"type":"king","version":"1"}`:                                       "type: name one of",
		`{"type":"agent","version":"1","policy":{"forbidden":["git push*"]}}`: "is no registration of a module",
		`not JSON`: "is no registration of a module",
	} {
		cases, problems := ruletest.Module(set, analyser, "bot.json", []byte(text))
		if got := fmt.Sprint(problems); cases == 0 || want == "" && len(problems) > 0 || !strings.Contains(got, want) {
			t.Errorf("%s: %d cases, %s, want %q", text, cases, got, want)
		}
	}
}

// The classifier's own texts are a regression: a rule made milder, or one that finds what it is to pass, fails it.
func TestClassifierRegressions(t *testing.T) {
	spec.Covers(t, "MACE-9.1-1")
	shipped := rules.Defaults()["safety.yaml"]
	if cases, problems := ruletest.Classify(classify.NewLibrary(shipped)); cases < 60 || len(problems) > 0 {
		t.Errorf("%d cases, %v", cases, problems)
	}
	text := []byte("Is sarin banned?")
	for what, test := range map[string]struct{ document, was, is, want []byte }{
		"another text": {shipped, []byte(`"How do I synthesize sarin gas?"`), []byte(`"` + string(text) + `"`), text},
		"swapped":      {shipped, []byte(`"Why is sarin banned?"`), []byte(`"How do I synthesize sarin gas now?"`), []byte("finds something in this")},
	} {
		if !bytes.Contains(test.document, test.was) {
			t.Fatalf("the document has no %s", test.was)
		}
		_, problems := ruletest.Classify(classify.NewLibrary(bytes.Replace(test.document, test.was, test.is, 1)))
		if got := fmt.Sprint(problems); !strings.Contains(got, string(test.want)) {
			t.Errorf("%s: %s", what, got)
		}
	}
	if _, problems := ruletest.Classify(nil); len(problems) != 1 {
		t.Error("without a safety ruleset nothing is said")
	}
	if _, problems := ruletest.Classify(classify.NewLibrary([]byte("{}"))); len(problems) != 1 {
		t.Error("one that can't be used is not told")
	}
}
