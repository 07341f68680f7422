package hook

import (
	"interlock"
)

// cline is Cline: one JSON object with "cancel" on standard output, for every event and verdict.
func cline() dialect {
	return dialect{
		place:  placeCline,
		parse:  parseCline,
		asks:   func(Call, Environment) bool { return false },
		answer: clineAnswer,
	}
}

func placeCline(event string) (Phase, bool) {
	switch event {
	case "PreToolUse", "tool_call":
		return Before, false
	case "PostToolUse", "tool_result":
		return After, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func parseCline(call *Call, payload object, env Environment) error {
	var event, run string
	if err := payload.texts(map[string]*string{"hookName": &event, "taskId": &run}); err != nil {
		return err
	}
	if err := payload.only("preToolUse", "postToolUse", "tool_call", "tool_result", "workspaceRoots"); err != nil {
		return err
	}
	if event == "" {
		event = env.Event
	}
	call.Event = event
	if call.Phase, _ = placeCline(event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/hookName", "is missing")
	}
	if call.Phase == Other {
		return nil
	}
	name, alternative := "preToolUse", "tool_call" // the second is what the command-line version calls it
	if call.Phase == After {
		name, alternative = "postToolUse", "tool_result"
	}
	if !payload.has(name) && payload.has(alternative) {
		name = alternative
	}
	inner, err := payload.sub(name)
	if err != nil {
		return err
	}
	if inner == nil {
		return interlock.Errorf(interlock.CodeInvalid, "/"+name, "is missing")
	}
	if err := inner.only("toolName", "tool", "name", "parameters", "input"); err != nil {
		return err
	}
	u := use{dir: payload.firstOf("workspaceRoots")}
	if u.tool, err = inner.first("toolName", "tool", "name"); err != nil {
		return err
	}
	arguments := "parameters"
	if !inner.has(arguments) {
		arguments = "input"
	}
	if u.input, err = inner.arguments(arguments); err != nil {
		return err
	}
	actions, err := u.actions()
	if err != nil {
		return err
	}
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess, Duration: inner.milliseconds("executionTimeMs")}
	if string(inner["success"]) == "false" || inner.has("error") {
		outcome.Status = interlock.OutcomeFailure
	}
	id, err := inner.first("id", "toolCallId")
	if err != nil {
		id = ""
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, outcome)
}

type clineOutput struct {
	Cancel  bool   `json:"cancel"`
	Message string `json:"errorMessage,omitempty"`
}

func clineAnswer(_ Call, verdict interlock.Verdict, text string) Output {
	return Output{Stdout: line(clineOutput{Cancel: verdict != interlock.Allow, Message: text})}
}
