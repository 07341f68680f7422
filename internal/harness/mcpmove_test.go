package harness

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// moving is a place in which one client's settings lie.
func moving(t *testing.T, c Client, before []byte) (Place, Command) {
	t.Helper()
	home := t.TempDir()
	place := Place{Home: home, GOOS: "linux", Getenv: func(string) string { return "" }}
	if c.Name == "vscode" {
		place.Project = filepath.Join(home, "project")
	}
	if before != nil {
		path := c.Settings(place)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return place, Command{"/opt/interlock", []string{"gateway", "--client", c.Name, "--home", "/data"}}
}

func setFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func clientNamed(t *testing.T, name string) Client {
	t.Helper()
	c, ok := ClientByName(name)
	if !ok {
		t.Fatalf("no client is named %q", name)
	}
	return c
}

// described writes what was read of a server, for golden files.
func described(e ServerEntry, home string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s: %q %q dir=%q url=%q disabled=%v ignored=%v\n", e.Name, e.As, e.Command, e.Args, e.Dir, e.URL, e.Disabled, e.Ignored)
	for _, values := range []map[string]EntryValue{e.Env, e.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "  %s: %+v\n", name, values[name])
		}
	}
	return strings.ReplaceAll(b.String(), home, "HOME")
}

// TestMoving shows for each file of testdata/mcp what moving servers behind the gateway makes of it. What returning them makes of
// that is always what was there before. The first part of a file's name is the client.
func TestMoving(t *testing.T) {
	files, err := filepath.Glob("testdata/mcp/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(base, func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, client := range Clients() {
				if strings.HasPrefix(base, client) {
					base = client
				}
			}
			c := clientNamed(t, base)
			var before []byte
			var got []txtar.File
			if len(archive.Files) > 0 && archive.Files[0].Name == "before" {
				before = unescaped(archive.Files[0].Data)
				got = archive.Files[:1:1]
			}
			place, command := moving(t, c, before)
			var leave []string
			if c.Name == "windsurf" {
				leave = []string{"stay"}
			}
			m, err := c.Move(place, command, leave, nil)
			if err != nil {
				got = append(got, txtar.File{Name: "error", Data: []byte(strings.ReplaceAll(err.Error(), place.Home, "HOME") + "\n")})
			} else {
				var entries string
				for _, e := range m.Entries {
					entries += described(e, place.Home)
				}
				got = append(got, txtar.File{Name: "entries", Data: []byte(entries)}, txtar.File{Name: "installed", Data: escaped(m.After)})
				checkMoved(t, c, place, command, leave, m)
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

// checkMoved holds a move against what must be so for all of them.
func checkMoved(t *testing.T, c Client, place Place, command Command, leave []string, m Move) {
	t.Helper()
	setFile(t, m.Path, m.After)
	earlier := Moved{Base: m.Base, After: m.After}
	again, err := c.Move(place, command, leave, &earlier)
	if err != nil || again.Changes() {
		t.Errorf("moving again changes something: %v\n%s", err, again.Diff())
	}
	back, err := c.Return(place, earlier, false)
	if err != nil || !bytes.Equal(back.After, m.Before) || (back.After == nil) != (m.Before == nil) {
		t.Errorf("what comes back is not what was: %v\n%s", err, back.After)
	}
	if has, err := c.HasGateway(place); err != nil || !has {
		t.Errorf("the gateway is not found: %v", err)
	}
	if others, err := c.Others(place); err != nil || len(others) != len(leave) {
		t.Errorf("%v are found beside the gateway: %v", others, err)
	}
}

// What changes in the settings after a move stays when the servers come back.
func TestReturningToSettingsThatChanged(t *testing.T) {
	for name, test := range map[string]struct{ client, before, edit, to, want string }{
		"JSON, another part": {"claude-code", "{\n  \"n\": 1,\n  \"mcpServers\": {\n    \"a\":   {\"command\": \"a\"} // odd\n  }\n}\n", `"n": 1`, `"n": 2`,
			"{\n  \"n\": 2,\n  \"mcpServers\": {\n    \"a\":   {\"command\": \"a\"} // odd\n  }\n}\n"},
		"JSON, no servers before": {"cursor", `{"n": 1}`, `1`, `2`, `{"n": 2}`},
		"TOML, another part": {"codex", "n = 1\n[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.env]\nB = \"c\"\n\n[z]\ny = 1\n", "n = 1", "n = 2",
			"n = 2\n\n[z]\ny = 1\n\n[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.env]\nB = \"c\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := clientNamed(t, test.client)
			place, command := moving(t, c, []byte(test.before))
			m, err := c.Move(place, command, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			setFile(t, m.Path, bytes.Replace(m.After, []byte(test.edit), []byte(test.to), 1))
			back, err := c.Return(place, Moved{m.Base, m.After}, false)
			if diff := cmp.Diff(test.want, string(back.After)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Servers that were added after a move are not lost: returning refuses, or keeps them, and moving again takes them along.
func TestServersAddedAfterAMove(t *testing.T) {
	for client, text := range map[string][3]string{
		"cursor": {`{"mcpServers": {"a": {"command": "a"}}}`,
			`{"mcpServers": {"interlock": {"command": "/opt/interlock", "args": ["gateway", "--client", "cursor", "--home", "/data"]}, "b": {"command": "b"}}}`,
			`{"mcpServers": {"b": {"command": "b"},"a": {"command": "a"}}}`},
		"codex": {"[mcp_servers.a]\ncommand = \"a\"\n",
			"[mcp_servers.interlock]\ncommand = \"/opt/interlock\"\nargs = [\"gateway\", \"--client\", \"codex\", \"--home\", \"/data\"]\n[mcp_servers.b]\ncommand = \"b\"\n",
			"[mcp_servers.b]\ncommand = \"b\"\n\n[mcp_servers.a]\ncommand = \"a\"\n"},
	} {
		t.Run(client, func(t *testing.T) {
			c := clientNamed(t, client)
			place, command := moving(t, c, []byte(text[0]))
			m, err := c.Move(place, command, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			earlier := Moved{m.Base, m.After}
			setFile(t, m.Path, []byte(text[1]))
			if _, err := c.Return(place, earlier, false); !errors.Is(err, ErrServersChanged) {
				t.Errorf("%v", err)
			}
			back, err := c.Return(place, earlier, true)
			if compact := strings.NewReplacer("\n  ", "", "\n}", "}").Replace(string(back.After)); err != nil ||
				client == "codex" && string(back.After) != text[2] || client == "cursor" && !sameJSON(compact, text[2]) {
				t.Errorf("%v\n%s", err, back.After)
			}
			again, err := c.Move(place, command, nil, &earlier)
			if err != nil || len(again.Entries) != 2 {
				t.Fatalf("%v %+v", err, again.Entries)
			}
			setFile(t, m.Path, again.After)
			back, err = c.Return(place, Moved{again.Base, again.After}, false)
			if err != nil || !bytes.Equal(back.After, again.Base) {
				t.Errorf("%v\n%s", err, back.After)
			}
		})
	}
}

func sameJSON(a, b string) bool { return cmp.Equal(decoded([]byte(a)), decoded([]byte(b))) }

func TestWhereClientsKeepTheirServers(t *testing.T) {
	got := map[string]string{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, name := range []string{"claude-desktop", "vscode", "codex", "claude-code"} {
			c := clientNamed(t, name)
			got[goos+" "+name] = filepath.ToSlash(c.Settings(Place{Home: "/home/me", GOOS: goos, Getenv: func(name string) string {
				return map[string]string{"CODEX_HOME": "/codex"}[name]
			}}))
		}
	}
	want := map[string]string{
		"linux claude-desktop": "/home/me/.config/Claude/claude_desktop_config.json", "linux vscode": "/home/me/.config/Code/User/mcp.json",
		"darwin claude-desktop":  "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
		"darwin vscode":          "/home/me/Library/Application Support/Code/User/mcp.json",
		"windows claude-desktop": "/home/me/AppData/Roaming/Claude/claude_desktop_config.json", "windows vscode": "/home/me/AppData/Roaming/Code/User/mcp.json",
		"linux codex": "/codex/config.toml", "darwin codex": "/codex/config.toml", "windows codex": "/codex/config.toml",
		"linux claude-code": "/home/me/.claude.json", "darwin claude-code": "/home/me/.claude.json", "windows claude-code": "/home/me/.claude.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzMovingTOML: whatever is in the file, moving either refuses or leaves TOML with the gateway as only server, and returning
// brings the same bytes back.
func FuzzMovingTOML(f *testing.F) {
	for _, text := range []string{"", "a = 1\n[mcp_servers.a]\ncommand = 'x'\n",
		"[mcp_servers.a.env]\nB='c'\n[mcp_servers.a]\ncommand='x'", "[[mcp_servers.a]]\n", "mcp_servers.a.command='x'\n",
		"[ mcp_servers . 'a' ] # c\r\ncommand='x'\r\n"} {
		f.Add([]byte(text))
	}
	c, _ := ClientByName("codex")
	command := Command{"/opt/interlock", []string{"gateway", "--client", "codex"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := Move{Base: text}
		if c.move(&m, Place{Home: "/home/me"}, command, nil) != nil {
			return
		}
		file, err := c.read(m.After)
		if err != nil {
			t.Fatalf("%v\n%s", err, m.After)
		}
		names, err := file.names()
		if err != nil || len(names) != 1+len(m.Left) {
			t.Fatalf("%v %v", names, err)
		}
		back, err := c.restore(m.After, Moved{m.Base, m.After}, false)
		if err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%v %q", err, back)
		}
	})
}
