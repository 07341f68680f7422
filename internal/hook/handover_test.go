package hook

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
)

func here() *Exec {
	return &Exec{Program: "/opt/it's here/interlock", Home: "/home/ann/in er", Resolve: func(dir string) string { return dir }}
}

// before parses one command of Claude Code's Bash tool.
func before(t *testing.T, command string) Call {
	t.Helper()
	payload := `{"session_id":"s'1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":` +
		strings.TrimSuffix(string(line(command)), "\n") + `,"timeout":5}}`
	call, err := Parse("claude", []byte(payload), Environment{Principal: "ann", Exec: here()})
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// What is written for a shell is read back word for word, and no word comes out of what a shell would change.
func FuzzLiteralWords(f *testing.F) {
	for _, seed := range []string{"ls -la", "it's", "a\nb", "", "$(x)", "ü", `\'`, "=x", "x=1", "a  b", "'a'\"b\"c", "\"$x\"", "a#b", "~"} {
		f.Add(seed, "second")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		want := []string{first, second}
		got, ok := literalWords(ShellLine(want))
		if !ok || !cmp.Equal(want, got) {
			t.Errorf("%q became %q, %v", want, got, ok)
		}
		if words, ok := literalWords(first); ok {
			if again, ok := literalWords(ShellLine(words)); !ok || strings.Join(again, "\x00") != strings.Join(words, "\x00") {
				t.Errorf("%q is read as %q, and that as %q", first, words, again)
			}
		}
	})
}

// A shell reads a line as the words it is taken for here.
func TestAShellReadsLiteralWordsAlike(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no sh; hooks hand nothing over there
	}
	for _, command := range []string{`a 'b  c' "d e" f\'g x=1 -- 'i'"j"k @% +,`, ShellLine([]string{"it's", "", "a\nb", "$HOME", "`x`", "\\", "*"})} {
		want, ok := literalWords(command)
		if !ok {
			t.Fatalf("%q is not read", command)
		}
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+command).Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); diff != "" {
			t.Errorf("%q: (-ours +sh's)\n%s", command, diff)
		}
	}
}

// Whatever a command is, what the hook writes for it is taken for the same command, and not written again.
func FuzzHandoverIsReadBack(f *testing.F) {
	for _, seed := range []string{"rm -rf build", "echo 'a' \"b\" $c", "a\nb", "interlock exec -- ls", "\xff", "it's"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		h := &handing{exec: here(), requester: interlock.Requester{Agent: "claude", Run: "s'1"}, tool: "Bash", line: command, member: "command"}
		inner, flags, ok := h.read(h.command())
		if want := strings.TrimSpace(command) != ""; ok != want || ok && (inner != command || len(flags) > 0) {
			t.Errorf("%q is read back as %q, %q, %v", command, inner, flags, ok)
		}
	})
}

func TestWhatIsHandedOver(t *testing.T) {
	written := (&handing{exec: here(), requester: interlock.Requester{Agent: "claude", Run: "s'1"}, tool: "Bash", line: "rm -rf build"}).command()
	long := strings.Repeat("x", 100<<10-len("echo "))
	for _, test := range []struct {
		command  string
		input    string
		handover interlock.Handover
	}{
		{"rm -rf build", "rm -rf build", interlock.HandoverOffered},
		{written, "rm -rf build", interlock.HandoverCertain},
		{"interlock exec -- rm -rf build", "rm -rf build", interlock.HandoverCertain},
		{`interlock exec --overlay -- sh -c "rm -rf 'x y'"`, `sh -c 'rm -rf '\''x y'\'''`, interlock.HandoverCertain},
		{"'/opt/it'\\''s here/interlock' exec -- ls", "ls", interlock.HandoverCertain},
		{"interlock exec --run other -- ls", "interlock exec --run other -- ls", interlock.HandoverOffered},
		{"/tmp/interlock exec -- ls", "/tmp/interlock exec -- ls", interlock.HandoverOffered},
		{"A=1 interlock exec -- ls", "A=1 interlock exec -- ls", interlock.HandoverOffered},
		{"interlock exec -- ls && ls", "interlock exec -- ls && ls", interlock.HandoverOffered},
		{"interlock exec -- $X", "interlock exec -- $X", interlock.HandoverOffered},
		{"interlock exec --line -- a b", "interlock exec --line -- a b", interlock.HandoverOffered},
		{"interlock exec --", "interlock exec --", interlock.HandoverOffered},
		{"echo " + long, "echo " + long, interlock.HandoverOffered},
		{"echo x" + long, "echo x" + long, ""},
		{"echo '" + long[2:], "echo '" + long[2:], ""},
	} {
		call := before(t, test.command)
		p := call.Proposals[0]
		if p.Action.Input != test.input || call.Handover != test.handover {
			t.Errorf("%s: judged as %q, %q; want %q, %q", test.command, p.Action.Input, call.Handover, test.input, test.handover)
		}
	}
}

