package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/wait"
)

// TestGatewayAsInstalled moves a client's servers behind the gateway with the one command, starts what then stands in the client's
// settings, and works: ordinary work is as before, what would last waits for a human and then passes, what nobody may do stops.
func TestGatewayAsInstalled(t *testing.T) {
	t.Parallel()
	_, env := newHome(t)
	user, project := t.TempDir(), workspace(t)
	env = append(env, "HOME="+user)
	settings := filepath.Join(user, ".claude.json")
	runtime, files := script(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	_, everything := script(t, "@modelcontextprotocol/server-everything/dist/index.js")
	before, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"files":      map[string]any{"command": runtime, "args": []string{files, project}},
		"everything": map[string]any{"command": runtime, "args": []string{everything}}}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, before, 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, env, "install", "gateway", "--client", "claude-code")
	if said := output(t, env, "doctor"); !strings.Contains(said, "files answers through the gateway, 14 tools") ||
		!strings.Contains(said, "everything answers through the gateway, 17 tools") {
		t.Errorf("doctor says\n%s", said)
	}
	key := governed(t, env)

	line := installed(t, settings)
	command := exec.Command(line[0], line[1:]...)
	command.Env, command.Dir = env, project
	session, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(tool string, arguments map[string]any) string {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(result)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	for _, work := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"files.read_text_file", map[string]any{"path": filepath.Join(project, "a.txt")}, "alpha"},
		{"files.write_file", map[string]any{"path": filepath.Join(project, "b.txt"), "content": "beta"}, "Successfully wrote"},
		{"everything.get-sum", map[string]any{"a": 1, "b": 2}, "is 3"},
		{"files.write_file", map[string]any{"path": "/dev/sda", "content": "x"}, `"status":"denied"`},
		{"files.write_file", map[string]any{"path": settings, "content": "{}"}, `"status":"denied"`},
	} {
		if got := call(work.tool, work.arguments); !strings.Contains(got, work.want) ||
			strings.Contains(got, "isError") != strings.Contains(work.want, "denied") {
			t.Errorf("%s %v: %s", work.tool, work.arguments, got)
		}
	}
	// What runs again later by itself waits; the call is held meanwhile, and passes with the operator's answer.
	later := filepath.Join(project, ".git", "hooks", "post-commit")
	if err := os.MkdirAll(filepath.Dir(later), 0o755); err != nil {
		t.Fatal(err)
	}
	came := make(chan string, 1)
	go func() {
		came <- call("files.write_file", map[string]any{"path": later, "content": "make notes\n"})
	}()
	output(t, env, "approve", waitsFor(t, env), "--key", key, "--reason", "I asked for it")
	if got := <-came; !strings.Contains(got, "Successfully wrote") {
		t.Errorf("what was approved: %s", got)
	}
	if written, err := os.ReadFile(later); err != nil || string(written) != "make notes\n" {
		t.Errorf("written is %q, %v", written, err)
	}
	i := inspector{env: env, server: line}
	if sum, err := json.Marshal(i.inspect(t, 0, "tools/call", "--tool-name", "everything.get-sum", "--tool-arg", "a=2",
		"--tool-arg", "b=3")); err != nil || !strings.Contains(string(sum), "is 5") {
		t.Errorf("the Inspector: %s, %v", sum, err)
	}
	session.Close()
	output(t, env, "audit", "verify")
	output(t, env, "uninstall", "gateway", "--client", "claude-code")
	after, err := os.ReadFile(settings)
	if diff := cmp.Diff(string(before), string(after)); diff != "" || err != nil {
		t.Errorf("the settings afterwards (-before +after):\n%s%v", diff, err)
	}
}

// installed is the command of the one server in a client's settings.
func installed(t *testing.T, settings string) []string {
	t.Helper()
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	var client struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &client); err != nil || len(client.Servers) != 1 {
		t.Fatalf("the client's settings: %v\n%s", err, text)
	}
	entry := client.Servers["interlock"]
	return append([]string{entry.Command}, entry.Args...)
}

var requestID = regexp.MustCompile(`apr_[0-9a-f]+`)

// waitsFor is the request that waits for an operator, once there is one.
func waitsFor(t *testing.T, env []string) string {
	t.Helper()
	id := ""
	wait.Until(t, "a request waits for an operator", func() bool {
		id = requestID.FindString(output(t, env, "pending"))
		return id != ""
	})
	return id
}
