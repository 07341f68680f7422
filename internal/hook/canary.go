package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"interlock"
)

// CanaryCommand is what the canary proposes: never run, only judged, and refused under every profile.
const CanaryCommand = interlock.CanaryCommand

// Canary returns a payload with which an event must be refused, as its harness would send it. Run and call mark it in the
// record. An event that carries no command gets a payload cut short, which must be refused all the same.
func Canary(agent, event, run string) []byte {
	command := map[string]any{"command": CanaryCommand, "description": "interlock doctor: a canary that must be refused"}
	shaped := map[string]any{"session_id": run, "cwd": "/", "permission_mode": "default", "hook_event_name": event,
		"tool_name": "Bash", "tool_input": command, "tool_use_id": run}
	switch agent {
	case "claude":
	case "codex":
		shaped["turn_id"] = run
	case "qwen", "gemini":
		shaped["tool_name"] = "run_shell_command"
	case "cursor":
		shaped = map[string]any{"conversation_id": run, "generation_id": run, "cursor_version": "0",
			"workspace_roots": []string{"/"},
			"hook_event_name": event, "cwd": "/", "command": CanaryCommand}
		if event == "preToolUse" {
			delete(shaped, "command")
			shaped["tool_name"], shaped["tool_input"], shaped["tool_use_id"] = "Shell",
				map[string]any{"command": CanaryCommand}, run
		}
	case "copilot":
		arguments, _ := json.Marshal(command) // strings only: can't fail
		shaped = map[string]any{"sessionId": run, "timestamp": 0, "cwd": "/", "toolName": "bash", "toolArgs": string(arguments)}
	case "opencode":
		shaped = map[string]any{"event": event, "tool": "bash", "sessionID": run, "callID": run,
			"directory": "/", "args": command}
	case "windsurf":
		shaped = map[string]any{"agent_action_name": event, "trajectory_id": run, "execution_id": run,
			"tool_info": map[string]any{"command_line": CanaryCommand, "cwd": "/"}}
	case "cline":
		shaped = map[string]any{"clineVersion": "0", "hookName": event, "taskId": run, "workspaceRoots": []string{"/"},
			"preToolUse": map[string]any{"toolName": "execute_command", "parameters": map[string]any{"command": CanaryCommand}}}
	}
	payload, err := json.Marshal(shaped)
	if err != nil || !CarriesCommand(agent, event) {
		return CanaryCut(event, run)
	}
	return payload
}

// CanaryCut is a payload cut short.
func CanaryCut(event, run string) []byte {
	return []byte(`{"hook_event_name":"` + event + `","session_id":"` + run + `","tool_input":{"com`)
}

// CarriesCommand reports whether an event can carry a shell command.
func CarriesCommand(agent, event string) bool {
	switch agent + " " + event {
	case "cursor preToolUse", "cursor beforeShellExecution", "windsurf pre_run_command", "gemini BeforeTool",
		"copilot preToolUse",
		"copilot PreToolUse", "opencode tool.execute.before", "cline PreToolUse", "claude PreToolUse", "claude PermissionRequest",
		"codex PreToolUse",
		"codex PermissionRequest", "qwen PreToolUse", "qwen PermissionRequest":
		return true
	}
	return false
}

// Refused reports whether an output stops the tool, as the harness reads it. It is written from the harnesses' documents
// and not from this package's renderers, so that it can hold them, and what runs them, to account.
func Refused(agent, event string, out Output) bool {
	var o struct {
		Decision   any    `json:"decision"`
		Verdict    string `json:"permissionDecision"`
		Behavior   string `json:"behavior"`
		Permission string `json:"permission"`
		Own        string `json:"verdict"`
		Cancel     bool   `json:"cancel"`
		Specific   struct {
			Event    string `json:"hookEventName"`
			Verdict  string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Decision struct {
				Behavior string `json:"behavior"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	readable := json.Unmarshal(out.Stdout, &o) == nil && out.Exit == 0
	exit2 := out.Exit == 2 && len(bytes.TrimSpace(out.Stderr)) > 0
	specific := readable && o.Specific.Event == event && (o.Specific.Decision.Behavior == "deny" ||
		o.Specific.Verdict == "deny" && strings.TrimSpace(o.Specific.Reason) != "")
	switch agent {
	case "claude", "qwen":
		return specific || exit2 && event != "PermissionRequest"
	case "codex":
		return specific // exit 2 does not block on every version and system
	case "gemini":
		return exit2 || readable && o.Decision == "deny"
	case "cursor":
		return exit2 || readable && o.Permission == "deny"
	case "copilot":
		if strings.EqualFold(event, "permissionRequest") {
			return readable && o.Behavior == "deny"
		}
		return readable && o.Verdict == "deny"
	case "opencode":
		return readable && o.Own == "deny" // the plugin would refuse as well without an answer, but for no reason of ours
	case "windsurf":
		return exit2
	case "cline":
		return readable && o.Cancel
	}
	return false
}
