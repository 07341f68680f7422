package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bound is a home with Claude Code's settings as a move left them, but for what is changed, and a project below it.
func bound(t *testing.T, change func(settings string) string, files map[string]string) ([]string, error) {
	t.Helper()
	home := t.TempDir()
	client, _ := ClientByName("claude-code")
	place := Place{Home: home, GOOS: "linux", System: filepath.Join(home, "etc")}
	path := client.Settings(place)
	write := func(path, content string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, `{"projects": {"/p": {"mcpServers": {}, "enabledMcpjsonServers": []}}, "mcpServers": {"files": {"command": "files"}}}`)
	move, err := client.Move(place, Command{Binary: "/opt/interlock", Args: []string{"gateway", "--client", "claude-code", "--home", "/h"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(path, change(string(move.After)))
	for name, content := range files {
		write(filepath.Join(home, name), content)
	}
	return client.Bound(place, EntryName, move.After, []string{filepath.Join(home, "project", "sub")})
}

func TestBound(t *testing.T) {
	same := func(s string) string { return s }
	replaced := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	server := func(name string) string { return `{"mcpServers": {"` + name + `": {"command": "/opt/interlock"}}}` }
	for _, test := range []struct {
		name   string
		change func(string) string
		files  map[string]string
		want   string // part of the error; empty: it is bound
	}{
		{"as it was left", same, nil, ""},
		{"other servers elsewhere", same, map[string]string{"project/.mcp.json": server("files")}, ""},
		{"another command", replaced(`"/opt/interlock"`, `"/opt/other"`), nil, "as `interlock install gateway` left it"},
		{"another home", replaced(`"/h"`, `"/i"`), nil, "as `interlock install gateway` left it"},
		{"more arguments", replaced(`"/h"`, `"/h", "--mode=monitoring"`), nil, "as `interlock install gateway` left it"},
		{"an environment", replaced(`"args"`, `"env": {"INTERLOCK_HOME": "/i"}, "args"`), nil, "as `interlock install gateway` left it"},
		{"gone", replaced(`"interlock"`, `"other"`), nil, "as `interlock install gateway` left it"},
		{"twice", replaced(`"mcpServers": {"interlock`, `"mcpServers": {"interlock": {}, "interlock`), nil, "twice"},
		{"a name that begins alike", replaced(`"mcpServers": {"interlock`, `"mcpServers": {"Inter lock__files": {}, "interlock`), nil, "could be taken for"},
		{"of one project", replaced(`"mcpServers": {},`, `"mcpServers": {"interlock": {}},`), nil, "for /p"},
		{"a yes to a project's", replaced(`Servers": []`, `Servers": ["interlock"]`), nil, "says yes"},
		{"of the project", same, map[string]string{"project/.mcp.json": server("interlock")}, "could be taken for"},
		{"where it works", same, map[string]string{"project/sub/.mcp.json": server("interlock")}, "could be taken for"},
		{"above the project", same, map[string]string{".mcp.json": server("Interlock-2")}, "could be taken for"},
		{"an administrator's", same, map[string]string{"etc/claude-code/managed-mcp.json": "{}"}, "may keep the client"},
		{"unreadable", same, map[string]string{"project/.mcp.json": "{"}, "can't be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			argv, err := bound(t, test.change, test.files)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			if diff := cmp.Diff([]string{"/opt/interlock", "gateway", "--client", "claude-code", "--home", "/h"}, argv); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Of other clients it is not known where they could have servers from.
func TestBoundKnowsOneClient(t *testing.T) {
	for _, name := range Clients() {
		client, _ := ClientByName(name)
		if _, err := client.Bound(Place{Home: t.TempDir(), GOOS: "linux"}, EntryName, nil, nil); err == nil {
			t.Errorf("%s is bound", name)
		}
	}
}
