package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
	"interlock/internal/hook"
	"interlock/internal/strictjson"
)

// blocks reports whether an output stops the tool in the given harness, by each harness's own documentation and without
// the code under test.
func blocks(agent string, phase hook.Phase, out hook.Output) bool {
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
	isJSON := json.Unmarshal(out.Stdout, &o) == nil
	exit2 := out.Exit == 2 && len(bytes.TrimSpace(out.Stderr)) > 0
	claude := isJSON && (o.Specific.Verdict == "deny" && strings.TrimSpace(o.Specific.Reason) != "" || o.Specific.Decision.Behavior == "deny")
	switch agent {
	case "claude", "qwen":
		return claude && out.Exit == 0 || exit2 && phase != hook.Permission
	case "codex":
		return claude && out.Exit == 0
	case "gemini", "grok":
		return exit2 || isJSON && out.Exit == 0 && o.Decision == "deny"
	case "cursor":
		return exit2 || isJSON && o.Permission == "deny" && out.Exit == 0
	case "copilot":
		if phase == hook.Permission {
			return isJSON && o.Behavior == "deny" && out.Exit == 0
		}
		return isJSON && o.Verdict == "deny" && out.Exit == 0
	case "opencode": // the plugin lets nothing run but what it finds allowed in so many words
		return !isJSON || o.Own != "allow" || out.Exit != 0
	case "windsurf":
		return exit2
	case "cline":
		return isJSON && o.Cancel && out.Exit == 0
	}
	return false
}

// FuzzParse: whatever comes in, an event that can stop the tool and could not be read whole is refused in the harness's
// dialect; one that was read is refused unless every part of it was allowed and recorded; and the digest of what is judged
// is a function of the payload.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == "stdin" && !bytes.HasPrefix(file.Data, []byte("(")) {
				f.Add(filepath.Base(filepath.Dir(name)), "", file.Data)
				f.Add("claude", "PreToolUse", file.Data)
			}
		}
	}
	f.Add("grok", "", []byte(`{"hookEventName":"pre_tool_use"}`))
	f.Add("codex", "PermissionRequest", []byte(`{"tool_name":"Bash"`))
	f.Fuzz(func(t *testing.T, agent, event string, payload []byte) {
		call, err := hook.Parse(agent, payload, hook.Environment{Event: event})
		known := false
		for _, a := range append(hook.Agents(), "grok") {
			known = known || a == call.Agent
		}
		if !known {
			if err == nil || hook.Refuse(call, "x", "y").Exit != 2 {
				t.Fatalf("an unknown harness was not refused")
			}
			return
		}
		stoppable := call.Phase == hook.Before || call.Phase == hook.Permission || call.Phase == hook.Unknown
		if err != nil {
			if len(call.Proposals) != 0 {
				t.Fatalf("a payload that was refused left %d proposals", len(call.Proposals))
			}
			if out := hook.Refuse(call, "unreadable", err.Error()); stoppable && !blocks(call.Agent, call.Phase, out) {
				t.Fatalf("not refused in %s: %+v %q %q", call.Agent, out.Exit, out.Stdout, out.Stderr)
			}
			if out := hook.Render(call, nil); stoppable && !blocks(call.Agent, call.Phase, out) {
				t.Fatalf("rendered without an answer in %s: %q", call.Agent, out.Stdout)
			}
			return
		}
		if call.Phase == hook.Unknown {
			t.Fatalf("read without error and not placed: %+v", call)
		}
		if !stoppable {
			return
		}
		if len(call.Proposals) == 0 {
			t.Fatalf("an event that can stop the tool brought nothing to judge: %+v", call)
		}
		allow := answerNamed(t, "allow", call.Proposals[0])
		for _, n := range []int{0, len(call.Proposals) - 1, len(call.Proposals) + 1} {
			var answers []interlock.Answer
			for range n {
				answers = append(answers, allow)
			}
			if out := hook.Render(call, nil, answers...); !blocks(call.Agent, call.Phase, out) {
				t.Fatalf("%d answers to %d proposals did not block in %s: %q", n, len(call.Proposals), call.Agent, out.Stdout)
			}
		}
		for _, worst := range []string{"deny", "halt", "allow-unrecorded"} {
			answers := make([]interlock.Answer, len(call.Proposals))
			for i, p := range call.Proposals {
				answers[i] = answerNamed(t, "allow", p)
			}
			answers[len(answers)-1] = answerNamed(t, worst, call.Proposals[0])
			if out := hook.Render(call, nil, answers...); !blocks(call.Agent, call.Phase, out) {
				t.Fatalf("%s did not block in %s: %q", worst, call.Agent, out.Stdout)
			}
		}
	})
}

