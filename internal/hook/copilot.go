package hook

import (
	"encoding/json"
	"strings"

	"interlock"
)

// copilot is GitHub Copilot CLI. Events registered in camelCase bring camelCase members and no event name, events in
// PascalCase bring Claude Code's. Answers are JSON with exit 0: older versions pass over a hook that exits with anything
// else. An "ask" is passed over when the user has switched prompts off, so it is only said where prompts are known to be
// on.
func copilot() dialect {
	return dialect{
		place: placeCopilot,
		parse: parseCopilot,
		asks: func(call Call, env Environment) bool {
			return call.Phase == Permission || call.Phase == Before && env.Prompts
		},
		answer: copilotAnswer,
		rewrite: func(_ Call, input json.RawMessage) Output {
			return Output{Stdout: line(copilotOutput{Verdict: "allow", Modified: input})}
		},
		refuse: func(call Call, text string) Output {
			out := copilotOutput{Verdict: "deny", Reason: text}
			if call.Phase != Before {
				out.Behavior, out.Message = "deny", text // what a permission request reads
			}
			return Output{Stdout: line(out), Stderr: []byte(text + "\n")}
		},
		shows: func(payload object) bool {
			return payload.has("sessionId") && payload.has("timestamp") && !payload.has("session_id") && !cursorShows(payload)
		},
		shaped:   true,
		commands: []string{"preToolUse", "PreToolUse"},
		canary: func(shaped map[string]any) map[string]any {
			arguments, _ := json.Marshal(shaped["tool_input"]) // strings only: can't fail
			return map[string]any{"sessionId": shaped["session_id"], "timestamp": 0, "cwd": "/", "toolName": "bash",
				"toolArgs": string(arguments)}
		},
		stops: func(event string, a answer) bool {
			if strings.EqualFold(event, "permissionRequest") {
				return a.readable && a.Behavior == "deny"
			}
			return a.readable && a.Verdict == "deny"
		},
	}
}

func placeCopilot(event string) (Phase, bool) {
	switch event {
	case "preToolUse", "PreToolUse":
		return Before, false
	case "permissionRequest", "PermissionRequest":
		return Permission, false
	case "postToolUse", "PostToolUse":
		return After, false
	case "postToolUseFailure", "PostToolUseFailure":
		return After, true
	case "userPromptSubmitted", "UserPromptSubmit":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func parseCopilot(call *Call, payload object, env Environment) error {
	if payload.has("hook_event_name") && (payload.has("tool_name") || !payload.has("toolName")) {
		return parseClaudeShaped(placeCopilot)(call, payload, env)
	}
	var run, dir, tool, event string // only permission requests name their event
	if err := payload.texts(map[string]*string{"sessionId": &run, "cwd": &dir, "toolName": &tool,
		"hookName": &event}); err != nil {
		return err
	}
	if err := payload.only("toolArgs", "toolInput", "toolResult", "error"); err != nil {
		return err
	}
	if call.Event = env.Event; call.Event == "" {
		call.Event = event
	}
	if call.Event == "" {
		call.Event = copilotEvent(payload)
	}
	var failed bool
	if call.Phase, failed = placeCopilot(call.Event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/toolName", "is missing")
	}
	if call.Phase == Other {
		return nil
	}
	if call.Phase == Told {
		call.told(run, payload, "prompt")
		return nil
	}
	arguments := "toolArgs"
	if call.Phase == Permission && payload.has("toolInput") {
		arguments = "toolInput"
	}
	u, err := payload.use(tool, arguments, dir)
	if err != nil {
		return err
	}
	call.input = u.input
	actions, err := u.actions()
	if err != nil {
		return err
	}
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess}
	if payload.has("toolResult") {
		outcome.Status = u.outcomeOf(payload["toolResult"])
		call.returned(payload["toolResult"])
	}
	if failed {
		outcome.Status = interlock.OutcomeFailure
		failure, err := payload.text("error")
		if err != nil {
			failure = ""
		}
		outcome.Detail = cut(printable(failure), maxDetail)
		call.returned(payload["error"])
	}
	return call.judge(interlock.Requester{Run: run}, actions, outcome)
}

// outcomeOf reads off a tool's response whether it failed. Copilot counts every command that ended as a success; how it
// ended is in the last line it adds to what the command printed.
func (u use) outcomeOf(response json.RawMessage) interlock.OutcomeStatus {
	status := outcomeOf(response)
	if status != interlock.OutcomeSuccess || !shellTool(u.tool) {
		return status
	}
	o, err := readObject(response)
	if err != nil {
		return status
	}
	if text, err := o.text("llmContent"); err == nil && geminiFailed(text) {
		return interlock.OutcomeFailure
	}
	text, err := o.first("textResultForLlm", "text_result_for_llm")
	if err != nil {
		return status
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	_, code, ended := strings.Cut(last, " completed with exit code ")
	if ended && strings.HasPrefix(last, "<shellId: ") && code != "0>" {
		return interlock.OutcomeFailure
	}
	return status
}

// copilotEvent tells the camelCase events apart by their members, for registrations that don't name theirs.
func copilotEvent(payload object) string {
	switch {
	case !payload.has("toolName") && !payload.has("toolArgs"):
		for _, session := range []string{"prompt", "source", "reason", "transcriptPath", "stopReason", "notification_type"} {
			if payload.has(session) {
				return session // any name of an event that carries no tool
			}
		}
		return ""
	case payload.has("toolResult"):
		return "postToolUse"
	case payload.has("error"):
		return "postToolUseFailure"
	default:
		return "preToolUse"
	}
}

type copilotOutput struct {
	Verdict   string `json:"permissionDecision,omitempty"`
	Reason    string `json:"permissionDecisionReason,omitempty"`
	Behavior  string `json:"behavior,omitempty"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitempty"`

	Modified json.RawMessage `json:"modifiedArgs,omitempty"`
}

func copilotAnswer(call Call, verdict interlock.Verdict, text string) Output {
	switch {
	case verdict == interlock.Allow:
		return Output{}
	case call.Phase == Permission && verdict == interlock.Ask:
		return Output{} // the harness is about to ask
	case call.Phase == Permission:
		return Output{Stdout: line(copilotOutput{Behavior: "deny", Message: text, Interrupt: verdict == interlock.Halt})}
	case verdict == interlock.Ask:
		return Output{Stdout: line(copilotOutput{Verdict: "ask", Reason: text})}
	default:
		return Output{Stdout: line(copilotOutput{Verdict: "deny", Reason: text})}
	}
}
