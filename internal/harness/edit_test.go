package harness

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tailscale/hujson"
)

var update = flag.Bool("update", false, "write the golden files from what the code does")

func commandFor(h Harness) func(string) Command {
	return func(event string) Command { return Command{"/opt/interlock", HookArgs(h.Name, event, "", false)} }
}

func harnessNamed(t *testing.T, name string) Harness {
	t.Helper()
	h, ok := ByName(name)
	if !ok {
		t.Fatalf("no harness is named %q", name)
	}
	return h
}

// TestEditing shows for each file of testdata what installing makes of it and what uninstalling makes of that. The first
// part of a file's name is the harness.
func TestEditing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			agent, _, _ := strings.Cut(filepath.Base(name), "-")
			h := harnessNamed(t, strings.TrimSuffix(agent, ".txtar"))
			before := unescaped(archive.Files[0].Data)
			got := []txtar.File{archive.Files[0]}
			installed, err := h.install(before, "linux", commandFor(h))
			if err != nil {
				got = append(got, txtar.File{Name: "error", Data: []byte(err.Error() + "\n")})
			} else {
				removed, err := h.remove(installed, "/opt/interlock")
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, txtar.File{Name: "installed", Data: escaped(installed)}, txtar.File{Name: "uninstalled", Data: escaped(removed)})
				checkInstalled(t, h, before, installed, removed)
			}
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
		})
	}
}

// escaped and unescaped show carriage returns and missing line ends in text files.
func escaped(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r"), []byte("<CR>"))
	if len(b) > 0 && !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), "<EOF>\n"...)
	}
	return b
}

func unescaped(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("<CR>"), []byte("\r"))
	return bytes.TrimSuffix(b, []byte("<EOF>\n"))
}

// checkInstalled holds what must be true of every edit: the harness can read the file, nothing but ours was added, a second
// install changes nothing, and uninstalling gives back what was there.
func checkInstalled(t *testing.T, h Harness, before, installed, removed []byte) {
	t.Helper()
	again, err := h.install(installed, "linux", commandFor(h))
	if err != nil || !bytes.Equal(again, installed) {
		t.Errorf("installing twice changes the file (error %v):\n%s", err, again)
	}
	standard := len(before) == 0
	if tree, err := hujson.Parse(bytes.TrimPrefix(before, []byte("\xef\xbb\xbf"))); err == nil {
		standard = tree.IsStandard()
	}
	if standard && !json.Valid(bytes.TrimPrefix(installed, []byte("\xef\xbb\xbf"))) {
		t.Errorf("strict JSON did not stay strict:\n%s", installed)
	}
	if len(bytes.TrimSpace(before)) == 0 {
		if removed != nil {
			t.Errorf("nothing was there and something stays:\n%s", removed)
		}
		return
	}
	stripped, err := h.remove(before, "/opt/interlock")
	if err != nil {
		t.Fatal(err)
	}
	if removed == nil {
		removed = []byte("{}") // Uninstall gives back the backup here
	}
	if !h.sameText(stripped, removed) {
		t.Errorf("uninstalling does not give back what was there:\n%s\n%s", stripped, removed)
	}
}