// What is allowed without a sandbox is left alone; what wants one is rewritten, once, unless nothing is enforced.
func TestWhatIsRewritten(t *testing.T) {
	boxed := interlock.Decision{Mode: interlock.Enforcing, Verdict: interlock.Ask, Answer: interlock.Allow,
		Obligations: []interlock.Obligation{{Type: interlock.ObligationSandbox}}}
	monitored := boxed
	monitored.Mode = interlock.Monitoring
	call := before(t, "rm -rf build")
	rewritten := string(Render(call, nil, interlock.Answer{Decision: boxed, Event: "e1"}).Stdout)
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"[sandbox] This runs in Interlock's sandbox.",` +
		`"updatedInput":{"command":"'/opt/it'\\''s here/interlock' exec --home '/home/ann/in er' --agent claude --run 's'\\''1' --tool Bash --line -- 'rm -rf build'","timeout":5}}}` + "\n"
	if diff := cmp.Diff(want, rewritten); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, got := range map[string]Output{
		"no obligation": Render(call, nil,
			interlock.Answer{Decision: interlock.Decision{Mode: interlock.Enforcing, Verdict: interlock.Allow, Answer: interlock.Allow}, Event: "e1"}),
		"monitoring": Render(call, nil, interlock.Answer{Decision: monitored, Event: "e1"}),
		"rewritten":  Render(before(t, call.hand.command()), nil, interlock.Answer{Decision: boxed, Event: "e1"}),
	} {
		if len(got.Stdout) > 0 || got.Exit != 0 {
			t.Errorf("%s: %s", name, got.Stdout)
		}
	}
	if out := Render(call, nil, interlock.Answer{Decision: boxed}); !strings.Contains(string(out.Stdout), `"deny"`) {
		t.Errorf("not recorded, and %s", out.Stdout)
	}
}

// A command that is read by another program than a shell of the system is judged as a call of that program, and goes nowhere else.
func TestWhoReadsACommand(t *testing.T) {
	for shell, want := range map[string]string{
		`null`: "ls -l", `""`: "ls -l", `true`: "ls -l", `"bash"`: "ls -l", `"/bin/sh"`: "ls -l", `"/usr/bin/zsh"`: "ls -l",
		`"./bash"`: "./bash -c 'ls -l'", `"/w/bash"`: "/w/bash -c 'ls -l'", `"/bin/../w/bash"`: "/bin/../w/bash -c 'ls -l'",
		`"python3"`: "python3 -c 'ls -l'", `"pwsh"`: "pwsh -c 'ls -l'", `"sh -c x"`: "'sh -c x' -c 'ls -l'",
	} {
		payload := `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"exec_command","tool_use_id":"t1","tool_input":{"cmd":"ls -l","shell":` + shell + `}}`
		call, err := Parse("codex", []byte(payload), Environment{Principal: "ann", Exec: here()})
		if err != nil {
			t.Fatal(err)
		}
		p := call.Proposals[0]
		if p.Action.Input != want || (call.Handover != "") != (want == "ls -l") {
			t.Errorf("%s: judged as %q, handed over: %q", shell, p.Action.Input, call.Handover)
		}
	}
	payload := `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"exec_command","tool_use_id":"t1","tool_input":{"cmd":"ls","Shell":"./bash"}}`
	if _, err := Parse("codex", []byte(payload), Environment{Principal: "ann"}); err == nil {
		t.Error("a shell named in another case passes")
	}
}
