package admission

import (
	"bytes"
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// maxDefinition bounds one definition in canonical form, and maxToolName its name, in bytes.
const (
	maxDefinition = 256 << 10
	maxToolName   = 256
)

// A definition is a tool's definition as a server sent it. Without a text it can't be read, or stands for a tool that has
// one already.
type definition struct {
	tool   string
	text   json.RawMessage // canonical
	digest interlock.Digest
}

func readDefinitions(raw []json.RawMessage) []definition {
	out := make([]definition, len(raw))
	seen := map[string]bool{}
	for i, r := range raw {
		d := readDefinition(r)
		if d.tool != "" && seen[d.tool] {
			d.text, d.digest = nil, ""
		}
		seen[d.tool] = true
		out[i] = d
	}
	return out
}

func readDefinition(raw json.RawMessage) definition {
	if len(raw) > 2*maxDefinition {
		return definition{}
	}
	text, ok := plainForm(raw)
	if !ok || len(text) > maxDefinition {
		return definition{}
	}
	var named struct {
		Name string `json:"name"`
	}
	if err := strictjson.DecodeLenient(text, &named); err != nil || !properName(named.Name) {
		return definition{}
	}
	return definition{tool: named.Name, text: text, digest: strictjson.DigestBytes("interlock/tool/v1", text)}
}

// plainForm is the canonical form of a definition. Some schemas bound integers by what no double holds; these numbers stay as
// they are written, and everything else is as strict.
func plainForm(raw json.RawMessage) (json.RawMessage, bool) {
	if text, err := strictjson.Canonical(raw); err == nil {
		return text, true
	}
	var object map[string]any
	if strictjson.DecodeLenient(raw, &object) != nil || object == nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return nil, false
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(object) != nil {
		return nil, false
	}
	return bytes.TrimSpace(b.Bytes()), true
}

// properName reports whether a tool can be called and told apart by a name: it has one, of characters that show.
func properName(name string) bool {
	if name == "" || len(name) > maxToolName || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
