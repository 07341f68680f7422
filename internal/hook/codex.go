package hook

import (
	"encoding/json"

	"interlock"
)

// codex is Codex CLI. It reads answers strictly: one member too many, an "ask" or a bare "allow" makes the hook count as
// failed, and then the tool runs. So an Allow is silence, everything else is exactly the deny it documents, with exit 0
// because exit 2 does not block on every version and system. With other arguments beside it an allow is read.
func codex() dialect {
	return dialect{
		place:  placeCodex,
		parse:  parseClaudeShaped(placeCodex),
		asks:   func(Call, Environment) bool { return false },
		answer: codexAnswer,
		rewrite: func(_ Call, input json.RawMessage) Output {
			return Output{Stdout: line(claudeOutput{Specific: &claudeSpecific{Event: "PreToolUse", Verdict: "allow",
				Updated: input}})}
		},
		replace: func(call Call) (Output, bool) { // the reason of a block is what the model is given for the result
			return Output{Stdout: line(codexBlock{Decision: "block", Reason: call.screened.text()})}, true
		},
		shows: func(payload object) bool {
			turn, _ := payload.text("turn_id")
			return turn != ""
		},
		shaped:   true,
		commands: []string{"PreToolUse", "PermissionRequest"},
		canary: func(shaped map[string]any) map[string]any {
			shaped["turn_id"] = shaped["session_id"]
			return shaped
		},
		stops: func(_ string, a answer) bool { return a.specific }, // exit 2 does not block on every version and system
	}
}

// codexBlock is an answer to PostToolUse.
type codexBlock struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

func placeCodex(event string) (Phase, bool) {
	switch event {
	case "PreToolUse":
		return Before, false
	case "PermissionRequest":
		return Permission, false
	case "PostToolUse":
		return After, false
	case "UserPromptSubmit":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func codexAnswer(call Call, verdict interlock.Verdict, text string) Output {
	if verdict == interlock.Allow {
		return Output{}
	}
	specific := &claudeSpecific{Event: "PreToolUse", Verdict: "deny", Reason: text}
	if call.Phase == Permission {
		specific = &claudeSpecific{Event: "PermissionRequest", Decision: &claudeDecision{Behavior: "deny", Message: text}}
	}
	return Output{Stdout: line(claudeOutput{Specific: specific})}
}
