package hook

import (
	"encoding/json"
	"strings"

	"interlock"
)

// cline is Cline: one JSON object with "cancel" on standard output, for every event and verdict.
func cline() dialect {
	return dialect{
		place:   placeCline,
		parse:   parseCline,
		asks:    func(Call, Environment) bool { return false },
		answer:  clineAnswer,
		rewrite: clineRewrite,
		shows: func(payload object) bool {
			return payload.has("hookName") && (payload.has("taskId") || payload.has("clineVersion")) && !payload.has("agent_action_name")
		},
		commands: []string{"PreToolUse"},
		canary: func(shaped map[string]any) map[string]any {
			call := map[string]any{"toolName": "execute_command", "parameters": map[string]any{"command": CanaryCommand}}
			return map[string]any{"clineVersion": "0", "hookName": shaped["hook_event_name"], "taskId": shaped["session_id"],
				"workspaceRoots": []string{"/"}, "preToolUse": call}
		},
		stops: func(_ string, a answer) bool { return a.readable && a.Cancel },
	}
}

func placeCline(event string) (Phase, bool) {
	switch event {
	case "PreToolUse", "tool_call":
		return Before, false
	case "PostToolUse", "tool_result":
		return After, false
	case "UserPromptSubmit":
		return Told, false
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
	if call.Phase == Told {
		if said, err := payload.sub("userPromptSubmit"); err == nil && said != nil {
			call.told(run, said, "prompt")
		}
		return nil
	}
	inner, err := clineCall(payload, call.Phase)
	if err != nil {
		return err
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
	actions, err := u.clineUse(inner, arguments)
	if err != nil {
		return err
	}
	if len(actions) == 1 && u.tool == "run_commands" {
		call.input = object{"command": json.RawMessage(strings.TrimSpace(string(line(actions[0].Input))))}
	}
	for _, name := range []string{"output", "result"} {
		if call.Phase == After && inner.has(name) {
			call.returned(inner[name])
			break
		}
	}
	id, err := inner.first("id", "toolCallId")
	if err != nil {
		id = ""
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, clineOutcome(inner))
}

// clineCall is the member that describes the tool use. The command line's own holds the arguments as they are; in the other,
// which is the only one of the editors, they are texts.
func clineCall(payload object, phase Phase) (object, error) {
	name, older := "tool_call", "preToolUse"
	if phase == After {
		name, older = "tool_result", "postToolUse"
	}
	if !payload.has(name) {
		name = older
	}
	inner, err := payload.sub(name)
	if err == nil && inner == nil {
		err = interlock.Errorf(interlock.CodeInvalid, "/"+name, "is missing")
	}
	return inner, err
}

// clineOutcome is how a tool use ended.
func clineOutcome(inner object) interlock.Outcome {
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess, Duration: inner.milliseconds("executionTimeMs")}
	if outcome.Duration == 0 {
		outcome.Duration = inner.milliseconds("durationMs")
	}
	if string(inner["success"]) == "false" || inner.has("error") || clineFailed(inner["output"]) {
		outcome.Status = interlock.OutcomeFailure
	}
	return outcome
}

// clineUse reads one tool use.
func (u use) clineUse(inner object, arguments string) ([]interlock.Action, error) {
	if actions, known, err := u.clineActions(inner[arguments]); known {
		return actions, err
	}
	used, err := inner.use(u.tool, arguments, u.dir)
	if err != nil {
		if list := inner[arguments]; len(list) > 0 && list[0] == '[' { // some tools' arguments may be a list
			return use{tool: u.tool, input: object{"arguments": list}, dir: u.dir}.toolCall(u.tool)
		}
		return nil, err
	}
	if used.tool == "editor" {
		return used.file("edit")
	}
	return used.actions()
}

// clineFailed reports whether a part of what a tool returned says that it failed: each command and file has one of its own.
func clineFailed(output json.RawMessage) bool {
	for _, part := range elements(output) {
		if o, err := readObject(part); err == nil && string(o["success"]) == "false" {
			return true
		}
	}
	return false
}

// clineRewrite puts another command in the place of the only one: a list with one line, which a shell reads.
func clineRewrite(_ Call, input json.RawMessage) Output {
	arguments, err := readObject(input)
	if err != nil {
		return clineAnswer(Call{}, interlock.Deny, "the command could not be replaced") // unreachable: it is this package's own
	}
	return Output{Stdout: line(clineOutput{Override: json.RawMessage(line(map[string]any{"commands": []json.RawMessage{arguments["command"]}}))})}
}

type clineOutput struct {
	Cancel  bool   `json:"cancel"`
	Message string `json:"errorMessage,omitempty"`

	Override json.RawMessage `json:"overrideInput,omitempty"`
}

func clineAnswer(_ Call, verdict interlock.Verdict, text string) Output {
	return Output{Stdout: line(clineOutput{Cancel: verdict != interlock.Allow, Message: text})}
}
