package otel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"interlock/test/product"
	"interlock/test/wait"
)

// A program is one that runs beside the test, with all that it has said.
type program struct {
	*exec.Cmd
	mutex sync.Mutex
	said  bytes.Buffer
}

func (p *program) Write(text []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.said.Write(text)
}

func (p *program) text() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.said.String()
}

func build(t *testing.T, dir, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, pkg)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s can't be built (`make setup` fetches what it needs): %v\n%s", pkg, err, out)
	}
	return path
}

func start(t *testing.T, env []string, name string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(name, args...)}
	p.Env, p.Stdout, p.Stderr = env, p, p
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		_ = p.Wait()
	})
	return p
}

// within waits for something that comes by itself.
func within(t *testing.T, what string, there func() bool, said ...*program) {
	t.Helper()
	if !wait.Holds(there) {
		for _, p := range said {
			t.Logf("%s said %s", p.Path, p.text())
		}
		t.Fatalf("waited in vain for %s", what)
	}
}

func written(t *testing.T, file string) string {
	t.Helper()
	var text []byte
	within(t, file, func() bool {
		text, _ = os.ReadFile(file)
		return len(bytes.TrimSpace(text)) > 0
	})
	return string(text)
}

// TestSDK: what OpenTelemetry's SDK reports, cumulatively and as deltas, packed and again, is charged once and without anything else
// that it says; and a collector that uses OpenTelemetry's own definitions reads the decisions and numbers that Interlock tells.
func TestSDK(t *testing.T) {
	product.Look("test/otel/_sdk")
	interlock, sdk := product.Interlock(), build(t, "_sdk", ".")
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	env := append(os.Environ(), "INTERLOCK_HOME="+home, "HOME="+dir)
	collector := start(t, env, sdk, "receive", filepath.Join(dir, "collector"))
	at := written(t, filepath.Join(dir, "collector"))
	for file, text := range map[string]string{
		"interlock.yaml":     "otlp_to: {to: \"http://" + at + "\", every: 600ms}\n",
		"rules/budgets.yaml": "budgets:\n  - {id: team.tokens, per: agent, measure: tokens, most: 1000, within: 1h}\n",
	} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(stdin string, name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Env, command.Stdin = env, strings.NewReader(stdin)
		var failed bytes.Buffer
		command.Stderr = &failed
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, failed.Bytes())
		}
		return string(out)
	}
	token := regexp.MustCompile(`ilu_[A-Za-z0-9_.-]+`).FindString(run("", interlock, "install", "claude", "--telemetry", "--print"))
	server := start(t, env, interlock, "up", "--listen", "127.0.0.1:0", "--ready", filepath.Join(dir, "ready"))
	address := regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).FindString(written(t, filepath.Join(dir, "ready")))

	run("", sdk, "send", "http://"+address+"/otlp", token)
	var have struct {
		Budgets []struct {
			Of   []string `json:"of"`
			Used int      `json:"used"`
		} `json:"budgets"`
	}
	if text := run("", interlock, "budgets", "--json"); json.Unmarshal([]byte(text), &have) != nil || len(have.Budgets) != 1 ||
		have.Budgets[0].Used != 480 || have.Budgets[0].Of[0] != "claude" {
		t.Errorf("400 cumulative, 50 as deltas and 30 of a span came to %s", text)
	}
	if log := run("", interlock, "audit", "list", "--json"); strings.Contains(log, "dana@example.com") || strings.Contains(log, "do not keep this") ||
		!strings.Contains(log, `"USAGE_REPORT"`) {
		t.Errorf("the log holds more than numbers: %s", log)
	}

	run(`{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf / # hush"}}`,
		interlock, "hook", "--agent", "claude")
	within(t, "the decision and the numbers", func() bool {
		told := collector.text()
		return strings.Contains(told, "span decide shell 16 8 ") && strings.Contains(told, "interlock.rule=fs.delete-root") &&
			strings.Contains(told, "interlock.agent=claude") && strings.Contains(told, "sum interlock.decisions 1") &&
			strings.Contains(told, "histogram interlock.decision.duration 1") && strings.Contains(told, "gauge interlock.budget.used 0.48")
	}, collector, server)
	dashboard(t, "http://"+address+"/metrics")
	if told := collector.text(); strings.Contains(told, "hush") || strings.Contains(told, "bad ") {
		t.Errorf("the collector was told %s", told)
	}
	if strings.Contains(server.text(), token) {
		t.Errorf("the server's log holds a token: %s", server.text())
	}
}

// dashboard holds the names in the dashboard against those that a server tells which has decided.
func dashboard(t *testing.T, metrics string) {
	t.Helper()
	answer, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	board, err := os.ReadFile("../../docs/grafana/interlock.json")
	if err != nil {
		t.Fatal(err)
	}
	var has struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(board, &has); err != nil || len(has.Panels) < 5 {
		t.Fatalf("%d panels: %v", len(has.Panels), err)
	}
	for _, panel := range has.Panels {
		for _, target := range panel.Targets {
			names := regexp.MustCompile(`(interlock|process)_[a-z_]+`).FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s shows nothing of Interlock's: %s", panel.Title, target.Expr)
			}
			for _, name := range names {
				if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).Match(told) {
					t.Errorf("%s shows %s, which is not told", panel.Title, name)
				}
			}
		}
	}
}
