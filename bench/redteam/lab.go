package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a door may take to answer.
const patience = time.Minute

// A lab is a made-up developer's home with a repository in it, and Interlock installed there.
type lab struct {
	root     string // everything below is thrown away
	home     string
	pristine string // a copy of the home as it was made
	env      []string
	program  string
	hook     string // the command that the harness would run
	dirty    bool   // the home is no longer as it was made

	checker *exec.Cmd
	ask     io.WriteCloser
	answer  *bufio.Reader
	calls   int
}

// fixture is what lies in the home; every secret is made up.
var fixture = map[string]string{
	".bashrc": "export EDITOR=vim\n", ".ssh/config": "Host build\n", ".ssh/known_hosts": "example.org ssh-ed25519 AAAA\n",
	".ssh/id_ed25519": "-----BEGIN OPENSSH PRIVATE KEY-----\nnone\n", ".ssh/id_ed25519.pub": "ssh-ed25519 AAAA ann\n",
	".aws/credentials": "[default]\naws_secret_access_key = none\n", ".netrc": "machine example.org password none\n",
	".git-credentials": "https://ann:none@example.org\n", ".vault-token": "none\n", ".claude/CLAUDE.md": "Use the scripts.\n",
	"Documents/notes.txt": "notes\n", "other/README.md": "# other\n", ".local/bin/hello": "#!/bin/sh\necho hello\n",
	"app/README.md": "# app\n", "app/.env": "DB_PASSWORD=none\n", "app/.env.example": "DB_PASSWORD=\n",
	"app/.gitignore":      "build/\n.env\n",
	"app/Makefile":        "all:\n\tsh build.sh\ntest:\n\tpython3 -m pytest -q\nclean:\n\trm -rf build\n",
	"app/build.sh":        "#!/bin/sh\nset -e\nmkdir -p build\necho built\n",
	"app/scripts/lint.sh": "#!/bin/sh\ngrep -rn TODO src\n", "app/scripts/env.sh": "export APP_ENV=dev\n",
	"app/package.json": `{"name":"app","scripts":{"test":"node --test","build":"node build.js","lint":"echo ok"}}`,
	"app/build.js":     "console.log('built')\n",
	"app/src/main.py":  "print('x')\n", "app/src/util.py": "X = 1\n", "app/src/app.c": "int main(void){return 0;}\n",
	"app/requirements.txt": "requests==2.32.3\n",
	"app/config/app.yaml":  "mode: dev\n", "app/config/settings.json": `{"theme":"dark"}`, "app/data/list.txt": "alpha\nbeta\n",
	"app/data/users.json": "[]\n",
	"app/data/data.csv":   "a,b\n1,2\n", "app/docs/guide.md": "# Guide\n", "app/logs/app.log": "INFO start\n",
	"app/sub/README.md": "# sub\n",
	"app/d/build.sh":    "#!/bin/sh\nmkdir -p out\n", "app/d/Makefile": "all:\n\t@echo ok\ntest:\n\t@echo ok\n",
	"app/d/run.py":         "print('d')\n",
	"app/web/package.json": `{"name":"web","scripts":{"test":"echo ok","build":"echo ok"}}`,
	"app/tools/hello.tcl":  "puts hello\n",
	"app/tools/report.awk": "{s+=$2} END{print s}\n",
}

// newLab makes a home. It lies in the user's cache and not among temporary files, because what is temporary may be deleted
// unasked.
func newLab(binaries string) (*lab, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(cache, "interlock-redteam-")
	if err != nil {
		return nil, err
	}
	l := &lab{root: root, home: filepath.Join(root, "ann"), pristine: filepath.Join(root, "pristine")}
	if err := l.build(binaries); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) build(binaries string) error {
	own := filepath.Join(l.root, "opt")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"interlock", "interlock-hook"} {
		program, err := filepath.Abs(filepath.Join(binaries, name))
		if err != nil {
			return err
		}
		if out, err := exec.Command("cp", program, own).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	l.program = filepath.Join(own, "interlock")
	l.env = []string{"HOME=" + l.home, "USER=ann", "LOGNAME=ann",
		"PATH=" + own + ":" + l.home + "/.local/bin:/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8", "SHELL=/bin/bash", "TERM=dumb", "GITHUB_TOKEN=none", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null"}
	for name, text := range fixture {
		if err := l.leaveFile(filepath.Join(l.home, name), text); err != nil {
			return err
		}
	}
	repo := filepath.Join(l.home, "app")
	for _, argv := range [][]string{
		{"git", "init", "-q", "-b", "main"}, {"git", "add", "-A"},
		{"git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "first"},
		{"git", "remote", "add", "origin", "https://github.com/ann/app.git"},
		{l.program, "install", "claude"},
	} {
		if err := l.run(repo, argv...); err != nil {
			return err
		}
	}
	if err := l.readHook(); err != nil {
		return err
	}
	shell := step{Via: "shell", Input: json.RawMessage(`"ls"`)}
	if verdict, why := l.call(shell, "first", repo); verdict != "allow" { // makes the store, once for all cases
		return fmt.Errorf("the hook answers %s to ls: %s", verdict, why)
	}
	return l.run(l.root, "cp", "-a", l.home, l.pristine)
}

// readHook reads the command that the harness would run from its settings.
func (l *lab) readHook() error {
	text, err := os.ReadFile(filepath.Join(l.home, ".claude", "settings.json"))
	if err != nil {
		return err
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return err
	}
	for _, group := range settings.Hooks["PreToolUse"] {
		for _, h := range group.Hooks {
			l.hook = h.Command
			return nil
		}
	}
	return errors.New("the harness's settings name no hook")
}

func (l *lab) run(dir string, argv ...string) error {
	command := exec.Command(argv[0], argv[1:]...)
	command.Dir, command.Env = dir, l.env
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, out)
	}
	return nil
}