// TestEveryStartKeepsEverything installs each harness into files of every style and takes it out again.
func TestEveryStartKeepsEverything(t *testing.T) {
	for _, name := range Names() {
		h := harnessNamed(t, name)
		if h.owned != nil {
			continue // nobody else writes there
		}
		event := h.Events[0]
		other := `{"command":"mine"}`
		if h.grouped {
			other = `{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}`
		}
		for i, before := range []string{
			"", "{}", "{ }\n", "{\n}\n", "\xef\xbb\xbf{\"a\": 1}\n", `{"a":1}`, `{"version":1,"hooks":{}}`,
			`{"hooks":{"` + event + `":[]}}`, `{"hooks":{"` + event + `":[` + other + `]}}`,
			"{\n  // mine\n  \"a\": 1, // one\n}\n", "{\n\t\"a\": [1,\n\t2], /* b */ \"c\": {}\n}",
			"{\r\n    \"a\": \"x y\"\r\n}\r\n",
			"{\n  \"hooks\": {\n    \"" + event + "\": [\n      " + other + " // keep\n      // and this\n    ],\n    // end\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"" + event + "\": [\n      " + other + ",\n    ],\n  },\n}\n",
			"{\"hooks\": {\"Else\": [" + other + "]}, \"z\": null} // tail\n",
		} {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				installed, err := h.install([]byte(before), "linux", commandFor(h))
				if err != nil {
					t.Fatal(err)
				}
				removed, err := h.remove(installed, "/opt/interlock")
				if err != nil {
					t.Fatal(err)
				}
				checkInstalled(t, h, []byte(before), installed, removed)
				moved, err := h.remove(bytes.ReplaceAll(installed, []byte("/opt/interlock"), []byte(`/home/a b/interlock`)), "/opt/interlock")
				if err != nil || !bytes.Equal(moved, removed) {
					t.Errorf("a registration of a binary that moved was not recognised:\n%s", moved)
				}
			})
		}
	}
}

// TestRefusesWhatItCantRead: a file that is not understood is never replaced, and the error says where it breaks.
func TestRefusesWhatItCantRead(t *testing.T) {
	h := harnessNamed(t, "claude")
	for _, c := range []struct{ before, want string }{
		{`{"a":`, "is not valid JSON: line 1, column 6: parsing value: unexpected EOF"},
		{"{\n  \"a\": tru\n}", `is not valid JSON: line 2, column 8: invalid literal: tru`},
		{`[1]`, "does not hold an object"},
		{`"x"`, "does not hold an object"},
		{`{"hooks":[]}`, `holds "hooks" that are not an object`},
		{`{"hooks":{"PreToolUse":{}}}`, "holds hooks for PreToolUse that are not an array"},
		{`{"hooks":{},"hooks":{}}`, `holds "hooks" twice; keep one`},
		{`{"hooks":{"PreToolUse":[],"PreToolUse":[]}}`, `holds "PreToolUse" twice; keep one`},
	} {
		_, err := h.install([]byte(c.before), "linux", commandFor(h))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.before, err, c.want)
		}
	}
}