// TestEveryVerdictEverywhere: in every harness and event, with and without somebody to ask, only an Allow with an event
// lets the tool run without more, and verdicts out of range are refused.
func TestEveryVerdictEverywhere(t *testing.T) {
	for _, agent := range hook.Agents() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", agent, "allow.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, unattended := range []bool{false, true} {
			call, err := hook.Parse(agent, bytes.TrimSpace(archive.Files[0].Data), hook.Environment{Unattended: unattended, Prompts: true})
			if err != nil {
				t.Fatal(err)
			}
			for verdict := interlock.Deny; verdict < interlock.Halt+3; verdict++ {
				answer := interlock.Answer{Decision: interlock.Decision{Verdict: verdict, Answer: verdict}, Event: "e"}
				out := hook.Render(call, nil, answer)
				mayRun := verdict == interlock.Allow || verdict == interlock.Ask && call.Proposals[0].CanAsk
				if blocks(agent, call.Phase, out) == mayRun {
					t.Errorf("%s, unattended %v: %v gives %q %q %d", agent, unattended, verdict, out.Stdout, out.Stderr, out.Exit)
				}
			}
		}
	}
}

// TestAPromptGivesNoMoreThanAYes: where an ask owes more than whoever sits before the harness can give, its prompt is not the way
// to answer, also if another part of the call owes it.
func TestAPromptGivesNoMoreThanAYes(t *testing.T) {
	owing := func(types ...string) interlock.Answer {
		a := interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask}, Event: "e", Request: "apr_0123456789ab"}
		for _, of := range types {
			a.Obligations = append(a.Obligations, interlock.Obligation{Type: of, Note: "n"})
		}
		return a
	}
	payload := []byte(`{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make deploy"},"tool_use_id":"t"}`)
	for _, c := range []struct {
		of     string
		prompt bool
	}{
		{interlock.ObligationConfirm, true}, {interlock.ObligationRedact, true}, {interlock.ObligationWithin, true}, {interlock.ObligationCooldown, true},
		{interlock.ObligationVerify, false}, {interlock.ObligationAdmin, false}, {interlock.ObligationCouncil, false}, {interlock.ObligationDual, false},
		{interlock.ObligationApprovers, false}, {interlock.ObligationDryRun, false}, {interlock.ObligationSandbox, false}, {"of a later version", false},
	} {
		call, err := hook.Parse("claude", payload, hook.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		out := string(hook.Render(call, nil, owing(interlock.ObligationConfirm, c.of)).Stdout)
		if prompt := strings.Contains(out, `"permissionDecision":"ask"`); prompt != c.prompt || prompt == strings.Contains(out, "apr_0123456789ab") {
			t.Errorf("%s gives %s", c.of, out)
		}
		call.Proposals = append(call.Proposals, call.Proposals[0])
		out = string(hook.Render(call, nil, owing(), owing(c.of)).Stdout)
		if strings.Contains(out, `"permissionDecision":"ask"`) != c.prompt {
			t.Errorf("%s of a second part gives %s", c.of, out)
		}
	}
}

