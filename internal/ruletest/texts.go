package ruletest

import (
	"slices"

	"interlock/internal/classify"
)

// Classify runs the regressions of the classifier (MACE 9.1): every rule finds something in each text that it is to block, with its verdict
// or a stricter one, and nothing in those that it is to pass.
func Classify(texts *classify.Library) (cases int, problems []Problem) {
	if texts == nil {
		return 0, []Problem{{Rule: "classifier", Message: "there is no safety ruleset, so every text is blocked"}}
	}
	all, err := texts.Rulesets()
	if err != nil {
		return 0, []Problem{{Rule: "classifier", Message: err.Error()}}
	}
	for _, set := range all.All() {
		for _, rule := range set.Rules {
			wrong := func(text, what string) {
				problems = append(problems, Problem{Rule: rule.ID, Message: set.Name + " " + what, Case: text})
			}
			for _, text := range rule.Tests.Block {
				if got := classify.Text(set, text); !finds(got, rule.ID) || rule.Verdict.Stricter(got.Classification) {
					wrong(text, "does not find this, or is milder: "+string(got.Classification))
				}
			}
			for _, text := range rule.Tests.Pass {
				if finds(classify.Text(set, text), rule.ID) {
					wrong(text, "finds something in this, which it is to pass")
				}
			}
			cases += len(rule.Tests.Block) + len(rule.Tests.Pass)
		}
	}
	return cases, problems
}

func finds(r classify.Result, rule string) bool {
	return slices.ContainsFunc(r.Spans, func(s classify.Span) bool { return s.Rule == rule })
}
