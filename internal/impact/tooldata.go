package impact

import (
	"sort"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/strictjson"
)

// toolData is rules/tools.yaml: what names of tools and of their arguments say.
type toolData struct {
	Harness   map[string][]string `json:"harness"`
	Files     map[string][]string `json:"files"`
	Verbs     map[string][]string `json:"verbs"`
	Subjects  map[string][]string `json:"subjects"`
	Patterns  []toolPattern       `json:"patterns"`
	Arguments map[string][]string `json:"arguments"`
	Flags     map[string][]string `json:"flags"`
	Wishes    map[string][]string `json:"wishes"`
	Runners   []string            `json:"runners"`
	Parts     map[string][]string `json:"parts"`
	Languages map[string][]string `json:"languages"`
	Bulk      int                 `json:"bulk"`
}

// toolPattern raises what a tool does by the form of its whole name.
type toolPattern struct {
	Name         string   `json:"name"`
	Danger       string   `json:"danger,omitempty"` // a level of the MCP-AQL scale, becomes a trait
	Kind         string   `json:"kind,omitempty"`
	Irreversible bool     `json:"irreversible,omitempty"`
	Production   bool     `json:"production,omitempty"`
	External     bool     `json:"external,omitempty"` // what it names is kept by a service, not by this machine
	Traits       []string `json:"traits,omitempty"`
}

// toolKnowledge is toolData turned round for look-up by word.
type toolKnowledge struct {
	harness, files, verbs, arguments, flags map[string]string
	subjects                                map[string]string
	languages                               map[string]string // what runs code in a language, by the language's names
	runners                                 map[string]bool
	parts                                   map[string]map[string]bool // keys of arguments, by what they hold
	patterns                                []toolPattern
	wishes                                  []wish
	bulk                                    int
}

// lazyTools is the tool table, decoded when first asked for: most hook calls never need it.
type lazyTools struct {
	raw  []byte
	once sync.Once
	done *toolKnowledge
	err  error
}

// toolTable returns what is known about tools; without a table nothing is, and every tool is one of unknown effect.
func (k *Knowledge) toolTable() *toolKnowledge {
	if k == nil || k.tools == nil {
		return &toolKnowledge{bulk: 20}
	}
	k.tools.once.Do(func() {
		if k.tools.raw != nil {
			k.tools.done, k.tools.err = parseTools(k.tools.raw)
		}
		if k.tools.done == nil {
			k.tools.done = &toolKnowledge{bulk: 20}
		}
	})
	return k.tools.done
}

// described reports whether a name is that of a command, without reading what is known of it.
func (k *Knowledge) described(name string) bool { return k != nil && k.commands[name] != nil }

// parseTools reads rules/tools.yaml, converted to JSON. A word may stand in one list of a section only, so that what a
// name means does not depend on the order of a map.
func parseTools(document []byte) (*toolKnowledge, error) {
	var data toolData
	if err := strictjson.Decode(document, &data); err != nil {
		return nil, err
	}
	know := &toolKnowledge{patterns: data.Patterns, wishes: wishesOf(data.Wishes), bulk: data.Bulk}
	for _, section := range []struct {
		name string
		from map[string][]string
		into *map[string]string
	}{
		{"harness", data.Harness, &know.harness}, {"files", data.Files, &know.files}, {"verbs", data.Verbs, &know.verbs},
		{"subjects", data.Subjects, &know.subjects}, {"languages", data.Languages, &know.languages}, {"arguments", data.Arguments, &know.arguments}, {"flags", data.Flags, &know.flags},
	} {
		*section.into = make(map[string]string)
		for _, list := range sortedNames(section.from) {
			for _, word := range section.from[list] {
				if have, taken := (*section.into)[word]; taken && have != list {
					return nil, interlock.Errorf(interlock.CodeInvalid, "/"+section.name+"/"+list, "%q is already listed under %s", word, have)
				}
				(*section.into)[word] = list
			}
		}
	}
	know.runners, know.parts = set(data.Runners), make(map[string]map[string]bool, len(data.Parts))
	for part, keys := range data.Parts { // a key may hold several things, so no order matters
		know.parts[part] = set(keys)
	}
	for i, p := range data.Patterns {
		if p.Name == "" || p.Kind != "" && !knownKind(p.Kind) {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/patterns", "entry %d needs a name and, if it has one, a known kind", i+1)
		}
	}
	if know.bulk <= 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/bulk", "must be a positive number")
	}
	return know, nil
}

func knownKind(kind string) bool {
	for _, k := range interlock.ImpactKinds() {
		if string(k) == kind {
			return true
		}
	}
	return false
}

// fold reduces a name to lower-case letters and digits, the form in which argument and harness names are listed.
func fold(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			out.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		}
	}
	return out.String()
}

// nameWords splits a tool's name into lower-case words at punctuation and at changes of case.
func nameWords(name string) []string {
	var words []string
	start := -1
	flush := func(end int) {
		if start >= 0 && end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = -1
	}
	for i := 0; i < len(name) && len(words) < 64; i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter {
			flush(i)
			continue
		}
		if start >= 0 && isUpper(c) {
			previous := name[i-1]
			if !isUpper(previous) || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' {
				flush(i)
			}
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return words
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// emphatic are words before a name that say how it is done: what follows them has a form of its own (force_delete_all).
var emphatic = set([]string{"force", "forced", "forcibly", "bulk", "mass", "hard", "admin", "auto", "unsafe", "really", "please", "quick", "immediately", "permanently", "system", "do"})

// wholesale are the beginnings of forms that mean the same wherever in a name they stand.
var wholesale = set([]string{"delete_all", "remove_all", "clear_all", "bulk_delete"})

// matches reports whether a name, in words, has the form: as a whole, behind words that only add emphasis, or written in
// one word.
func (p *toolPattern) matches(words []string) bool {
	for n := range words {
		if matchName(p.Name, strings.Join(words[n:], "_")) {
			return true
		}
		if !emphatic[words[n]] {
			break
		}
	}
	if wholesale[strings.TrimSuffix(p.Name, "*")] { // behind the name of a service, too: DriveDeleteAllFiles
		for n := 1; n < len(words)-1; n++ {
			if matchName(p.Name, strings.Join(words[n:], "_")) && !has(words[:n], "get", "list", "un", "can", "is", "not", "undo", "confirm", "before", "after", "on") {
				return true
			}
		}
	}
	verb, rest, joined := strings.Cut(strings.TrimSuffix(p.Name, "*"), "_")
	return joined && len(words) > 0 && rest != "" && !strings.Contains(verb, "*") && strings.HasPrefix(words[0], verb+rest)
}

// matchName matches a name against a pattern in which * stands for any run of characters, in linear time for the few
// stars that patterns have.
func matchName(pattern, name string) bool {
	part, pattern, more := strings.Cut(pattern, "*")
	if !more {
		return part == name
	}
	if !strings.HasPrefix(name, part) {
		return false
	}
	for name = name[len(part):]; ; {
		if part, pattern, more = strings.Cut(pattern, "*"); !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
