package hook

import "strings"

// detect returns the harness a payload comes from. Some harnesses load the registrations of others (Grok, Copilot and
// Cursor read Claude Code's files), so the same command is run by a harness it was not registered with, and an answer in
// the wrong dialect would be ignored and the tool would run. Only members the harness itself writes at the top level are
// looked at; where they are not conclusive the harness that was named stands.
func detect(agent string, payload object) string {
	switch {
	case payload.has("agent_action_name"):
		return "windsurf"
	case payload.has("hookEventName"):
		return "grok"
	case payload.has("hookName") && (payload.has("taskId") || payload.has("clineVersion")):
		return "cline"
	case payload.has("conversation_id") && (payload.has("cursor_version") || payload.has("generation_id")):
		return "cursor"
	case payload.has("sessionId") && payload.has("timestamp") && !payload.has("session_id"):
		return "copilot"
	}
	event, _ := payload.text("hook_event_name")
	switch event {
	case "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection":
		return "gemini"
	}
	if turn, _ := payload.text("turn_id"); turn != "" {
		return "codex"
	}
	if !claudeShaped(agent) || event == "" {
		return agent
	}
	return byTranscript(agent, payload)
}

// claudeShaped reports whether the harness sends, or may send, Claude Code's payload.
func claudeShaped(agent string) bool {
	return agent == "claude" || agent == "codex" || agent == "qwen" || agent == "copilot"
}

// byTranscript tells harnesses with one payload shape apart by the directory their transcripts lie in, if it names
// exactly one of them.
func byTranscript(agent string, payload object) string {
	path, _ := payload.text("transcript_path")
	path = strings.ReplaceAll(path, `\`, "/")
	found := agent
	hits := 0
	for _, name := range []string{"claude", "codex", "copilot", "qwen"} {
		if strings.Contains(path, "/."+name+"/") {
			found = name
			hits++
		}
	}
	if hits != 1 {
		return agent
	}
	return found
}
