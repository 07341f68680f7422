package hook

import (
	"encoding/json"

	"interlock"
)

// opencode is OpenCode, which runs no commands for hooks: a plugin of Interlock's own in its process does, and refuses
// whatever is not the allow written here. So nothing is said by silence or an exit status; every verdict is JSON.
func opencode() dialect {
	return dialect{
		place: placeOpencode,
		parse: parseOpencode,
		asks:  func(Call, Environment) bool { return false },
		answer: func(_ Call, verdict interlock.Verdict, text string) Output {
			if verdict == interlock.Allow {
				return Output{Stdout: line(opencodeOutput{Verdict: "allow"})}
			}
			return Output{Stdout: line(opencodeOutput{Verdict: "deny", Reason: text})}
		},
		rewrite: func(_ Call, input json.RawMessage) Output {
			return Output{Stdout: line(opencodeOutput{Verdict: "allow", Args: input})}
		},
		commands: []string{"tool.execute.before"},
		canary: func(shaped map[string]any) map[string]any {
			return map[string]any{"event": shaped["hook_event_name"], "tool": "bash", "sessionID": shaped["session_id"],
				"callID": shaped["session_id"], "directory": "/", "args": shaped["tool_input"]}
		},
		// the plugin would refuse as well without an answer, but for no reason of ours
		stops: func(_ string, a answer) bool { return a.readable && a.Own == "deny" },
	}
}

// placeOpencode knows the events that the plugin passes on. It passes no others on, so another is not placed.
func placeOpencode(event string) (Phase, bool) {
	switch event {
	case "tool.execute.before":
		return Before, false
	case "tool.execute.after":
		return After, false
	case "chat.message":
		return Told, false
	default:
		return Unknown, false
	}
}

func parseOpencode(call *Call, payload object, env Environment) error {
	var event, run, id, dir, tool string
	if err := payload.texts(map[string]*string{"event": &event, "sessionID": &run, "callID": &id, "directory": &dir,
		"tool": &tool}); err != nil {
		return err
	}
	if err := payload.only("args", "exit"); err != nil {
		return err
	}
	if event == "" {
		event = env.Event
	}
	if env.Event != "" && event != env.Event {
		return interlock.Errorf(interlock.CodeInvalid, "/event", "is not the event that this command is registered for")
	}
	call.Event = event
	if call.Phase, _ = placeOpencode(event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/event", "is missing or not known")
	}
	if call.Phase == Told {
		call.told(run, payload, "prompt")
		return nil
	}
	u, err := payload.use(opencodeTool(tool), "args", dir)
	if err != nil {
		return err
	}
	call.input = u.input
	actions, err := u.actions()
	if err != nil {
		return err
	}
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess}
	if payload.has("exit") && string(payload["exit"]) != "0" {
		outcome.Status = interlock.OutcomeFailure
	}
	if call.Phase == After && payload.has("output") {
		call.returned(payload["output"])
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, outcome)
}

// opencodeTool is the name by which the tables know a tool that only OpenCode calls so. MCP servers' tools go by
// SERVER_TOOL there, in which nothing tells the server from the tool; they are judged under that name.
func opencodeTool(name string) string {
	switch name {
	case "list":
		return "ls"
	case "multiedit":
		return "MultiEdit"
	case "patch":
		return "apply_patch"
	}
	return name
}

type opencodeOutput struct {
	Verdict string          `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
}
