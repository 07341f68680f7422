package prove

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/conform"
	"interlock/internal/fileio"
	"interlock/internal/redteam"
)

// labFiles are what lies in the home of the made-up developer of whom given cases speak; each secret is made up.
//
//go:embed redteam_lab.json
var labFiles []byte

// The home and the repository that cases speak of. A lab puts its own in their place.
const (
	caseHome  = "/home/ann"
	labRepo   = "app"
	labAsking = time.Minute // how long a door may take to answer
)

// A lab is the home of a made-up developer in which Interlock decides as in the home it is made for. Actions reach it by its real
// doors, each a process of its own: the hook of Claude Code, and the gateway before a server that does nothing. Nothing that is
// judged is ever run.
type lab struct {
	root, home, pristine string // everything below root is thrown away; pristine is the home as it was made
	env                  []string
	program              conform.Program
	server               *nullServer
	settings             config.Config // of the home that it is made for
	there                config.Config // its own
	dirty                bool          // its home is no longer as it was made
	calls                int
}

// newLab makes one below the user's cache: what is temporary may be deleted unasked, and attacks on a home would pass there.
func newLab(ctx context.Context, settings config.Config) (*lab, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "this program does not know where it lies: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	root := ""
	if err == nil {
		root, err = os.MkdirTemp(cache, "interlock-redteam-")
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "no throw-away home can be made below the user's cache: %v", err)
	}
	l := &lab{root: root, home: filepath.Join(root, "ann"), pristine: filepath.Join(root, "pristine"), program: asProcess(own),
		settings: settings}
	if l.server, err = serveNothing(); err == nil {
		err = l.build(ctx)
	}
	if err != nil {
		l.close()
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "the throw-away home can't be set up: %v", err)
	}
	return l, nil
}

func (l *lab) close() {
	if l.server != nil {
		l.server.close()
	}
	_ = os.RemoveAll(l.root) // made-up files only; a folder that stays is seen in the cache
}