// TestOneCallSeenByTwoEvents: both events of one call are one action, or it would be judged, asked about and recorded twice.
func TestOneCallSeenByTwoEvents(t *testing.T) {
	for _, c := range []struct{ name, agent, first, second string }{
		{"claude", "claude",
			`{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make deploy","description":"Ship"},"tool_use_id":"t"}`,
			`{"session_id":"s","cwd":"/r","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make deploy","description":"ship it"}}`},
		{"codex", "codex",
			`{"session_id":"s","turn_id":"1","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t"}`,
			`{"session_id":"s","turn_id":"1","cwd":"/r","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"git push","description":"network-access github.com"}}`},
		{"cursor shell", "cursor",
			`{"conversation_id":"c","generation_id":"g","cwd":"/r","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/r"},"tool_use_id":"t"}`,
			`{"conversation_id":"c","generation_id":"g","cwd":"","workspace_roots":["/r"],"hook_event_name":"beforeShellExecution","command":"ls","sandbox":true}`},
		{"cursor read", "cursor",
			`{"conversation_id":"c","generation_id":"g","cwd":"/r","hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"path":"/r/a","offset":3},"tool_use_id":"t"}`,
			`{"conversation_id":"c","generation_id":"g","workspace_roots":["/r"],"hook_event_name":"beforeReadFile","file_path":"/r/a","content":"x"}`},
		{"cursor mcp", "cursor",
			`{"conversation_id":"c","generation_id":"g","cwd":"/r","hook_event_name":"preToolUse","tool_name":"MCP:query","tool_input":{"b":1,"a":2},"tool_use_id":"t"}`,
			`{"conversation_id":"c","generation_id":"g","workspace_roots":["/r"],"hook_event_name":"beforeMCPExecution","tool_name":"query","tool_input":"{\"a\":2,\"b\":1}","url":"http://x"}`},
		{"opencode after", "opencode",
			`{"event":"tool.execute.before","tool":"edit","sessionID":"s","callID":"t","directory":"/r","args":{"filePath":"a","oldString":"x","newString":"y"}}`,
			`{"event":"tool.execute.after","tool":"edit","sessionID":"s","callID":"t","directory":"/r","args":{"filePath":"a","oldString":"x","newString":"y"}}`},
		{"after", "claude",
			`{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a","content":"x"},"tool_use_id":"t"}`,
			`{"session_id":"s","cwd":"/r","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"a","content":"x"},"tool_use_id":"t","tool_response":{"filePath":"/r/a"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, err := hook.Parse(c.agent, []byte(c.first), hook.Environment{})
			if err != nil {
				t.Fatal(err)
			}
			second, err := hook.Parse(c.agent, []byte(c.second), hook.Environment{})
			if err != nil {
				t.Fatal(err)
			}
			a, b := first.Proposals[0], second.Proposals[0]
			if a.Event == b.Event || a.Requester.Run != b.Requester.Run || a.Requester.Agent != b.Requester.Agent {
				t.Errorf("requesters or events: %+v %+v", a, b)
			}
			digest, err := strictjson.ActionDigest(a.Action)
			if err != nil {
				t.Fatal(err)
			}
			other, err := strictjson.ActionDigest(b.Action)
			if err != nil {
				t.Fatal(err)
			}
			if digest != other {
				t.Errorf("two actions:\n%+v\n%+v", a.Action, b.Action)
			}
			if second.Phase == hook.After && second.Outcomes[0].Action != digest {
				t.Errorf("the outcome names %s, want %s", second.Outcomes[0].Action, digest)
			}
		})
	}
}

// TestReasonsArePresentable: no secret, no character that hides or reorders text, never over the bound, never empty.
func TestReasonsArePresentable(t *testing.T) {
	payload := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	call, err := hook.Parse("claude", []byte(payload), hook.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	show := func(reason string) string {
		answer := interlock.Answer{Decision: interlock.Decision{Findings: []interlock.Finding{{Rule: "r", Reason: reason}}}}
		var o struct {
			Specific struct {
				Reason string `json:"permissionDecisionReason"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal(hook.Render(call, redact, answer).Stdout, &o); err != nil {
			t.Fatal(err)
		}
		return o.Specific.Reason
	}
	for _, c := range []struct{ name, reason, want string }{
		{"secret", "the password hunter2 is sent", "[r] the password [redacted] is sent."},
		{"secret split by a zero-width space", "hunt\u200ber2", "[r] [redacted]."},
		{"control and bidirectional", "a\x1b[31m\u202eb\x00\u2066c\u0085d\tline\nnext\U000e0041", "[r] a[31mbcd line next."},
		{"invalid UTF-8", "a\xffb", "[r] a\ufffdb."},
		{"no HTML escapes", "a < b & c > d", "[r] a < b & c > d."},
		{"ends as it ended", "Really?", "[r] Really?"},
	} {
		if diff := cmp.Diff(c.want, show(c.reason)); diff != "" {
			t.Errorf("%s: want - got +\n%s", c.name, diff)
		}
	}
	long := show(strings.Repeat("ü", hook.MaxReason))
	if len(long) > hook.MaxReason || !strings.HasSuffix(long, "ü…") {
		t.Errorf("a long reason has %d bytes and ends in %q", len(long), long[len(long)-6:])
	}
}

// TestDocumentedBytes holds the examples in docs/hooks.md against the golden files they are taken from.
func TestDocumentedBytes(t *testing.T) {
	page, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude/deny", "claude/ask", "claude/halt", "claude/permission-deny", "codex/ask", "gemini/ask",
		"gemini/halt", "cursor/allow", "cursor/deny", "copilot/sample", "opencode/allow", "opencode/deny", "windsurf/deny", "cline/allow", "cline/deny"} {
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if (f.Name == "stdout" || f.Name == "stderr") && len(f.Data) > 0 && !bytes.Contains(page, bytes.TrimSpace(f.Data)) {
				t.Errorf("docs/hooks.md doesn't show the %s of %s:\n%s", f.Name, name, f.Data)
			}
		}
	}
}

