package hook

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
)

// gemini is Gemini CLI. Standard output is read only with exit 0; with exit 2 the reason is taken from standard error, so
// a refusal without a decision needs no JSON to be understood. "ask" forces the confirmation dialog, which shows
// systemMessage, also for a call that the harness's own rules refuse; without a terminal the harness waits for an answer that
// cannot come. So nothing is asked where the harness is seen to run without its user.
func gemini() dialect {
	return dialect{
		place:  placeGemini,
		parse:  parseClaudeShaped(placeGemini),
		asks:   func(call Call, _ Environment) bool { return call.Phase == Before },
		answer: geminiAnswer,
		rewrite: func(_ Call, input json.RawMessage) Output {
			return Output{Stdout: line(geminiOutput{Decision: "allow", Reason: handedText,
				Specific: &geminiSpecific{Event: "BeforeTool", Input: input}})}
		},
		replace: func(call Call) (Output, bool) { // a denial hides the result, and its reason takes the place
			return Output{Stdout: line(geminiOutput{Decision: "deny", Reason: call.screened.text()})}, true
		},
		refuse: func(_ Call, text string) Output { return Output{Stderr: []byte(text + "\n"), Exit: 2} },
		shows: func(payload object) bool {
			event, _ := payload.text("hook_event_name")
			return slices.Contains([]string{"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel",
				"BeforeToolSelection"}, event)
		},
		commands: []string{"BeforeTool"},
		canary:   runsShellCommand,
		stops:    func(_ string, a answer) bool { return a.exit2 || a.readable && a.Decision == "deny" },
	}
}

func runsShellCommand(shaped map[string]any) map[string]any {
	shaped["tool_name"] = "run_shell_command"
	return shaped
}

func placeGemini(event string) (Phase, bool) {
	switch event {
	case "BeforeTool":
		return Before, false
	case "AfterTool":
		return After, false
	case "BeforeAgent":
		return Told, false
	case "":
		return Unknown, false
	default:
		return Other, false
	}
}

type geminiOutput struct {
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	SystemMessage string `json:"systemMessage,omitempty"`
	Continue      *bool  `json:"continue,omitempty"`
	StopReason    string `json:"stopReason,omitempty"`

	Specific *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event string          `json:"hookEventName"`
	Input json.RawMessage `json:"tool_input"`
}

func geminiAnswer(_ Call, verdict interlock.Verdict, text string) Output {
	switch verdict {
	case interlock.Allow:
		return Output{}
	case interlock.Ask:
		return Output{Stdout: line(geminiOutput{Decision: "ask", Reason: text, SystemMessage: text})}
	case interlock.Halt:
		return Output{Stdout: line(geminiOutput{Decision: "deny", Reason: text, Continue: new(bool), StopReason: text})}
	default:
		return Output{Stdout: line(geminiOutput{Decision: "deny", Reason: text})}
	}
}

// geminiFailed reads how a command ended off the lines that Gemini CLI adds to what it printed. Only a command that failed
// has an exit code or a signal there; nothing else says so.
func geminiFailed(text string) bool {
	lines := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), "</untrusted_context>"), "\n")
	for _, line := range slices.Backward(lines) {
		label, value, _ := strings.Cut(line, ": ")
		switch label {
		case "Exit Code":
			return value != "0"
		case "Signal":
			return value != "(none)"
		case "", "Error", "Background PIDs", "Process Group PGID":
		default:
			return false // what the command printed begins here
		}
	}
	return false
}
