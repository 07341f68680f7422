package hook

import (
	"encoding/json"
	"strings"

	"interlock"
)

// cursor is Cursor. One call can raise preToolUse and a second event of its own kind; both are read into the same action,
// so that it is judged once. An Allow is the empty object and not silence: with failClosed, which is how Interlock
// registers, empty output counts as invalid JSON and blocks.
func cursor() dialect {
	return dialect{
		place: placeCursor,
		parse: parseCursor,
		asks: func(call Call, _ Environment) bool {
			return call.Event == "beforeShellExecution" || call.Event == "beforeMCPExecution"
		},
		answer: cursorAnswer,
		rewrite: func(_ Call, input json.RawMessage) Output {
			return Output{Stdout: line(cursorRewrite{Permission: "allow", Updated: input})}
		},
		replace: func(call Call) (Output, bool) { // of a server's tools alone
			mcp := len(call.Proposals) == 1 && strings.HasPrefix(call.Proposals[0].Action.Tool, "MCP:")
			return Output{Stdout: line(cursorResult{call.screened.json(), call.screened.message})}, mcp && call.Event == "postToolUse"
		},
		refuse: func(call Call, text string) Output {
			out := cursorAnswer(call, interlock.Deny, text)
			if call.Phase == Unknown {
				out.Stderr, out.Exit = []byte(text+"\n"), 2 // which blocks on every event
			}
			return out
		},
		shows:    cursorShows,
		commands: []string{"preToolUse", "beforeShellExecution"},
		canary:   cursorCanary,
		stops:    func(_ string, a answer) bool { return a.exit2 || a.readable && a.Permission == "deny" },
	}
}

func cursorShows(payload object) bool {
	return payload.has("conversation_id") && (payload.has("cursor_version") || payload.has("generation_id"))
}

func cursorCanary(shaped map[string]any) map[string]any {
	run, event := shaped["session_id"], shaped["hook_event_name"]
	of := map[string]any{"conversation_id": run, "generation_id": run, "cursor_version": "0",
		"workspace_roots": []string{"/"}, "hook_event_name": event, "cwd": "/"}
	if event != "preToolUse" {
		of["command"] = CanaryCommand
		return of
	}
	of["tool_name"], of["tool_input"], of["tool_use_id"] = "Shell", map[string]any{"command": CanaryCommand}, run
	return of
}

func placeCursor(event string) (Phase, bool) {
	switch event {
	case "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead", "subagentStart":
		return Before, false
	case "postToolUse", "afterShellExecution", "afterMCPExecution", "afterFileEdit":
		return After, false
	case "postToolUseFailure":
		return After, true
	case "beforeSubmitPrompt":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func parseCursor(call *Call, payload object, env Environment) error {
	var event, run, id, dir, failure string
	var err error
	if err := payload.texts(map[string]*string{"hook_event_name": &event, "conversation_id": &run, "tool_use_id": &id,
		"cwd": &dir}); err != nil {
		return err
	}
	if err := payload.only("tool_name", "tool_input", "command", "file_path", "workspace_roots"); err != nil {
		return err
	}
	if event == "" {
		event = env.Event
	}
	var failed bool
	call.Event = event
	if call.Phase, failed = placeCursor(event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/hook_event_name", "is missing")
	}
	if call.Phase == Other {
		return nil
	}
	if call.Phase == Told {
		call.told(run, payload, "prompt")
		return nil
	}
	if dir == "" {
		dir = payload.firstOf("workspace_roots")
	}
	if event == "preToolUse" {
		if call.input, err = payload.arguments("tool_input"); err != nil {
			return err
		}
	}
	actions, err := cursorActions(event, payload, dir)
	if err != nil {
		return err
	}
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess, Duration: payload.milliseconds("duration")}
	if failed {
		outcome.Status = interlock.OutcomeFailure
		if failure, err = payload.first("error_message", "failure_type"); err != nil {
			failure = ""
		}
		outcome.Detail = cut(printable(failure), maxDetail)
	}
	for _, name := range []string{"tool_output", "output", "result_json", "error_message"} {
		if call.Phase == After && payload.has(name) {
			call.returned(payload[name])
			break
		}
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, outcome)
}

func cursorActions(event string, payload object, dir string) ([]interlock.Action, error) {
	u := use{dir: dir, input: payload}
	switch event {
	case "beforeShellExecution", "afterShellExecution":
		u.tool = "Shell"
		u.input = object{}
		if payload.has("command") {
			u.input["command"] = payload["command"]
		}
		return u.actions()
	case "beforeReadFile", "beforeTabFileRead":
		u.tool = "Read"
		return u.file("read")
	case "afterFileEdit":
		u.tool = "Edit"
		return u.file("edit")
	case "subagentStart":
		u.tool = "Task"
		u.input = object{}
		for _, name := range []string{"subagent_type", "task", "prompt", "description"} {
			if payload.has(name) {
				u.input[name] = payload[name]
			}
		}
		return u.toolCall("Task")
	}
	tool, err := payload.text("tool_name")
	if err != nil {
		return nil, err
	}
	if u.input, err = payload.arguments("tool_input"); err != nil {
		return nil, err
	}
	u.tool = tool
	if mcp, named := strings.CutPrefix(tool, "MCP:"); named || strings.HasSuffix(event, "MCPExecution") {
		return u.toolCall("MCP:" + mcp)
	}
	return u.actions()
}

type cursorOutput struct {
	Permission   string `json:"permission"`
	UserMessage  string `json:"user_message"`
	AgentMessage string `json:"agent_message,omitempty"`
}

// cursorRewrite is understood on preToolUse. Where it should not be, the second event of the same call refuses the command as
// it was.
type cursorRewrite struct {
	Permission string          `json:"permission"`
	Updated    json.RawMessage `json:"updated_input"`
}

type cursorResult struct {
	Updated json.RawMessage `json:"updated_mcp_tool_output"`
	Context string          `json:"additional_context"`
}

func cursorAnswer(call Call, verdict interlock.Verdict, text string) Output {
	if call.Phase == Told {
		return Output{Stdout: []byte(`{"continue":true}` + "\n")}
	}
	if verdict == interlock.Allow {
		return Output{Stdout: []byte("{}\n")}
	}
	out := cursorOutput{Permission: "deny", UserMessage: text, AgentMessage: text}
	if verdict == interlock.Ask {
		out.Permission = "ask"
	}
	switch call.Event {
	case "beforeReadFile", "beforeTabFileRead", "subagentStart":
		out.AgentMessage = "" // these events document no message for the agent
	}
	return Output{Stdout: line(out)}
}