// TestCanary: a canary is read as what it stands for in every harness, and its refusal is recognised as one.
func TestCanary(t *testing.T) {
	events := map[string][]string{"claude": {"PreToolUse", "PermissionRequest"}, "codex": {"PreToolUse", "PermissionRequest"},
		"gemini": {"BeforeTool"}, "qwen": {"PreToolUse", "PermissionRequest"}, "cursor": {"preToolUse", "beforeShellExecution"},
		"copilot": {"preToolUse"}, "opencode": {"tool.execute.before"}, "windsurf": {"pre_run_command"}, "cline": {"PreToolUse"}}
	for _, agent := range hook.Agents() {
		for _, event := range events[agent] {
			call, err := hook.Parse(agent, hook.Canary(agent, event, "doctor-1"), hook.Environment{Event: event})
			if err != nil {
				t.Errorf("%s %s: %v", agent, event, err)
				continue
			}
			p := call.Proposals[0]
			if call.Agent != agent || p.Event != event || p.Action.Input != hook.CanaryCommand || p.Requester.Run != "doctor-1" {
				t.Errorf("%s %s is read as %+v", agent, event, p)
			}
			for _, verdict := range []string{"allow", "deny", "halt"} {
				out := hook.Render(call, nil, answerNamed(t, verdict, p))
				if got := hook.Refused(agent, event, out); got != (verdict != "allow") {
					t.Errorf("%s %s: %s counts as refused: %v (%q %q)", agent, event, verdict, got, out.Stdout, out.Stderr)
				}
			}
		}
		for _, event := range append(events[agent], "beforeReadFile") {
			if event == "beforeReadFile" && agent != "cursor" {
				continue
			}
			call, err := hook.Parse(agent, hook.CanaryCut(event, "doctor-1"), hook.Environment{Event: event})
			if err == nil || !hook.Refused(agent, event, hook.Refuse(call, "unreadable", err.Error())) {
				t.Errorf("%s %s: a payload cut short is not refused: %v", agent, event, err)
			}
		}
	}
	if hook.Refused("claude", "PreToolUse", hook.Output{}) || hook.Refused("nobody", "x", hook.Output{Exit: 2, Stderr: []byte("x")}) {
		t.Error("silence counts as a refusal")
	}
}
