package hook

import (
	"encoding/json"

	"interlock"
)

// claude is Claude Code: JSON on standard output with exit 0. For refusals without a decision exit 2 goes with it,
// which blocks even where the JSON should not be understood; PermissionRequest doesn't honour exit 2, so there the JSON
// is alone.
func claude() dialect {
	return dialect{
		place:  placeClaude,
		parse:  parseClaudeShaped(placeClaude),
		asks:   claudeAsks,
		answer: claudeAnswer,
		rewrite: func(call Call, input json.RawMessage) Output {
			return Output{Stdout: line(claudeOutput{Specific: &claudeSpecific{Event: "PreToolUse", Verdict: "allow",
				Reason: handedText, Updated: input}})}
		},
		replace: func(call Call) (Output, bool) {
			specific := &claudeSpecific{Event: call.Event, Output: call.screened.json(), Context: call.screened.message}
			return Output{Stdout: line(claudeOutput{Specific: specific})}, call.Event == "PostToolUse"
		},
		refuse: func(call Call, text string) Output {
			out := claudeAnswer(call, interlock.Deny, text)
			if call.Phase != Permission {
				out.Stderr, out.Exit = []byte(text+"\n"), 2
			}
			return out
		},
		shaped:   true,
		commands: []string{"PreToolUse", "PermissionRequest"},
		stops:    func(event string, a answer) bool { return a.specific || a.exit2 && event != "PermissionRequest" },
	}
}

func placeClaude(event string) (Phase, bool) {
	switch event {
	case "PreToolUse":
		return Before, false
	case "PermissionRequest":
		return Permission, false
	case "PostToolUse":
		return After, false
	case "PostToolUseFailure":
		return After, true
	case "UserPromptSubmit":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

// claudeAsks reports that both events before the tool can put a question to the user.
func claudeAsks(call Call, _ Environment) bool {
	return call.Phase == Before || call.Phase == Permission
}

// parseClaudeShaped reads the payload that Claude Code has and others imitate.
func parseClaudeShaped(place func(string) (Phase, bool)) func(*Call, object, Environment) error {
	return func(call *Call, payload object, env Environment) error {
		var event, run, id, alternative, dir, tool, mode string
		if err := payload.texts(map[string]*string{"hook_event_name": &event, "session_id": &run, "tool_use_id": &id,
			"tool_call_id": &alternative, "cwd": &dir, "tool_name": &tool, "permission_mode": &mode}); err != nil {
			return err
		}
		if err := payload.only("tool_input", "tool_response", "tool_result", "error"); err != nil {
			return err
		}
		if event == "" {
			event = env.Event
		}
		var failed bool
		call.Event = event
		if call.Phase, failed = place(event); call.Phase == Unknown {
			return interlock.Errorf(interlock.CodeInvalid, "/hook_event_name", "is missing")
		}
		if call.Phase == Other {
			return nil
		}
		if call.Phase == Told {
			call.told(run, payload, "prompt")
			return nil
		}
		if id == "" {
			id = alternative
		}
		call.Silent = mode == "dontAsk" // there a question becomes a refusal that names no request
		u, err := payload.use(tool, "tool_input", dir)
		if err != nil {
			return err
		}
		call.input, u.harness = u.input, call.Agent
		call.roams = call.Agent == "claude"
		if call.Agent == "claude" && !payload.has("agent_id") && !payload.has("agent_type") {
			call.server = ownServer(tool) // a subagent may bring servers of its own
		}
		if context, err := payload.sub("mcp_context"); err == nil && context != nil {
			u = u.named(context)
		}
		actions, err := u.actions()
		if err != nil {
			return err
		}
		return call.judge(interlock.Requester{Run: run, Call: id}, actions, call.result(payload, u, failed))
	}
}

// result is what came of a tool that has run. What it returned is kept for the call.
func (c *Call) result(payload object, u use, failed bool) interlock.Outcome {
	outcome := interlock.Outcome{Status: interlock.OutcomeSuccess, Duration: payload.milliseconds("duration_ms")}
	if outcome.Duration == 0 {
		outcome.Duration = payload.milliseconds("duration")
	}
	for _, name := range []string{"tool_response", "tool_result"} {
		if payload.has(name) {
			outcome.Status = u.outcomeOf(payload[name])
			c.returned(payload[name])
		}
	}
	if failed {
		outcome.Status = interlock.OutcomeFailure
		failure, err := payload.text("error")
		if err != nil {
			failure = ""
		}
		outcome.Detail = cut(printable(failure), maxDetail)
		c.returned(payload["error"])
	}
	return outcome
}

// maxDetail bounds what an outcome repeats of a tool's error.
const maxDetail = 1000

// named puts the server and tool that the harness names apart in place of the joined name it shows the model.
func (u use) named(context object) use {
	server, _ := context.text("server_name")
	tool, _ := context.text("tool_name")
	if server != "" && tool != "" {
		u.mcp, u.tool = server, tool
	}
	return u
}

type claudeOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	Event    string          `json:"hookEventName"`
	Verdict  string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Decision *claudeDecision `json:"decision,omitempty"`
	Updated  json.RawMessage `json:"updatedInput,omitempty"`
	Output   json.RawMessage `json:"updatedToolOutput,omitempty"`
	Context  string          `json:"additionalContext,omitempty"`
}

type claudeDecision struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitempty"`
}

func claudeAnswer(call Call, verdict interlock.Verdict, text string) Output {
	if verdict == interlock.Allow {
		return Output{}
	}
	var out claudeOutput
	halt := verdict == interlock.Halt
	if halt {
		out.Continue, out.StopReason = new(bool), text
	}
	switch {
	case call.Phase == Permission && verdict == interlock.Ask:
		// The harness is asking already. Its user is told why the answer matters.
		return Output{Stdout: line(claudeOutput{SystemMessage: text})}
	case call.Phase == Permission:
		out.Specific = &claudeSpecific{Event: "PermissionRequest",
			Decision: &claudeDecision{Behavior: "deny", Message: text, Interrupt: halt}}
	case verdict == interlock.Ask:
		out.Specific = &claudeSpecific{Event: "PreToolUse", Verdict: "ask", Reason: text}
	default:
		out.Specific = &claudeSpecific{Event: "PreToolUse", Verdict: "deny", Reason: text}
	}
	return Output{Stdout: line(out)}
}
