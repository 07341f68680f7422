package hook

import "interlock"

// grok is Grok Build, which runs the hooks registered with Claude Code and Cursor. It can't be installed to by name, but
// what it sends is understood and answered in its own form: a deny decision, and exit 2 as the deny that is honoured even
// where the JSON is not. A call whose arguments it cut short is refused: a part can't be judged as the whole.
func grok() dialect {
	return dialect{
		place: placeGrok,
		parse: parseGrok,
		asks:  func(Call, Environment) bool { return false },
		answer: func(_ Call, verdict interlock.Verdict, text string) Output {
			if verdict == interlock.Allow {
				return Output{}
			}
			text = cut(text, maxGrokReason)
			return Output{Stdout: line(geminiOutput{Decision: "deny", Reason: text}), Stderr: []byte(text + "\n"), Exit: 2}
		},
		shows: func(payload object) bool { return payload.has("hookEventName") && !payload.has("agent_action_name") },
	}
}

// maxGrokReason is where Grok cuts a reason.
const maxGrokReason = 256

func placeGrok(event string) (Phase, bool) {
	switch event {
	case "pre_tool_use":
		return Before, false
	case "post_tool_use":
		return After, false
	case "post_tool_use_failure":
		return After, true
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

func parseGrok(call *Call, payload object, env Environment) error {
	var event, run, id, dir, tool string
	if err := payload.texts(map[string]*string{"hookEventName": &event, "sessionId": &run, "toolUseId": &id, "cwd": &dir,
		"toolName": &tool}); err != nil {
		return err
	}
	if err := payload.only("toolInput", "toolInputTruncated"); err != nil {
		return err
	}
	var failed bool
	call.Event = event
	if call.Phase, failed = placeGrok(event); call.Phase == Unknown {
		return interlock.Errorf(interlock.CodeInvalid, "/hookEventName", "is missing")
	}
	if call.Phase == Other {
		return nil
	}
	if payload.has("toolInputTruncated") && string(payload["toolInputTruncated"]) != "false" {
		return interlock.Errorf(interlock.CodeLimited, "/toolInputTruncated",
			"the harness cut the arguments short, so they can't be judged")
	}
	input, err := payload.arguments("toolInput")
	if err != nil {
		return err
	}
	actions, err := use{tool: tool, input: input, dir: dir}.actions()
	if err != nil {
		return err
	}
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess}
	if failed {
		outcome.Status = interlock.OutcomeFailure
	}
	return call.judge(interlock.Requester{Run: run, Call: id}, actions, outcome)
}