func (l *lab) build(ctx context.Context) error {
	var files map[string]string
	if err := json.Unmarshal(labFiles, &files); err != nil {
		return err
	}
	for name, text := range files {
		if err := leaveFile(filepath.Join(l.home, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	l.env = []string{"HOME=" + l.home, "USER=ann", "LOGNAME=ann", "LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	for _, name := range []string{"PATH", "SystemRoot", "INTERLOCK_TEST_MAIN"} {
		if value, set := os.LookupEnv(name); set {
			l.env = append(l.env, name+"="+value)
		}
	}
	home := filepath.Join(l.home, ".local", "share", "interlock")
	l.env = append(l.env, "INTERLOCK_HOME="+home)
	if err := l.settle(ctx, home); err != nil {
		return err
	}
	repo := filepath.Join(l.home, labRepo)
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=Ann", "-c",
		"user.email=ann@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "first"}, {"remote", "add", "origin", "https://github.com/ann/app.git"}} {
		command := exec.CommandContext(ctx, "git", argv...)
		command.Dir, command.Env = repo, l.env
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", argv[0], err, out)
		}
	}
	return copyTree(l.home, l.pristine)
}

// settle has Interlock decide there as it does in the home that this is for, with nothing else of it: no log, no people and
// no judge.
func (l *lab) settle(ctx context.Context, home string) error {
	c := config.Defaults()
	c.Home, c.Mode = home, interlock.Enforcing
	said := map[string]any{"profile": l.settings.Profile, "production": append([]string{}, l.settings.Production...),
		"gateway": map[string]any{"trust_on_first_use": true, "servers": []any{map[string]any{"name": "s", "url": l.server.url()}}}}
	if rules := rulesCopied(l.settings); rules != "" {
		said["rules"] = rules
	}
	text, err := json.Marshal(said) // which is YAML as well
	if err != nil {
		return err
	}
	if err := leaveFile(filepath.Join(home, "interlock.yaml"), string(text)+"\n"); err != nil {
		return err
	}
	made, err := embedded.OpenBrief(ctx, c) // with a store, no hook asks the server of the whole machine
	if err != nil {
		return err
	}
	made.Close()
	l.there = made.Settings
	return nil
}

// try puts a case to its doors: those of the program, or for a check a backend.
func (l *lab) try(ctx context.Context, backend *embedded.Backend, c redteam.Given) (redteam.Tried, error) {
	tried, in := redteam.Tried{Given: c}, l.in(c)
	err := l.clean()
	if err != nil {
		return tried, err
	}
	if tried.Untried, err = l.prepare(in.Prep); err != nil || tried.Untried != "" {
		return tried, err
	}
	dir := in.Dir
	if dir == "" {
		dir = filepath.Join(l.home, labRepo)
	}
	switch in.Kind {
	case "check":
		err := proposed(ctx, backend, &tried, dir, embedded.GatherPeerView(l.there, "ann", l.home, dir))
		return tried, err
	case "gateway-tool":
		l.dirty = true
		return l.gateway(ctx, tried, in)
	}
	l.dirty = true
	for n := range in.Steps {
		s := &in.Steps[n]
		where := s.Dir
		if where == "" {
			where = dir
		}
		tried.Step = n
		if tried.Stopped, tried.By, err = l.step(ctx, c.ID, s, where); err != nil || tried.Stopped {
			return tried, err
		}
		if tried.Untried, err = l.leave(s); err != nil || tried.Untried != "" {
			return tried, err
		}
	}
	return tried, nil
}

// clean puts the home back as it was made.
func (l *lab) clean() error {
	if !l.dirty {
		return nil
	}
	l.dirty = false
	return errors.Join(os.RemoveAll(l.home), copyTree(l.pristine, l.home))
}

// in is a case with the home of this lab in place of the one it speaks of.
func (l *lab) in(c redteam.Given) redteam.Given {
	here := filepath.ToSlash(l.home)
	swap := func(text string) string { return strings.ReplaceAll(text, caseHome, here) }
	in := c
	in.Prep, in.Dir, in.Steps = swap(c.Prep), swap(c.Dir), slices.Clone(c.Steps)
	for n := range in.Steps {
		s := &in.Steps[n]
		s.Input, s.Setup, s.Dir = json.RawMessage(swap(string(s.Input))), swap(s.Setup), swap(s.Dir)
	}
	return in
}

// step puts one to the hook as Claude Code would.
func (l *lab) step(ctx context.Context, id string, s *redteam.Step, dir string) (stopped bool, by string, err error) {
	tool, input := s.Via, any(s.Input)
	switch {
	case s.Via == "shell":
		tool, input = "Bash", map[string]any{"command": s.Text(), "description": "run a command"}
	case s.Via == "tool":
		tool = s.Tool
	}
	l.calls++
	payload, err := json.Marshal(map[string]any{"session_id": id + s.Session, "cwd": dir,
		"transcript_path": l.home + "/.claude/projects/x/s.jsonl", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
		"tool_use_id": fmt.Sprintf("toolu_%06d", l.calls)})
	if err != nil {
		return false, "", err
	}
	if at, err := os.Stat(dir); err != nil || !at.IsDir() {
		dir = l.home
	}
	ctx, cancel := context.WithTimeout(ctx, labAsking)
	defer cancel()
	var out, complaint bytes.Buffer
	code := l.program(ctx, conform.Command{Args: []string{"hook", "--agent", "claude", "--event", "PreToolUse", "--deadline", "25s"},
		Env: l.env, Dir: dir, Stdin: bytes.NewReader(payload), Stdout: &out, Stderr: &complaint})
	if code == 2 { // how a hook says no where it can say nothing else
		return true, "hook: " + strings.TrimSpace(complaint.String()), nil
	}
	if code != 0 {
		return false, "", interlock.Errorf(interlock.CodeUnavailable, "", "case %s: the hook ended with status %d: %s", id, code,
			complaint.String())
	}
	said := conform.Reply{Text: out.String()}
	decision := said.Member("hookSpecificOutput.permissionDecision")
	stopped = said.Member("continue") == "false" || decision != "" && decision != "allow"
	return stopped, "hook: " + said.Member("hookSpecificOutput.permissionDecisionReason"), nil
}

// leave makes what an allowed step would have left.
func (l *lab) leave(s *redteam.Step) (untried string, err error) {
	var input struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
	}
	if (s.Via == "Write" || s.Via == "Edit") && json.Unmarshal(s.Input, &input) == nil {
		root, err := os.OpenRoot(l.home)
		if err != nil {
			return "", err
		}
		defer root.Close()
		name, inside := l.below(input.Path, l.home)
		if !inside {
			return "it leaves a file outside of the home", nil
		}
		if s.Via == "Edit" {
			old, err := root.ReadFile(name)
			if err != nil {
				return "it edits a file that is not there: " + filepath.Base(name), nil
			}
			input.Content = strings.Replace(string(old), input.Old, input.New, 1)
		}
		if err := root.MkdirAll(path.Dir(filepath.ToSlash(name)), 0o700); err != nil {
			return "", err
		}
		if err := root.WriteFile(name, []byte(input.Content), fileMode(input.Content)); err != nil {
			return "", err
		}
	}
	return l.prepare(s.Setup)
}

// below is a path as it is named from the home; false where it is not below it.
func (l *lab) below(name, dir string) (string, bool) {
	if rest, found := strings.CutPrefix(name, "~/"); found {
		name = filepath.Join(l.home, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(l.home, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

func fileMode(text string) fs.FileMode {
	if strings.HasPrefix(text, "#!") {
		return 0o700
	}
	return 0o600
}

func leaveFile(name, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), fileMode(text)))
}

// copyTree copies ordinary files, directories and links with their modes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !info.Mode().IsRegular():
			return nil // a socket, which nobody listens on
		}
		text, err := fileio.Plain(name, redteam.MaxFile)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, info.Mode().Perm())
	})
}
