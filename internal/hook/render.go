package hook

import (
	"bytes"
	"encoding/json"
	"slices"

	"interlock"
	"interlock/internal/advice"
)

// Render writes the answers to a call's proposals, one each and in order, in the harness's dialect. The strictest answer
// counts. An Allow without a durable event, a missing answer and a verdict out of range are refusals. redact removes
// secrets from the reason.
func Render(call Call, redact func(string) string, answers ...interlock.Answer) Output {
	d, known := dialectOf(call.Agent)
	if !known || call.Phase == Unknown {
		return Refuse(call, "internal", "the hook could not place the event")
	}
	if call.Phase == After && call.screened.message != "" {
		return call.replacing(d)
	}
	if call.Phase == After || call.Phase == Told || call.Phase == Other {
		return d.answer(call, interlock.Allow, "")
	}
	if len(answers) == 0 || len(answers) != len(call.Proposals) {
		return Refuse(call, "internal", "a part of the call was not judged")
	}
	strictest, requests := weigh(answers)
	verdict := strictest.Answer
	if call.Handover == interlock.HandoverGateway && strictest.Gateway && strictest.Verdict == interlock.Ask &&
		strictest.Event != "" && len(answers) == 1 {
		return d.answer(call, interlock.Allow, "") // the gateway asks
	}
	handed := call.hand != nil && call.Handover.Hands(strictest.Decision)
	beyond := func(a interlock.Answer) bool { return a.Answer == interlock.Ask && a.BeyondPrompt() }
	if verdict == interlock.Ask && (handed || !call.Proposals[0].CanAsk || slices.ContainsFunc(answers, beyond)) {
		verdict = interlock.Deny // a yes to the harness's own prompt is none to what would run, which asks again, or too little
	}
	always := ""
	switch verdict {
	case interlock.Allow:
		if handed && !call.hand.rewritten && d.rewrite != nil {
			return d.rewrite(call, call.hand.arguments())
		}
		return d.answer(call, interlock.Allow, "")
	case interlock.Ask:
		if len(answers) == 1 && strictest.Always {
			always = strictest.Request
		}
		requests = nil // the harness's own prompt is the way to answer
	case interlock.Halt:
		requests = nil // no approval lowers a halt
	default:
		verdict = interlock.Deny
		if strictest.Verdict != interlock.Ask {
			requests = nil // approving the other parts would not let the call pass
		}
	}
	why := explain(call.hand.advise(strictest), call.hand.trial(strictest), requests, always, call.home, redact)
	return d.answer(call, verdict, why)
}

// weigh returns the strictest answer and the requests that wait for a human. An Allow that names no durable event is not
// an allow.
func weigh(answers []interlock.Answer) (strictest interlock.Answer, requests []string) {
	for i, a := range answers {
		if a.Answer.Allowed() && a.Event == "" {
			a = interlock.Refusal("not-recorded", "The decision was not recorded.")
		}
		requests = appendNew(requests, a.Request)
		if i == 0 || a.Answer.Compare(strictest.Answer) > 0 ||
			a.Answer.Compare(strictest.Answer) == 0 && a.Verdict.Compare(strictest.Verdict) > 0 {
			strictest = a
		}
	}
	return strictest, requests
}

// Refuse writes a refusal where there is no decision: input that can't be read, no store, no time. The rule is the last
// part of a rule id under "hook.". For events after the fact there is nothing to stop; the failure is told on standard
// error with exit status 1, which every harness shows without blocking.
func Refuse(call Call, rule, reason string) Output {
	if d, known := dialectOf(call.Agent); known && call.Phase == Told {
		return d.answer(call, interlock.Allow, "") // a refusal would take the user's words from the agent
	}
	text := presentable("[hook."+rule+"] "+sentence(advice.Commands(reason, call.home)), nil)
	if call.Phase == After || call.Phase == Other {
		return call.failedAfter(text)
	}
	d, known := dialectOf(call.Agent)
	if !known {
		return Output{Stderr: []byte(text + "\n"), Exit: 2}
	}
	if d.refuse != nil {
		return d.refuse(call, text)
	}
	return d.answer(call, interlock.Deny, text)
}

// line writes one JSON value as one line, members in the order of the struct, without HTML escapes.
func line(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // unreachable: only structs of strings and booleans are written
	}
	return b.Bytes()
}
