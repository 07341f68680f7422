package know

import (
	"strings"
	"sync"

	"interlock"
	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// toolData is rules/tools.yaml: what names of tools and of their arguments say.
type toolData struct {
	Harness   map[string][]string `json:"harness"`
	Files     map[string][]string `json:"files"`
	Verbs     map[string][]string `json:"verbs"`
	Subjects  map[string][]string `json:"subjects"`
	Patterns  []ToolPattern       `json:"patterns"`
	Arguments map[string][]string `json:"arguments"`
	Flags     map[string][]string `json:"flags"`
	Wishes    map[string][]string `json:"wishes"`
	Runners   []string            `json:"runners"`
	Parts     map[string][]string `json:"parts"`
	Languages map[string][]string `json:"languages"`
	Bulk      int                 `json:"bulk"`
}

// A ToolPattern raises what a tool does by the form of its whole name.
type ToolPattern struct {
	Name         string   `json:"name"`
	Danger       string   `json:"danger,omitempty"` // a level of the MCP-AQL scale, becomes a trait
	Kind         string   `json:"kind,omitempty"`
	Irreversible bool     `json:"irreversible,omitempty"`
	Production   bool     `json:"production,omitempty"`
	External     bool     `json:"external,omitempty"` // what it names is kept by a service, not by this machine
	Traits       []string `json:"traits,omitempty"`

	form       nameForm
	everywhere bool   // it means the same behind other words
	joined     string // how it begins where it is written in one word; empty: it is not
}

// ToolTable is toolData turned round for look-up by word.
type ToolTable struct {
	Harness, Files, Verbs, Arguments, Flags map[string]string
	Subjects                                map[string]string
	Languages                               map[string]string // what runs code in a language, by the language's names
	Runners                                 map[string]bool
	Parts                                   map[string]map[string]bool // keys of arguments, by what they hold
	Patterns                                []ToolPattern
	Wishes                                  []Wish
	Bulk                                    int
}

// lazyTools is the tool table, decoded when first asked for: most hook calls never need it.
type lazyTools struct {
	raw  []byte
	once sync.Once
	done *ToolTable
	err  error
}

// ToolTable returns what is known about tools; without a table nothing is, and every tool is one of unknown effect.
func (k *Knowledge) ToolTable() *ToolTable {
	if k == nil || k.tools == nil {
		return &ToolTable{Bulk: 20}
	}
	k.tools.once.Do(func() {
		if k.tools.raw != nil {
			k.tools.done, k.tools.err = parseTools(k.tools.raw)
		}
		if k.tools.done == nil {
			k.tools.done = &ToolTable{Bulk: 20}
		}
	})
	return k.tools.done
}

// parseTools reads rules/tools.yaml, converted to JSON. A word may stand in one list of a section only, so that what a
// name means does not depend on the order of a map.
func parseTools(document []byte) (*ToolTable, error) {
	var data toolData
	if err := strictjson.Decode(document, &data); err != nil {
		return nil, err
	}
	know := &ToolTable{Patterns: data.Patterns, Wishes: wishesOf(data.Wishes), Bulk: data.Bulk}
	for _, section := range []struct {
		name string
		from map[string][]string
		into *map[string]string
	}{
		{"harness", data.Harness, &know.Harness}, {"files", data.Files, &know.Files}, {"verbs", data.Verbs, &know.Verbs},
		{"subjects", data.Subjects, &know.Subjects}, {"languages", data.Languages, &know.Languages},
		{"arguments", data.Arguments, &know.Arguments}, {"flags", data.Flags, &know.Flags},
	} {
		*section.into = make(map[string]string)
		for _, list := range lex.SortedNames(section.from) {
			for _, word := range section.from[list] {
				if have, taken := (*section.into)[word]; taken && have != list {
					return nil, interlock.Errorf(interlock.CodeInvalid, "/"+section.name+"/"+list,
						"%q is already listed under %s", word, have)
				}
				(*section.into)[word] = list
			}
		}
	}
	know.Runners, know.Parts = lex.Lookup(data.Runners), make(map[string]map[string]bool, len(data.Parts))
	for part, keys := range data.Parts { // a key may hold several things, so no order matters
		know.Parts[part] = lex.Lookup(keys)
	}
	for i, p := range data.Patterns {
		if p.Name == "" || p.Kind != "" && !knownKind(p.Kind) {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/patterns",
				"entry %d needs a name and, if it has one, a known kind", i+1)
		}
		know.Patterns[i].ready()
	}
	if know.Bulk <= 0 {
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

// emphatic are words before a name that say how it is done: what follows them has a form of its own (force_delete_all).
var emphatic = lex.Set([]string{"force", "forced", "forcibly", "bulk", "mass", "hard", "admin", "auto", "unsafe", "really",
	"please", "quick", "immediately", "permanently", "system", "do"})

// wholesale are the beginnings of forms that mean the same wherever in a name they stand.
var wholesale = lex.Set([]string{"delete_all", "remove_all", "clear_all", "bulk_delete"})

// A ToolName is the name of a tool in words, made ready to be held against many patterns.
type ToolName struct {
	starts []string // the whole, and what is left behind each word of emphasis that it begins with
	behind []string // what follows the name of a service, or other words that don't turn the meaning: DriveDeleteAllFiles
	first  string
}

// NameOf makes a name ready.
func NameOf(words []string) ToolName {
	if len(words) == 0 {
		return ToolName{}
	}
	whole, n := strings.Join(words, "_"), ToolName{first: words[0]}
	plain, emphasis := true, true
	for i, at := 0, 0; i < len(words); i++ {
		if rest := whole[at:]; emphasis {
			n.starts = append(n.starts, rest)
			emphasis = emphatic.Has(words[i])
		}
		if i > 0 && i < len(words)-1 && plain {
			n.behind = append(n.behind, whole[at:])
		}
		plain = plain && !notMeant.Has(words[i])
		at += len(words[i]) + 1
	}
	return n
}

// notMeant are words before which a form does not mean what it says.
var notMeant = lex.Set([]string{"get", "list", "un", "can", "is", "not", "undo", "confirm", "before", "after", "on"})

// Matches reports whether a name has the form: as a whole, behind words that only add emphasis, or written in one word.
func (p *ToolPattern) Matches(name ToolName) bool {
	for _, start := range name.starts {
		if p.form.matches(start) {
			return true
		}
	}
	if p.everywhere {
		for _, rest := range name.behind {
			if p.form.matches(rest) {
				return true
			}
		}
	}
	return p.joined != "" && strings.HasPrefix(name.first, p.joined)
}

// ready works out what Matches asks of a pattern.
func (p *ToolPattern) ready() {
	p.form = strings.Split(p.Name, "*")
	p.everywhere = wholesale.Has(strings.TrimSuffix(p.Name, "*"))
	verb, rest, joined := strings.Cut(strings.TrimSuffix(p.Name, "*"), "_")
	if joined && rest != "" && !strings.Contains(verb, "*") {
		p.joined = verb + rest
	}
}

// A nameForm is a pattern in which * stood for any run of characters: what is between the stars.
type nameForm []string

// matches reports whether a name has the form, in linear time for the few stars that patterns have.
func (f nameForm) matches(name string) bool {
	last := len(f) - 1
	if last < 1 {
		return last == 0 && f[0] == name
	}
	if !strings.HasPrefix(name, f[0]) {
		return false
	}
	name = name[len(f[0]):]
	for _, part := range f[1:last] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, f[last])
}
