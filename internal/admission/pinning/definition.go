package pinning

import (
	"bytes"
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// maxDefinition bounds one definition in canonical form, maxToolName its name and maxURI a name that is an address; a resource with
// one beyond maxPinnedURI has no pin of its own, because no order could name it in its subject. In bytes.
const (
	maxDefinition = 256 << 10
	maxToolName   = 256
	maxURI        = 2048
	maxPinnedURI  = 400
)

// A definition is what a server sent of one thing it offers. Without a text it can't be read, or is for a name that has
// one already.
type definition struct {
	Tool   string          // what it is pinned under
	Text   json.RawMessage // canonical
	Digest interlock.Digest
}

func readDefinitions(of string, raw []json.RawMessage) []definition {
	out := make([]definition, len(raw))
	seen := map[string]bool{}
	for i, r := range raw {
		d := ReadDefinition(of, r)
		if d.Tool != "" && seen[d.Tool] {
			d.Text, d.Digest = nil, ""
		}
		seen[d.Tool] = true
		out[i] = d
	}
	return out
}

// ReadDefinition reads one definition of a list. What a list of tools holds under a name that something else is pinned under
// can't be told apart from it, and so can't be read.
func ReadDefinition(of string, raw json.RawMessage) definition {
	if len(raw) > 2*maxDefinition {
		return definition{}
	}
	text, ok := plainForm(raw)
	if !ok || len(text) > maxDefinition {
		return definition{}
	}
	var named struct {
		Name     string `json:"name"`
		URI      string `json:"uri"`
		Template string `json:"uriTemplate"`
	}
	if err := strictjson.DecodeLenient(text, &named); err != nil {
		return definition{}
	}
	name, most := named.Name, maxToolName
	switch of {
	case interlock.PinnedResource:
		name, most = named.URI, maxURI
	case interlock.PinnedTemplate:
		name, most = named.Template, maxURI
	}
	if !properName(name, most) || of == "" && interlock.PinKind(name) != "tool" {
		return definition{}
	}
	if of == interlock.PinnedResource {
		if text, ok = withoutData(text); !ok {
			return definition{}
		}
	}
	domain := "interlock/tool/v1"
	if of != "" {
		domain = "interlock/" + interlock.PinKind(of) + "/v1"
	}
	return definition{Tool: of + name, Text: text, Digest: strictjson.DigestBytes(domain, text)}
}

// withoutData is a resource's definition without what tells of its content, which changes with it: how large it is, and since when.
func withoutData(text json.RawMessage) (json.RawMessage, bool) {
	var members, annotations map[string]json.RawMessage
	if strictjson.DecodeLenient(text, &members) != nil {
		return nil, false
	}
	_, sized := members["size"]
	delete(members, "size")
	if strictjson.DecodeLenient(members["annotations"], &annotations) == nil && annotations["lastModified"] != nil {
		delete(annotations, "lastModified")
		kept, err := json.Marshal(annotations)
		if err != nil {
			return nil, false
		}
		members["annotations"] = kept
		if len(annotations) == 0 {
			delete(members, "annotations")
		}
	} else if !sized {
		return text, true
	}
	kept, err := json.Marshal(members)
	if err != nil {
		return nil, false
	}
	return plainForm(kept)
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

// properName reports whether something can be called and told apart by a name: it has one, of characters that show.
func properName(name string, most int) bool {
	if name == "" || len(name) > most || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
