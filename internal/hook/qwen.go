package hook

import "interlock"

// qwen is Qwen Code: Claude Code's events and answers. Without a terminal and in background agents the harness itself
// turns an ask into a refusal. Exit 2 makes it ignore standard output and take the reason from standard error.
func qwen() dialect {
	return dialect{
		place:  placeClaude,
		parse:  parseClaudeShaped(placeClaude),
		asks:   claudeAsks,
		answer: claudeAnswer,
		refuse: func(call Call, text string) Output {
			if call.Phase == Permission {
				return claudeAnswer(call, interlock.Deny, text)
			}
			return Output{Stderr: []byte(text + "\n"), Exit: 2}
		},
		shaped:   true,
		commands: []string{"PreToolUse", "PermissionRequest"},
		canary:   runsShellCommand,
		stops:    func(event string, a answer) bool { return a.specific || a.exit2 && event != "PermissionRequest" },
	}
}