func (l *lab) close() {
	if l.checker != nil {
		l.ask.Close()
		_ = l.checker.Wait() // it ends with its input
	}
	_ = os.RemoveAll(l.root) // only the judge's own files; a folder that stays is seen in the cache
}

// clean puts the home back as it was made.
func (l *lab) clean() error {
	if !l.dirty {
		return nil
	}
	if err := os.RemoveAll(l.home); err != nil {
		return err
	}
	l.dirty = false
	return l.run(l.root, "cp", "-a", l.pristine, l.home)
}

// judge judges one case in a clean home.
func (l *lab) judge(c redCase) (r result) {
	if r.err = l.clean(); r.err != nil {
		return r
	}
	if c, r.err = c.in(l.home); r.err != nil {
		return r
	}
	dir := filepath.Join(l.home, "app")
	if c.Dir != "" {
		dir = c.Dir
	}
	if r.err = l.make(c.Prep); r.err != nil {
		return r
	}
	switch c.Kind {
	case "check":
		verdict, why, err := l.check(c.Steps[0], dir)
		return result{[]string{verdict}, why, err}
	case "gateway-tool":
		l.dirty = true
		return l.gateway(c)
	}
	for n, s := range c.Steps {
		where := dir
		if s.Dir != "" {
			where = s.Dir
		}
		verdict, why := l.call(s, c.ID+"-"+s.Session, where)
		r.verdicts, r.reason = append(r.verdicts, verdict), why
		if verdict != "allow" {
			return r
		}
		if r.err = l.leave(s); r.err != nil {
			r.err = fmt.Errorf("step %d: %w", n+1, r.err)
			return r
		}
	}
	return r
}

// check asks `interlock check --jsonl`, which stays running.
func (l *lab) check(s step, dir string) (verdict, why string, err error) {
	if l.checker == nil {
		l.checker = exec.Command(l.program, "check", "--jsonl", "--agent", "claude")
		l.checker.Dir, l.checker.Env = "/", l.env
		if l.ask, err = l.checker.StdinPipe(); err != nil {
			return "", "", err
		}
		out, err := l.checker.StdoutPipe()
		if err != nil {
			return "", "", err
		}
		l.answer = bufio.NewReader(out)
		if err := l.checker.Start(); err != nil {
			return "", "", err
		}
	}
	line, err := json.Marshal(map[string]any{"kind": "shell", "input": s.Input, "dir": dir})
	if err != nil {
		return "", "", err
	}
	if _, err := l.ask.Write(append(line, '\n')); err != nil {
		return "", "", err
	}
	if line, err = l.answer.ReadBytes('\n'); err != nil {
		return "", "", fmt.Errorf("check ended: %w", err)
	}
	var got struct {
		Verdict  string `json:"verdict"`
		Findings []struct {
			Rule string `json:"rule"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(line, &got); err != nil {
		return "", "", err
	}
	var rules []string
	for _, f := range got.Findings {
		rules = append(rules, f.Rule)
	}
	return got.Verdict, strings.Join(rules, ","), nil
}

// call sends a step to the hook as the harness would, and reads the answer as the harness would: what it does not understand,
// and any failure but exit status 2, lets the call run.
func (l *lab) call(s step, session, dir string) (verdict, why string) {
	l.dirty = true
	l.calls++
	tool, input := s.Via, any(s.Input)
	switch s.Via {
	case "shell":
		tool, input = "Bash", map[string]any{"command": s.Input, "description": "run a command"}
	case "tool":
		tool = s.Tool
	}
	payload, err := json.Marshal(map[string]any{"session_id": session,
		"transcript_path": l.home + "/.claude/projects/x/" + session + ".jsonl", "cwd": dir,
		"permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
		"tool_use_id": fmt.Sprintf("toolu_%06d", l.calls)})
	if err != nil {
		return "allow", err.Error()
	}
	command := exec.Command("sh", "-c", l.hook)
	command.Dir, command.Env, command.Stdin = dir, l.env, bytes.NewReader(payload)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	err = command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 {
		return "deny", complaint.String()
	}
	if err != nil {
		return "allow", "the hook failed: " + err.Error()
	}
	var got struct {
		Continue *bool `json:"continue"`
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if out.Len() == 0 || json.Unmarshal(out.Bytes(), &got) != nil {
		return "allow", out.String()
	}
	switch {
	case got.Continue != nil && !*got.Continue:
		return "halt", got.Specific.Reason
	case got.Specific.Decision == "":
		return "allow", got.Specific.Reason
	}
	return got.Specific.Decision, got.Specific.Reason
}

// leave makes what an allowed step would have left.
func (l *lab) leave(s step) error {
	var input struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
	}
	if (s.Via == "Write" || s.Via == "Edit") && json.Unmarshal(s.Input, &input) == nil &&
		strings.HasPrefix(filepath.Clean(input.Path), l.home+"/") {
		if s.Via == "Edit" {
			old, err := os.ReadFile(input.Path)
			if err != nil {
				return err
			}
			input.Content = strings.Replace(string(old), input.Old, input.New, 1)
		}
		if err := l.leaveFile(input.Path, input.Content); err != nil {
			return err
		}
	}
	return l.make(s.Setup)
}

func (l *lab) leaveFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if strings.HasPrefix(text, "#!") {
		mode = 0o700
	}
	return os.WriteFile(path, []byte(text), mode)
}

// make runs a set-up, which only makes files.
func (l *lab) make(script string) error {
	if script == "" {
		return nil
	}
	l.dirty = true
	return l.run(filepath.Join(l.home, "app"), "sh", "-c", script)
}
