package interlock_test

import (
	"testing"

	"interlock"
)

// TestWhatAJudgeSays: a person reads who said what of what, also where nothing was heard.
func TestWhatAJudgeSays(t *testing.T) {
	for want, j := range map[string]interlock.Judgment{
		"main: objects to nothing":                    {Judge: "main", Verdict: interlock.Allow},
		"main of the plan: objects to nothing: fine":  {Judge: "main", Subject: interlock.JudgePlan, Verdict: interlock.Allow, Reason: "fine"},
		"main: denies by L3.scope, layer 3: too wide": {Judge: "main", Verdict: interlock.Deny, Rule: "L3.scope", Layer: 3, Reason: "too wide"},
		"main of the output: not heard (timeout)": {Judge: "main", Subject: interlock.JudgeOutput, Verdict: interlock.Allow,
			Failure: interlock.JudgeTimeout},
	} {
		if got := j.Says(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
