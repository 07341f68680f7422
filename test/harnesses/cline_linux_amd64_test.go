package harnesses

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCline is run where Cline's program is pinned for: Linux on amd64. It is not driven through the scenes of the others,
// because a refusal ends Cline's run and its model is never told why. The scene behind the gateway is missing because
// Interlock moves no servers of Cline's.
func TestCline(t *testing.T) {
	for name, play := range map[string]func(t *testing.T, d *desk){
		"what is harmless runs":         clineHarmless,
		"what is refused does not":      clineRefused,
		"an operator's yes counts once": clineYes,
		"what needs a sandbox gets one": clineSandbox,
		"without its store nothing":     clineWithoutStore,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.set("CLINE_SESSION_BACKEND_MODE", "local") // else a daemon outlives the run
			d.write("~/.cline/data/settings/global-settings.json", `{"telemetryOptOut":true,"autoUpdateEnabled":false}`)
			printed := d.interlock("install", "cline", "--print")
			for _, script := range strings.Split(printed, "\n#!/bin/sh\n")[1:] {
				line, _, _ := strings.Cut(script, "\n")
				event := regexp.MustCompile(`--event (\w+)`).FindStringSubmatch(line)[1]
				d.write("~/Documents/Cline/Hooks/"+event, "#!/bin/sh\n"+line+"\n")
				if err := os.Chmod(d.path("~/Documents/Cline/Hooks/"+event), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			play(t, d)
		})
	}
}

// cline lets Cline's model ask for the calls, and returns what it was told of them and whether it came to its last words.
func (d *desk) cline(calls ...toolCall) (told []string, ended bool) {
	d.t.Helper()
	m := newModel(d.t, calls...)
	d.write("~/.cline/data/settings/providers.json", compact(map[string]any{"version": 1, "lastUsedProvider": "openai-compatible",
		"modes": map[string]any{}, "providers": map[string]any{"openai-compatible": map[string]any{"updatedAt": "2026-11-21T00:00:00Z",
			"tokenSource": "manual", "settings": map[string]any{"provider": "openai-compatible", "apiKey": "of-nobody", "model": "any",
				"baseUrl": m.URL + "/v1"}}}}))
	out := d.must(harness(d.t, "cline"), "--retries", "1", "Do it.")
	return m.told(), strings.Contains(out, lastWords)
}

func clineShell(commands ...string) toolCall {
	return toolCall{"run_commands", map[string]any{"commands": commands}}
}

// refused has the calls made one a run, and wants each to end it.
func (d *desk) refused(calls ...toolCall) {
	d.t.Helper()
	for _, call := range calls {
		if told, ended := d.cline(call); ended || len(told) > 0 {
			d.t.Errorf("%v did not end the run: the model was told %q", call, told)
		}
	}
}

func clineHarmless(t *testing.T, d *desk) {
	notes := d.path("notes.txt")
	told, ended := d.cline(
		clineShell("echo hello > made.txt"),
		clineShell("ls", "exit 3"),
		toolCall{"editor", map[string]any{"path": notes, "new_text": "one\n"}},
		toolCall{"editor", map[string]any{"path": notes, "old_text": "one", "new_text": "two"}},
		toolCall{"read_files", map[string]any{"files": []any{map[string]any{"path": notes}, map[string]any{"path": d.path("made.txt")}}}},
		toolCall{"search_codebase", map[string]any{"queries": []string{"two"}}},
		toolCall{"team_status", map[string]any{}},
	)
	if !ended || len(told) != 7 || !strings.Contains(told[4], "two") || !strings.Contains(told[4], "hello") {
		t.Fatalf("it ended: %v; the model was told %q", ended, told)
	}
	const allow, well, badly = "cline: DECISION allow", "cline: OUTCOME success", "cline: OUTCOME failure"
	d.wantLog(allow, well, allow, allow, badly, badly, allow, well, allow, well, allow, allow, well, well, allow, well, allow, well)
}

// The home whose deletion is asked for is a directory of the test.
func clineRefused(t *testing.T, d *desk) {
	d.write("~/kept.txt", "mine")
	d.write("~/.ssh/id_ed25519", "not for models\n")
	key := d.path("~/.ssh/id_ed25519")
	d.refused(clineShell("touch ran.txt; rm -rf "+d.home), clineShell("touch ran.txt", "rm -rf "+d.home),
		toolCall{"run_commands", map[string]any{"commands": map[string]any{"command": "rm", "args": []string{"-rf", d.home}}}},
		toolCall{"read_files", map[string]any{"files": []any{map[string]any{"path": key}}}},
		toolCall{"read_files", map[string]any{"paths": key}}, clineShell("cat ~/.ssh/id_ed25519"),
		toolCall{"editor", map[string]any{"path": d.path("~/.ssh/authorized_keys"), "new_text": "ssh-ed25519 AAAA eve\n"}})
	if d.exists("ran.txt") || !d.exists("~/kept.txt") || d.exists("~/.ssh/authorized_keys") {
		t.Error("it ran")
	}
}

// pending is the request that waits.
func (d *desk) pending() string {
	d.t.Helper()
	found := regexp.MustCompile(`apr_[0-9a-f]{12}`).FindString(d.interlock("pending"))
	if found == "" {
		d.t.Fatal("no request waits")
	}
	return found
}

func clineYes(t *testing.T, d *desk) {
	key := d.addOperator()
	push := clineShell("echo ran >> ran.txt; git push --force origin main")
	d.refused(push)
	d.interlock("approve", d.pending(), "--key", key)
	d.cline(push)
	d.refused(push)
	if content, err := os.ReadFile(d.path("ran.txt")); string(content) != "ran\n" {
		t.Fatalf("ran.txt holds %q (%v): it should have run once", content, err)
	}
}

func clineSandbox(t *testing.T, d *desk) {
	key := d.addOperator()
	d.write("build/output", "x")
	d.write("~/kept.txt", "of the home")
	d.writeState("rules/own.yaml", sandboxed)
	clean := clineShell("rm -rf build && ! cat " + d.path("~/kept.txt") + " && echo cleaned")
	d.refused(clean)
	if !d.exists("build") {
		t.Fatal("it ran unasked")
	}
	d.interlock("approve", d.pending(), "--key", key)
	told, ended := d.cline(clean)
	if !ended || len(told) != 1 || !strings.Contains(told[0], "cleaned") || strings.Contains(told[0], "of the home") || d.exists("build") {
		t.Fatalf("it did not run, or not in a sandbox: %q", told)
	}
	d.wantLog("olga: IDENTITY_CHANGE", "cline: SAFETY_REVIEW_REQUEST deny", "olga: APPROVAL", "cline: SAFETY_REVIEW_REQUEST allow",
		"cline: SAFETY_REVIEW_REQUEST allow", "cline: OUTCOME success", "cline: OUTCOME success")
}

func clineWithoutStore(t *testing.T, d *desk) {
	d.cline(clineShell("echo hello > made.txt"))
	for _, name := range []string{"interlock.db", "interlock.db-wal", "interlock.db-shm"} {
		if err := os.Remove(filepath.Join(d.state, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	d.refused(clineShell("echo hello > other.txt"))
	if !d.exists("made.txt") || d.exists("other.txt") {
		t.Error("it ran without its store, or not with it")
	}
}
