package hook_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/hook"
)

// A looking backend says what may be shown of results.
type looking struct {
	shown, message string
	err            error
	unreported     error // of recording an outcome
	forgotten      error // of remembering a result
}

func (looking) ProposeHanded(context.Context, interlock.Handover, interlock.Proposal) interlock.Answer {
	return interlock.Answer{}
}
func (l looking) Report(context.Context, interlock.Requester, interlock.Outcome) error {
	return l.unreported
}
func (looking) HearPrompt(context.Context, interlock.Requester, string) error  { return nil }
func (l looking) HearResult(context.Context, interlock.Proposal, string) error { return l.forgotten }
func (l looking) ScreenResult(context.Context, interlock.Proposal, string) (string, string, error) {
	return l.shown, l.message, l.err
}

// TestResultsAreReplacedWhereTheyCanBe: the answer to the event after a tool is what each harness documents for another result, and where
// there is no such thing people are told.
func TestResultsAreReplacedWhereTheyCanBe(t *testing.T) {
	const told = "Some information was removed for safety."
	shaped := func(event, tool string) string {
		return `{"hook_event_name":"` + event + `","session_id":"s","tool_use_id":"u","cwd":"/w","tool_name":"` + tool +
			`","tool_input":{"command":"env"},"tool_response":{"stdout":"card 4012 8888 8888 1881"}}`
	}
	for _, test := range []struct {
		agent, payload, stdout string
	}{
		{"claude", shaped("PostToolUse", "Bash"), `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"card ` +
			`[redacted]"},"additionalContext":"` + told + `"}}`},
		{"codex", strings.Replace(shaped("PostToolUse", "Bash"), `{`, `{"turn_id":"t",`, 1),
			`{"decision":"block","reason":"` + told + `\n{\"stdout\":\"card [redacted]\"}"}`},
		{"gemini", strings.Replace(shaped("AfterTool", "run_shell_command"), `{`, `{"timestamp":"x",`, 1),
			`{"decision":"deny","reason":"` + told + `\n{\"stdout\":\"card [redacted]\"}"}`},
		{"cursor", `{"hook_event_name":"postToolUse","conversation_id":"s","generation_id":"g","cursor_version":"1","cwd":"/w",` +
			`"tool_name":"MCP:pay","tool_input":"{}","tool_output":"{\"stdout\":\"card 4012 8888 8888 1881\"}"}`,
			`{"updated_mcp_tool_output":{"stdout":"card [redacted]"},"additional_context":"` + told + `"}`},
		{"cursor", `{"hook_event_name":"postToolUse","conversation_id":"s","generation_id":"g","cursor_version":"1","cwd":"/w",` +
			`"tool_name":"Shell","tool_input":"{\"command\":\"env\"}","tool_output":"card 4012 8888 8888 1881"}`, ""},
		{"qwen", shaped("PostToolUse", "run_shell_command"), ""},
	} {
		call, err := hook.Parse(test.agent, []byte(test.payload), hook.Environment{})
		if err != nil {
			t.Fatalf("%s: %v", test.agent, err)
		}
		shown := looking{shown: `{"stdout":"card [redacted]"}`, message: told}
		out, _ := hook.Decide(t.Context(), call, hook.Environment{}, shown, redact, error.Error)
		if got := strings.TrimSpace(string(out.Stdout)); got != test.stdout {
			t.Errorf("%s says %s\nwant %s", test.agent, got, test.stdout)
		}
		if silent := test.stdout == ""; silent != strings.Contains(string(out.Stderr), told) || silent != (out.Exit == 1) {
			t.Errorf("%s: exit %d, %q", test.agent, out.Exit, out.Stderr)
		}
		if out, _ := hook.Decide(t.Context(), call, hook.Environment{}, looking{}, redact, error.Error); len(out.Stderr) > 0 || out.Exit != 0 {
			t.Errorf("%s: of a clean result it says %q", test.agent, out.Stderr)
		}
	}
	call, err := hook.Parse("claude", []byte(shaped("PostToolUse", "Bash")), hook.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := hook.Decide(t.Context(), call, hook.Environment{}, looking{err: errors.New("the disk is full")}, redact, error.Error)
	if !strings.Contains(string(out.Stdout), `"updatedToolOutput":"What had to be left out`) {
		t.Errorf("what could not be recorded is %s", out.Stdout)
	}
}

// TestAFailureShowsNoMore: where the outcome can't be recorded, or the call belongs to no session, what must not be seen of a result is
// replaced all the same, and people are told of the failure.
func TestAFailureShowsNoMore(t *testing.T) {
	const payload = `{"hook_event_name":"PostToolUse","tool_use_id":"u","cwd":"/w","tool_name":"Bash",` +
		`"tool_input":{"command":"env"},"tool_response":{"stdout":"card 4012 8888 8888 1881"}}`
	full := errors.New("the disk is full")
	for _, test := range []struct {
		session string
		backend looking
		stderr  string
	}{
		{`"session_id":"s",`, looking{unreported: full}, "the outcome was not recorded"},
		{`"session_id":"s",`, looking{forgotten: full}, "is not remembered"},
		{"", looking{}, ""},
	} {
		test.backend.shown, test.backend.message = `{"stdout":"card [redacted]"}`, "Some information was removed for safety."
		call, err := hook.Parse("claude", []byte("{"+test.session+payload[1:]), hook.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := hook.Decide(t.Context(), call, hook.Environment{}, test.backend, redact, error.Error)
		if !strings.Contains(string(out.Stdout), `"updatedToolOutput":{"stdout":"card [redacted]"}`) || out.Exit != 0 ||
			!strings.Contains(string(out.Stderr), test.stderr) {
			t.Errorf("%q: %s, %s, %d", test.stderr, out.Stdout, out.Stderr, out.Exit)
		}
	}
}
