package harness

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlServers are servers as tables [mcp_servers.NAME] and their sub-tables. The text is edited by whole tables.
type tomlServers struct {
	text   []byte
	member string
	tables []tomlTable // of servers, in the file's order
	values map[string]map[string]any
}

// A tomlTable is the text of one table: from its head to the end of the line its last value ends on.
type tomlTable struct {
	server     string
	start, end int
}

// readTOML parses a settings file. An empty or missing file has no servers.
func readTOML(text []byte, member string) (*tomlServers, error) {
	t := &tomlServers{text: bytes.Clone(text), member: member}
	return t, t.parse()
}

func (t *tomlServers) parse() error {
	var all map[string]any
	if err := shallow(t.text); err != nil {
		return err
	}
	if err := toml.Unmarshal(t.text, &all); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			return fmt.Errorf("is not valid TOML at line %d, column %d", row, column)
		}
		return errors.New("is not valid TOML")
	}
	t.tables, t.values = nil, map[string]map[string]any{}
	servers, ok := all[t.member].(map[string]any)
	if all[t.member] != nil && !ok {
		return fmt.Errorf("holds %q that is not a table", t.member)
	}
	for name, value := range servers {
		fields, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("holds a server %q that is not a table", name)
		}
		t.values[name] = fields
	}
	return t.locate()
}

// locate finds the tables of servers in the text.
func (t *tomlServers) locate() error {
	var p unstable.Parser
	p.Reset(t.text)
	current, inServers := -1, false
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		at := -1
		for it := e.Key(); it.Next(); {
			if at < 0 {
				at = int(it.Node().Raw.Offset)
			}
			keys = append(keys, string(it.Node().Data))
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			current, inServers = -1, keys[0] == t.member && len(keys) == 1
			if keys[0] == t.member && len(keys) > 1 {
				if e.Kind == unstable.ArrayTable {
					return fmt.Errorf("writes the server %q as a list; write [%s.%s]", keys[1], t.member, keys[1])
				}
				t.tables = append(t.tables, tomlTable{keys[1], t.lineStart(at), t.lineEnd(at)})
				current = len(t.tables) - 1
			}
		case unstable.KeyValue:
			if inServers || current < 0 && keys[0] == t.member && t.top(at) {
				return fmt.Errorf("writes its servers as values; write each as a table [%s.NAME]", t.member)
			}
			if current >= 0 {
				t.tables[current].end = t.lineEnd(int(e.Raw.Offset+e.Raw.Length) - 1)
			}
		}
	}
	return p.Error()
}

// top reports whether nothing but values stand before an offset, so that a key there is one of the file itself.
func (t *tomlServers) top(at int) bool {
	var p unstable.Parser
	p.Reset(t.text[:t.lineStart(at)])
	for p.NextExpression() {
		if p.Expression().Kind != unstable.KeyValue {
			return false
		}
	}
	return true
}

func (t *tomlServers) lineStart(at int) int { return bytes.LastIndexByte(t.text[:at], '\n') + 1 }

func (t *tomlServers) lineEnd(at int) int {
	if i := bytes.IndexByte(t.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.text)
}

func (t *tomlServers) names() ([]string, error) {
	var names []string
	seen := map[string]bool{}
	for _, table := range t.tables {
		if !seen[table.server] {
			names = append(names, table.server)
		}
		seen[table.server] = true
	}
	return names, nil
}

func (t *tomlServers) fields(name string) (map[string]any, error) { return t.values[name], nil }

// remove cuts a server's tables out, and the empty line that would be left double.
func (t *tomlServers) remove(name string) {
	for i := len(t.tables) - 1; i >= 0; i-- {
		table := t.tables[i]
		if table.server != name {
			continue
		}
		before, after := t.text[:table.start], t.text[table.end:]
		for _, blank := range []string{"\r\n", "\n"} {
			if (len(before) == 0 || bytes.HasSuffix(before, []byte("\n"+blank))) && bytes.HasPrefix(after, []byte(blank)) {
				after = after[len(blank):]
				break
			}
		}
		t.text = append(bytes.Clone(before), after...)
	}
	_ = t.parse() // fewer tables are still TOML; the result is checked as a whole in any case
}

// raw is a server's tables as they are written.
func (t *tomlServers) raw(name string) []byte {
	var text []byte
	for _, table := range t.tables {
		if table.server == name {
			text = append(text, t.text[table.start:table.end]...)
			if !bytes.HasSuffix(text, []byte("\n")) {
				text = append(text, '\n')
			}
		}
	}
	return text
}

// add appends tables, after an empty line.
func (t *tomlServers) add(tables []byte) error {
	newline := []byte("\n")
	if bytes.Contains(t.text, []byte("\r\n")) {
		newline = []byte("\r\n")
	}
	tables = bytes.ReplaceAll(bytes.ReplaceAll(tables, []byte("\r\n"), []byte("\n")), []byte("\n"), newline)
	if len(t.text) > 0 && !bytes.HasSuffix(t.text, []byte("\n")) {
		t.text = append(t.text, newline...)
	}
	if len(t.text) > 0 && !bytes.HasSuffix(t.text, append(bytes.Clone(newline), newline...)) &&
		!bytes.HasSuffix(t.text, []byte("\n\n")) {
		t.text = append(t.text, newline...)
	}
	t.text = append(t.text, tables...)
	return t.parse()
}

func (t *tomlServers) put(name string, entry any) error {
	text, err := toml.Marshal(map[string]map[string]any{t.member: {name: entry}})
	if err != nil {
		return errors.New("can't be written")
	}
	// The library writes a head of the outer table as well, where the file needs none.
	return t.add(bytes.TrimPrefix(text, []byte("["+t.member+"]\n")))
}

func (t *tomlServers) adopt(from serverFile, name string) error {
	source, ok := from.(*tomlServers)
	if !ok {
		return errors.New("is of another kind")
	}
	if raw := source.raw(name); len(raw) > 0 {
		return t.add(raw)
	}
	return nil
}

// adoptAll is not offered: tables may stand anywhere in the file.
func (t *tomlServers) adoptAll(serverFile) bool { return false }

// tidy has nothing to do: what holds no server is not there.
func (t *tomlServers) tidy(serverFile) {}

func (t *tomlServers) bytes() []byte { return bytes.Clone(t.text) }
