package judging

import (
	"slices"

	"interlock"
	"interlock/internal/question"
)

// OutputTier is from which tier on outputs are looked at.
const OutputTier = 2

// goesOut reports whether an action commits something outside.
func goesOut(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		return i.Reversibility != interlock.Readonly && (i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction)
	})
}

func (a *Judging) Output(objective, text string) (interlock.JudgeQuestion, error) {
	payload, err := question.Output(objective, text, a.Config.Redact)
	return interlock.JudgeQuestion{Subject: interlock.JudgeOutput, Payload: payload, Class: "output"}, err
}
