package sdk

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// languages are the programs that play an agent with each package.
func languages(t *testing.T) map[string]func(script string, args ...string) *exec.Cmd {
	t.Helper()
	// Python runs from the wheel, as it would be installed.
	wheels := t.TempDir()
	build := exec.Command("python3", "-c", "import backend, sys; print(backend.build_wheel(sys.argv[1]))", wheels)
	build.Dir = "../../sdk/python"
	build.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	name, err := build.Output()
	if err != nil {
		t.Fatalf("building the wheel: %v", err)
	}
	wheel := filepath.Join(wheels, strings.TrimSpace(string(name)))
	return map[string]func(string, ...string) *exec.Cmd{
		"python": func(script string, args ...string) *exec.Cmd {
			return exec.Command("python3", append([]string{"-I", "-c", "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); " +
				"sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')", wheel, "testdata/" + script + ".py"}, args...)...)
		},
		"typescript": func(script string, args ...string) *exec.Cmd {
			return node(t, "testdata/"+script+".mjs", args...)
		},
	}
}

// node runs a script that finds the compiled package and the frameworks beside it.
func node(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	// Modules are looked for beside the script and above it, and nowhere else.
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(script))
	modules := filepath.Join(dir, "node_modules")
	err = os.WriteFile(file, text, 0o600)
	if err == nil {
		err = os.Mkdir(modules, 0o700)
	}
	entries, _ := os.ReadDir(here)
	for _, entry := range entries {
		if err == nil && !strings.HasPrefix(entry.Name(), ".") {
			err = os.Symlink(filepath.Join(here, entry.Name()), filepath.Join(modules, entry.Name()))
		}
	}
	if err == nil {
		err = os.Symlink(compiled, filepath.Join(modules, "interlock-client"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command("../clients/node_modules/.bin/node", append([]string{"--preserve-symlinks", file}, args...)...)
}

// TestAgents: what is allowed runs and is reported; what is denied does not run; a question waits for an operator, whose yes lets it
// run once and whose no does not; and once the server is gone nothing runs.
func TestAgents(t *testing.T) {
	for language, start := range languages(t) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			a := o.start(t, start("agent"))
			a.says("allowed True", "ran ls", "denied fs.delete-root", "refused fs.delete-root")

			a.tell()
			yes := o.asked(t, "git push --force origin yes")
			o.interlock(t, "approve", yes, "--key", o.key)
			a.says("ran git push --force origin yes")

			a.tell()
			no := o.asked(t, "git push --force origin no")
			o.interlock(t, "deny", no, "--key", o.key)
			a.says("refused client.answered")

			a.tell()
			a.says("ran ls async", "failed as it should", "refused client.call")

			o.kill()
			a.tell()
			a.says("refused client.unavailable", "refused client.unavailable async", "could not report", "end")

			o.up(t) // the log is whole, and has what was done
			events := o.interlock(t, "audit", "list", "--type", "OUTCOME", "--json")
			if got := strings.Count(events, `"outcome":"success"`); got != 4 {
				t.Errorf("%d successes are recorded, want 4:\n%s", got, events)
			}
			if got := strings.Count(events, `"outcome":"failure"`); got != 1 {
				t.Errorf("%d failures are recorded, want 1:\n%s", got, events)
			}
		})
	}
}

// TestNothingElseIsAYes: an answer that is no allow of Interlock's is a no, whatever it looks like.
func TestNothingElseIsAYes(t *testing.T) {
	const allow = `{"answer":"allow","verdict":"allow","findings":[],"event_id":"e1"}`
	answers := []struct {
		name, rule string
		answer     func(w http.ResponseWriter, r *http.Request)
	}{
		{"no event", "", text(200, `{"answer":"allow","verdict":"allow","findings":[]}`)},
		{"an empty event", "", text(200, `{"answer":"allow","verdict":"allow","findings":[],"event_id":""}`)},
		{"an event that is no text", "", text(200, `{"answer":"allow","verdict":"allow","event_id":7}`)},
		{"another status", "", text(503, allow)},
		{"created", "", text(201, allow)},
		{"another case", "", text(200, `{"answer":"Allow","event_id":"e1"}`)},
		{"true", "", text(200, `{"answer":true,"event_id":"e1"}`)},
		{"an error beside it", "client.internal", text(200, `{"answer":"allow","event_id":"e1","error":{"code":"internal","message":"no"}}`)},
		{"no JSON", "client.unavailable", text(200, "allow")},
		{"a list", "client.unavailable", text(200, "["+allow+"]")},
		{"null", "client.unavailable", text(200, "null")},
		{"nothing", "client.unavailable", text(200, "")},
		{"half of it", "client.unavailable", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(allow)+1))
			fmt.Fprint(w, allow)
		}},
		{"a redirect", "client.unavailable", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				fmt.Fprint(w, allow)
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}},
		{"silence", "client.unavailable", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // before that nobody looks whether the caller has gone
			<-r.Context().Done()
		}},
	}
	for language, start := range languages(t) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, a := range answers {
				server := httptest.NewServer(http.HandlerFunc(a.answer))
				o := &office{url: server.URL, token: "ilk_none", env: os.Environ()}
				agent := o.start(t, start("once"), "NODE_NO_WARNINGS=1")
				if got := agent.line(); got != "refused "+a.rule {
					t.Errorf("%s: the agent said %q, want a refusal by %q", a.name, got, a.rule)
				}
				server.CloseClientConnections()
				server.Close()
			}
			yes := httptest.NewServer(text(200, allow)) // and this is one, so that the others are no for their own sake
			defer yes.Close()
			(&office{url: yes.URL, env: os.Environ()}).start(t, start("once")).says("ran")
		})
	}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// TestWheelIsReproducible: equal sources give equal bytes.
func TestWheelIsReproducible(t *testing.T) {
	var sums []string
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		build := exec.CommandContext(ctx, "python3", "-c", `import backend, hashlib, tempfile, pathlib
with tempfile.TemporaryDirectory() as d:
    for make in (backend.build_wheel, backend.build_sdist):
        print(hashlib.sha256((pathlib.Path(d) / make(d)).read_bytes()).hexdigest())`)
		build.Dir, build.Env = "../../sdk/python", append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		out, err := build.Output()
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(out))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ: %q", sums)
	}
}
