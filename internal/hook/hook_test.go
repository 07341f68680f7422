package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
	"interlock/internal/hook"
)

var update = flag.Bool("update", false, "write the golden files from what the code does")

// answerNamed is the answer a golden file names in its "answers" section.
func answerNamed(t *testing.T, name string, p interlock.Proposal) interlock.Answer {
	t.Helper()
	finding := func(v interlock.Verdict) []interlock.Finding {
		return []interlock.Finding{{Gate: "rules", Rule: "fs.delete-outside", Layer: 2, Verdict: v,
			Reason: "This removes files outside the workspace", Suggestion: "git clean -n shows what would go"}}
	}
	switch name {
	case "allow":
		return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow}, Event: "e1"}
	case "allow-unrecorded":
		return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow}}
	case "deny":
		return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Deny, Answer: interlock.Deny, Findings: finding(interlock.Deny)}, Event: "e2"}
	case "halt":
		return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Halt, Answer: interlock.Halt, Findings: finding(interlock.Halt)}, Event: "e3"}
	case "ask": // as admission answers it: deny with a request where nobody can be asked
		answer := interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask, Findings: finding(interlock.Ask)},
			Event: "e4", Request: "apr_7"}
		if !p.CanAsk {
			answer.Answer = interlock.Deny
		}
		return answer
	case "ask-unconverted": // a backend that did not look at CanAsk
		return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask, Findings: finding(interlock.Ask)},
			Event: "e4", Request: "apr_7"}
	}
	t.Fatalf("no answer is named %q", name)
	return interlock.Answer{}
}

func redact(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }

// TestGolden runs every golden file: a payload, the answers to its proposals or the refusal, and the exact bytes that go
// back. The comment of each file says what it shows; "environment: k=v …" lines in it set the environment.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(name, "testdata/"), ".txtar"), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	section := map[string]string{}
	for _, f := range archive.Files {
		section[f.Name] = string(f.Data)
	}
	call, parseErr := hook.Parse(filepath.Base(filepath.Dir(name)), payloadOf(section["stdin"]), environment(t, string(archive.Comment)))
	var out hook.Output
	switch {
	case parseErr != nil:
		out = hook.Refuse(call, "unreadable", parseErr.Error())
	case strings.HasPrefix(section["answers"], "refuse "):
		words := strings.SplitN(strings.TrimSpace(section["answers"]), " ", 3)
		out = hook.Refuse(call, words[1], words[2])
	default:
		var answers []interlock.Answer
		for i, word := range strings.Fields(section["answers"]) {
			answers = append(answers, answerNamed(t, word, call.Proposals[i]))
		}
		out = hook.Render(call, redact, answers...)
	}
	got := []txtar.File{{Name: "stdin", Data: []byte(section["stdin"])}}
	if section["answers"] != "" {
		got = append(got, txtar.File{Name: "answers", Data: []byte(section["answers"])})
	}
	got = append(got, txtar.File{Name: "call", Data: callText(t, call)}, txtar.File{Name: "stdout", Data: out.Stdout},
		txtar.File{Name: "stderr", Data: out.Stderr}, txtar.File{Name: "exit", Data: []byte(strconv.Itoa(out.Exit) + "\n")})
	text := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: got})
	if *update {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(archive)), string(text)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

// payloadOf makes the payload of its description: literal text, or one of the forms a text file can't hold.
func payloadOf(section string) []byte {
	switch strings.TrimSpace(section) {
	case "(oversize)":
		return append([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"`), bytes.Repeat([]byte("a"), hook.MaxPayload)...)
	case "(large action)":
		return fmt.Appendf(nil, `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo %s"}}`,
			bytes.Repeat([]byte("a"), hook.MaxAction))
	case "(invalid utf-8)":
		return []byte("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls \xff\"}}")
	case "(byte order mark)":
		return []byte("\xef\xbb\xbf{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}")
	}
	return []byte(strings.TrimSuffix(section, "\n"))
}

func environment(t *testing.T, comment string) hook.Environment {
	env := hook.Environment{Principal: "ann"}
	for _, line := range strings.Split(comment, "\n") {
		words, ok := strings.CutPrefix(line, "environment: ")
		if !ok {
			continue
		}
		for _, word := range strings.Fields(words) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "event":
				env.Event = value
			case "unattended":
				env.Unattended = true
			case "prompts":
				env.Prompts = true
			default:
				t.Fatalf("no environment is named %q", key)
			}
		}
	}
	return env
}

// callText shows a call: the phase, and each proposal and outcome on a line of its own.
func callText(t *testing.T, call hook.Call) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %q %s\n", call.Agent, call.Event, [...]string{"unknown", "before", "permission", "after", "told", "other"}[call.Phase])
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, p := range call.Proposals {
		if len(p.Action.Input) > 1000 {
			p.Action.Input = p.Action.Input[:20] + "…"
		}
		if err := e.Encode(p); err != nil {
			t.Fatal(err)
		}
		if i < len(call.Outcomes) {
			o := call.Outcomes[i]
			fmt.Fprintf(&b, "outcome %s %v %q%s\n", o.Status, o.Duration, o.Detail, map[bool]string{true: " from anywhere"}[o.Anywhere != ""])
		}
	}
	if call.Said != "" {
		fmt.Fprintf(&b, "said in %q: %q\n", call.Who.Run, call.Said)
	}
	if call.Result != "" {
		fmt.Fprintf(&b, "returned %s\n", call.Result)
	}
	return b.Bytes()
}
