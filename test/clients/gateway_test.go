package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/product"
)

// script returns the absolute path of an installed package's script.
func script(t *testing.T, name string) (runtime, path string) {
	t.Helper()
	command := node(t, nil, name)
	path, err := filepath.Abs(command.Args[1])
	if err != nil {
		t.Fatal(err)
	}
	return command.Path, path
}

// TestGatewayStopsWhatIsRefused has the Go SDK's client use a real server through the gateway: ordinary work is unchanged, and
// what would harm is not done.
func TestGatewayStopsWhatIsRefused(t *testing.T) {
	t.Parallel()
	for _, revision := range mcp.SupportedProtocolVersions() {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			dir := t.TempDir()
			runtime, path := script(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha"), 0o600); err != nil {
				t.Fatal(err)
			}
			gateway := exec.Command(product.Interlock(), "gateway", "--name", "fs", "--", runtime, path, dir)
			gateway.Env, gateway.Dir = env, dir
			session, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(),
				&mcp.CommandTransport{Command: gateway}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the revision is %s", got)
			}
			call := func(tool string, arguments map[string]any) string {
				t.Helper()
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				text, err := json.Marshal(result)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			if read := call("fs.read_text_file", map[string]any{"path": filepath.Join(dir, "a.txt")}); !strings.Contains(read, "alpha") {
				t.Errorf("reading: %s", read)
			}
			if wrote := call("fs.write_file", map[string]any{"path": filepath.Join(dir, "b.txt"), "content": "beta"}); strings.Contains(wrote, "isError") {
				t.Errorf("writing: %s", wrote)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(b) != "beta" {
				t.Errorf("written is %q, %v", b, err)
			}
			if refused := call("fs.write_file",
				map[string]any{"path": filepath.Join(home, "interlock.yaml"), "content": "mode: disabled"}); !strings.Contains(refused, `"status":"denied"`) {
				t.Errorf("writing Interlock's settings: %s", refused)
			}
			output(t, env, "audit", "verify")
		})
	}
}

// TestGatewayRefusesInTheToolsForm has a client that holds results against the tool's outputSchema, as the filesystem server
// declares one for each of its tools, read why a call was refused.
func TestGatewayRefusesInTheToolsForm(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			dir := t.TempDir()
			runtime, path := script(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
			i := inspector{env: env, flags: []string{"--protocol-era", era},
				server: []string{product.Interlock(), "gateway", "--home", home, "--name", "fs", "--", runtime, path, dir}}
			result := i.inspect(t, 5, "tools/call", "--tool-name", "fs.write_file", "--tool-arg",
				"path="+filepath.Join(home, "interlock.yaml"), "--tool-arg", "content=mode: disabled")
			content, _ := result["content"].([]any)
			meta, _ := result["_meta"].(map[string]any)
			detail, _ := meta["interlock/answer"].(map[string]any)
			if len(content) != 1 || result["isError"] != true || result["structuredContent"] != nil ||
				detail["status"] != "denied" || detail["code"] != "policy_denied" {
				t.Fatalf("the refusal is %v", result)
			}
			if text, _ := content[0].(map[string]any)["text"].(string); !strings.HasPrefix(text, "Interlock did not let this call through: ") {
				t.Errorf("the model reads %q", text)
			}
		})
	}
}
