package judge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/inject"
)

// maxToAgent is how much of a model's reason an agent is shown at most, in bytes.
const maxToAgent = 240

// clean is a text of a model in one line, without what is not seen, cut to so many bytes.
func clean(text string, most int) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case r <= ' ' || r == 0x85 || r == 0xa0 || r == 0x2028 || r == 0x2029:
			space = b.Len() > 0
			continue
		case hidden(r) || r == utf8.RuneError:
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if b.Len()+utf8.RuneLen(r) > most {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ")
}

// ForAgent is what an agent reads of a judgment. What a model wrote is passed on only where it is short and holds neither a secret nor
// an order to a model: an action that is judged may have been written to have the judge say something to the agent. Else it is a
// sentence that says no more than layer and rule.
func ForAgent(j interlock.Judgment) string {
	if j.Failure != "" {
		return failureSentence(j.Failure)
	}
	if j.Verdict == interlock.Allow {
		return "The judge has no objection."
	}
	said := fmt.Sprintf("The judge objects by ground rule %s of layer %d.", j.Rule, j.Layer)
	reason := clean(j.Reason, maxReason)
	if _, secrets := classify.Redact(reason); reason == "" || len(reason) > maxToAgent || len(secrets) > 0 || inject.Injected(reason) {
		return said
	}
	return strings.TrimSuffix(said, ".") + ": " + reason
}

func failureSentence(f interlock.JudgeFailure) string {
	switch f {
	case interlock.JudgeMissing:
		return "No judge is configured, and one has to agree."
	case interlock.JudgeTimeout:
		return "The judge did not answer in time."
	case interlock.JudgeMalformed:
		return "The judge gave no answer that counts."
	case interlock.JudgeTooLong:
		return "This is too long for the judge; a person has to decide."
	case interlock.JudgeShed:
		return "Too many questions wait for the judge."
	case interlock.JudgeCanary:
		return "The judge is out of use: it failed its test."
	case interlock.JudgeBreaker:
		return "The judge is out of use for a while: it failed too often."
	case interlock.JudgeSpent:
		return "The judge's budget is used up."
	case interlock.JudgeMoved:
		return "What the judge was asked about changed meanwhile."
	}
	return "The judge can't be reached."
}