// TestApply goes through the file system: backup, mode, links, idempotence, and the way back byte for byte.
func TestApply(t *testing.T) {
	home := t.TempDir()
	h := harnessNamed(t, "claude")
	place := Place{Home: home, GOOS: "linux"}
	before := "{\n   \"a\":   1 // odd spacing\n}\n"
	real := filepath.Join(home, "dotfiles.json")
	if err := os.WriteFile(real, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	path := h.Settings(place)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	p, err := h.Install(place, commandFor(h))
	if err != nil || !p.Changes() {
		t.Fatalf("%v %v", p.Changes(), err)
	}
	backup, err := p.Apply(now)
	if err != nil {
		t.Fatal(err)
	}
	if want := path + ".interlock-backup-20261101T100000Z"; backup != want {
		t.Errorf("backup %s, want %s", backup, want)
	}
	if kept, _ := os.ReadFile(backup); string(kept) != before {
		t.Errorf("the backup holds %q", kept)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info.Mode(), err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if p, err := h.Install(place, commandFor(h)); err != nil || p.Changes() {
		t.Errorf("a second install changes something: %v %v\n%s", p.Changes(), err, p.Diff())
	}
	if _, err := p.Apply(now); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a stale plan was applied: %v", err)
	}
	p, err = h.Uninstall(place, "/opt/interlock")
	if err != nil {
		t.Fatal(err)
	}
	if backup, err = p.Apply(now); err != nil || !strings.HasSuffix(backup, "Z-002") {
		t.Errorf("%s %v", backup, err)
	}
	if after, _ := os.ReadFile(real); string(after) != before {
		t.Errorf("uninstalling left %q, want %q", after, before)
	}
}

// TestApplyCreatesAndRemoves: where there was no file there is none afterwards.
func TestApplyCreatesAndRemoves(t *testing.T) {
	for _, name := range Names() {
		h := harnessNamed(t, name)
		place := Place{Home: t.TempDir(), GOOS: "linux"}
		p, err := h.Install(place, commandFor(h))
		if err != nil {
			t.Fatal(err)
		}
		if backup, err := p.Apply(time.Now()); err != nil || backup != "" {
			t.Fatalf("%q %v", backup, err)
		}
		if info, err := os.Stat(p.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
		if p, err = h.Uninstall(place, "/elsewhere/interlock"); err != nil || p.After != nil {
			t.Fatalf("%s: %q %v", name, p.After, err)
		}
		if _, err := p.Apply(time.Now()); err != nil {
			t.Fatal(err)
		}
		if exists(p.Path) {
			t.Errorf("%s: the file stays", name)
		}
		if p, err = h.Uninstall(place, "/opt/interlock"); err != nil || p.Changes() {
			t.Errorf("%s: uninstalling what is not installed: %v %v", name, p.Changes(), err)
		}
	}
}

// TestBareFileComesBack: a file that held nothing but spacing is not taken for one that installing made.
func TestBareFileComesBack(t *testing.T) {
	place := Place{Home: t.TempDir(), GOOS: "linux"}
	h := harnessNamed(t, "cursor")
	path := h.Settings(place)
	if err := replace(path, []byte("{ }\n"), nil); err != nil {
		t.Fatal(err)
	}
	p, err := h.Install(place, commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(time.Now()); err != nil {
		t.Fatal(err)
	}
	if p, err = h.Uninstall(place, "/opt/interlock"); err != nil || string(p.After) != "{ }\n" {
		t.Errorf("%q %v", p.After, err)
	}
}

// TestEditedSinceInstall: what the user changed after installing survives uninstalling.
func TestEditedSinceInstall(t *testing.T) {
	place := Place{Home: t.TempDir(), GOOS: "linux"}
	h := harnessNamed(t, "claude")
	path := h.Settings(place)
	if err := replace(path, []byte("{\n  \"model\": \"a b\"\n}\n"), nil); err != nil {
		t.Fatal(err)
	}
	p, err := h.Install(place, commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, bytes.Replace(p.After, []byte("a b"), []byte("ab"), 1), nil); err != nil {
		t.Fatal(err)
	}
	if p, err = h.Uninstall(place, "/opt/interlock"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{\n  \"model\": \"ab\"\n}\n", string(p.After)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

// TestCommandsPerSystem shows what is registered where paths need quoting.
func TestCommandsPerSystem(t *testing.T) {
	for _, c := range []struct{ harness, goos, binary, want string }{
		{"codex", "darwin", "/Applications/My Tools/interlock", `"command":"'/Applications/My Tools/interlock' hook --agent codex`},
		{"codex", "windows", `C:\Program Files\interlock.exe`, `"command_windows":"\"C:\\Program Files\\interlock.exe\" hook --agent codex`},
		{"gemini", "windows", `C:\interlock.exe`, `"command":"C:\\interlock.exe hook --agent gemini`},
		{"copilot", "linux", `/a'b/interlock`, `"bash":"'/a'\\''b/interlock' hook --agent copilot`},
		{"copilot", "windows", `C:\a b\interlock.exe`, `"powershell":"& 'C:\\a b\\interlock.exe' 'hook'`},
		{"claude", "linux", `/opt/interlock-hook`, `"command":"/opt/interlock-hook hook --agent claude --event PreToolUse || { test -x ` +
			`/opt/interlock-hook || echo '`},
		{"claude", "linux", `/opt/inter lock`, `"command":"'/opt/inter lock' hook --agent claude --event PreToolUse || { test -x ` +
			`'/opt/inter lock' || echo '`},
		{"claude", "linux", `/opt/interlock`, `>&2; exit 2; }","timeout":120`},
		{"codex", "linux", `/opt/interlock`, `"command":"/opt/interlock hook --agent codex --event PreToolUse || exit 2"`},
		{"claude", "windows", `C:\a b\interlock.exe`, `"command":"C:\\a b\\interlock.exe","args":["hook","--agent","claude"`},
	} {
		h := harnessNamed(t, c.harness)
		entry := encoded(h.entry(h.Events[0], c.goos, Command{c.binary, HookArgs(c.harness, h.Events[0], "", false)}), "", "")
		if !strings.Contains(string(entry), c.want) {
			t.Errorf("%s on %s: %s", c.harness, c.goos, entry)
		}
	}
}

// TestPlaces: the directories that harnesses let their users move, and projects.
func TestPlaces(t *testing.T) {
	env := func(values map[string]string) func(string) string { return func(k string) string { return values[k] } }
	for _, c := range []struct {
		harness string
		place   Place
		want    string
	}{
		{"claude", Place{Home: "/u"}, "/u/.claude/settings.json"},
		{"claude", Place{Home: "/u", Getenv: env(map[string]string{"CLAUDE_CONFIG_DIR": "/c"})}, "/c/settings.json"},
		{"claude", Place{Home: "/u", Getenv: env(map[string]string{"CLAUDE_CONFIG_DIR": "c"})}, "/u/.claude/settings.json"},
		{"claude", Place{Home: "/u", Project: "/p"}, "/p/.claude/settings.json"},
		{"codex", Place{Home: "/u"}, "/u/.codex/hooks.json"},
		{"codex", Place{Home: "/u", Getenv: env(map[string]string{"CODEX_HOME": "/c"})}, "/c/hooks.json"},
		{"gemini", Place{Home: "/u", Getenv: env(map[string]string{"GEMINI_CLI_HOME": "/c"})}, "/c/.gemini/settings.json"},
		{"gemini", Place{Home: "/u", Project: "/p", Getenv: env(map[string]string{"GEMINI_CLI_HOME": "/c"})}, "/p/.gemini/settings.json"},
		{"qwen", Place{Home: "/u", Getenv: env(map[string]string{"QWEN_HOME": "/c"})}, "/c/settings.json"},
		{"gemini", Place{Home: "/u"}, "/u/.gemini/settings.json"},
		{"cursor", Place{Home: "/u"}, "/u/.cursor/hooks.json"},
		{"opencode", Place{Home: "/u"}, "/u/.config/opencode/plugins/interlock.js"},
		{"opencode", Place{Home: "/u", Getenv: env(map[string]string{"XDG_CONFIG_HOME": "/c", "OPENCODE_CONFIG_DIR": "/d"})},
			"/c/opencode/plugins/interlock.js"},
		{"opencode", Place{Home: "/u", Project: "/p", Getenv: env(map[string]string{"XDG_CONFIG_HOME": "/c"})}, "/p/.opencode/plugins/interlock.js"},
		{"copilot", Place{Home: "/u"}, "/u/.copilot/hooks/interlock.json"},
		{"copilot", Place{Home: "/u", Project: "/p"}, "/p/.github/hooks/interlock.json"},
	} {
		if got := harnessNamed(t, c.harness).Settings(c.place); got != c.want {
			t.Errorf("%s: %s, want %s", c.harness, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	p := Plan{Path: "/f", Before: []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), After: []byte("1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n")}
	want := "--- /f\n+++ /f\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n"
	if diff := cmp.Diff(want, p.Diff()); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	if got := (Plan{Path: "/f", After: []byte("a\n")}).Diff(); got != "--- /dev/null\n+++ /f\n@@ -0,0 +1,1 @@\n+a\n" {
		t.Errorf("%q", got)
	}
	if got := (Plan{Before: []byte("a"), After: []byte("a")}).Diff(); got != "" {
		t.Errorf("%q", got)
	}
}
