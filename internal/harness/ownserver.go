package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"interlock/internal/fileio"
)

// Bound makes sure that a server's name means the gateway that an earlier move entered, after being the settings as that
// left them, and for nothing else, wherever a client run in one of the directories could have a server of such a name from. It
// returns the program and arguments with which the client starts it. An error says what is in the way.
func (c Client) Bound(place Place, server string, after []byte, dirs []string) ([]string, error) {
	if c.Name != "claude-code" || place.Project != "" {
		return nil, fmt.Errorf("where %s has its servers from is not known in full", c.Title)
	}
	path, data, err := c.settled(place)
	if err != nil {
		return nil, err
	}
	argv, err := c.same(data, after, server)
	if err != nil {
		return nil, about(path, err)
	}
	if err := namesNothingElse(data, server); err != nil {
		return nil, about(path, err)
	}
	file := place.managed("managed-mcp.json")
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		return nil, about(file, errors.New("may keep the client from reading any other servers"))
	}
	for _, file := range projectServers(dirs) {
		data, err := fileio.Plain(file, maxFile)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = noServerLike(data, server, "")
		}
		if err != nil {
			return nil, about(file, err)
		}
	}
	return argv, nil
}

// same compares the server's entry with the one that the move left and returns what it starts.
func (c Client) same(now, after []byte, server string) ([]string, error) {
	var entries [2]map[string]any
	for i, data := range [][]byte{now, after} {
		file, err := c.read(data)
		if err != nil {
			return nil, err
		}
		if _, err := file.names(); err != nil { // none twice
			return nil, err
		}
		if entries[i], err = file.fields(server); err != nil {
			return nil, err
		}
	}
	if entries[1] == nil || !runsGateway(entries[1], c.entryID()) || !reflect.DeepEqual(entries[0], entries[1]) {
		return nil, fmt.Errorf("does not hold %q as `interlock install gateway` left it", server)
	}
	argv := []string{entries[1]["command"].(string)}
	for _, arg := range entries[1]["args"].([]any) {
		argv = append(argv, fmt.Sprint(arg))
	}
	return argv, nil
}

// namesNothingElse looks through the user's settings of Claude Code: what they say of servers for everywhere, for single
// projects, and of projects' servers that the user said yes to.
func namesNothingElse(data []byte, server string) error {
	if err := noServerLike(data, server, server); err != nil {
		return err
	}
	var top, projects map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return errors.New("can't be read")
	}
	if top["projects"] != nil {
		if err := json.Unmarshal(top["projects"], &projects); err != nil {
			return errors.New("holds projects that can't be read")
		}
	}
	for project, raw := range projects {
		if err := noServerLike(raw, server, ""); err != nil {
			return fmt.Errorf("%w, for %s", err, project)
		}
		var members map[string]json.RawMessage
		var approved []string
		if json.Unmarshal(raw, &members) != nil || members["enabledMcpjsonServers"] != nil &&
			json.Unmarshal(members["enabledMcpjsonServers"], &approved) != nil {
			return fmt.Errorf("can't be read, for %s", project)
		}
		if slices.ContainsFunc(approved, func(name string) bool { return alike(name, server) }) {
			return fmt.Errorf("says yes to a server of that name which %s brings", project)
		}
	}
	return nil
}

// noServerLike refuses servers whose tools could be taken for the server's; own is the server itself where it may stand.
func noServerLike(data []byte, server, own string) error {
	var top, servers map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return errors.New("can't be read")
	}
	if top["mcpServers"] != nil {
		if err := json.Unmarshal(top["mcpServers"], &servers); err != nil {
			return errors.New("holds servers that can't be read")
		}
	}
	for name := range servers {
		if name != own && alike(name, server) {
			return fmt.Errorf("holds a server %q, whose tools could be taken for those of the gateway", name)
		}
	}
	return nil
}

// alike reports whether a server's tools could have names that begin like another's: clients replace what they don't like in
// names, and join server and tool.
func alike(name, server string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	return strings.HasPrefix(plain(name), plain(server))
}

// projectServers are the files in which a project's servers stand, for the directories and all above them.
func projectServers(dirs []string) []string {
	var files []string
	for _, dir := range dirs {
		for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
			if file := filepath.Join(dir, ".mcp.json"); !slices.Contains(files, file) {
				files = append(files, file)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return files
}
