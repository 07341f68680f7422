package hook

import (
	"strings"

	"interlock"
)

// windsurf is Windsurf Cascade: exit 2 with the reason on standard error blocks a pre_* event, anything else lets it run.
func windsurf() dialect {
	return dialect{
		place: placeWindsurf,
		parse: parseWindsurf,
		asks:  func(Call, Environment) bool { return false },
		answer: func(_ Call, verdict interlock.Verdict, text string) Output {
			if verdict == interlock.Allow {
				return Output{}
			}
			return Output{Stderr: []byte(text + "\n"), Exit: 2}
		},
		shows:    func(payload object) bool { return payload.has("agent_action_name") },
		commands: []string{"pre_run_command"},
		canary: func(shaped map[string]any) map[string]any {
			return map[string]any{"agent_action_name": shaped["hook_event_name"], "trajectory_id": shaped["session_id"],
				"execution_id": shaped["session_id"], "tool_info": map[string]any{"command_line": CanaryCommand, "cwd": "/"}}
		},
		stops: func(_ string, a answer) bool { return a.exit2 },
	}
}

func placeWindsurf(event string) (Phase, bool) {
	switch event {
	case "pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use":
		return Before, false
	case "post_run_command", "post_read_code", "post_write_code", "post_mcp_tool_use":
		return After, false
	case "pre_user_prompt":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func parseWindsurf(call *Call, payload object, env Environment) error {
	var event, run, id string
	if err := payload.texts(map[string]*string{"agent_action_name": &event, "trajectory_id": &run,
		"execution_id": &id}); err != nil {
		return err
	}
	if err := payload.only("tool_info"); err != nil {
		return err
	}
	if event == "" {
		event = env.Event
	}
	call.Event = event
	if call.Phase, _ = placeWindsurf(event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/agent_action_name", "is missing")
	}
	if call.Phase == Other {
		return nil
	}
	info, err := payload.sub("tool_info")
	if err != nil {
		return err
	}
	if call.Phase == Told {
		call.told(run, info, "user_prompt")
		return nil
	}
	actions, err := windsurfActions(event, info)
	if err != nil {
		return err
	}
	if call.Phase == After && info.has("mcp_result") {
		call.returned(info["mcp_result"])
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, interlock.Outcome{Status: interlock.OutcomeSuccess})
}

func windsurfActions(event string, info object) ([]interlock.Action, error) {
	if err := info.only("command_line", "cwd", "file_path", "edits", "mcp_server_name", "mcp_tool_name",
		"mcp_tool_arguments"); err != nil {
		return nil, err
	}
	dir, err := info.text("cwd")
	if err != nil {
		return nil, err
	}
	_, what, _ := strings.Cut(event, "_")
	u := use{dir: dir, input: info}
	switch what {
	case "run_command":
		u.tool, u.input = "run_command", object{}
		if info.has("command_line") {
			u.input["command"] = info["command_line"]
		}
		return u.shell()
	case "read_code":
		u.tool = "read_code"
		return u.file("read")
	case "write_code":
		u.tool = "write_code"
		return u.file("edit")
	default:
		if u.mcp, err = info.text("mcp_server_name"); err != nil {
			return nil, err
		}
		if u.tool, err = info.text("mcp_tool_name"); err != nil {
			return nil, err
		}
		if u.mcp == "" || u.tool == "" {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/tool_info/mcp_tool_name",
				"is missing: the payload names no MCP server or tool")
		}
		u.dir = ""
		if u.input, err = info.arguments("mcp_tool_arguments"); err != nil {
			return nil, err
		}
		return u.actions()
	}
}
