package interlock

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Scope makes of a grant a standing yes to like actions in one project: what is called "always allow this here". It says how
// the action is written, part by part, and of a part with * in it what may stand there: letters, digits, dots, underscores and
// dashes of one word, so never an option, a path, or anything that a shell reads.
type Scope struct {
	Dir string `json:"dir"`           // the project: actions are proposed in this directory or below it
	Run string `json:"run,omitempty"` // only in this run, which harnesses call a session

	Words     []string        `json:"words,omitempty"`     // of a shell command: all of them, in order
	Text      string          `json:"text,omitempty"`      // of the other kinds that have text: this and no other
	Arguments json.RawMessage `json:"arguments,omitempty"` // of the kinds that have arguments: these; of file, path alone
}

// The bounds of a scope.
const (
	maxScopeWords = 64
	maxScopeText  = 4096 // bytes of all of it
)

// Check refuses a scope that says too little, or what could be read in two ways.
func (s *Scope) Check(kind Kind) error {
	refuse := func(message string) error { return Errorf(CodeInvalid, "pattern", "%s", message) }
	size := len(s.Dir) + len(s.Run) + len(s.Text) + len(s.Arguments)
	for _, word := range s.Words {
		size += len(word)
	}
	switch {
	case !rooted(s.Dir) || len(strings.Trim(s.Dir, `/\:`)) == strings.Count(s.Dir, ":") || slices.Contains(strings.Split(s.Dir, "/"), ".."):
		return Errorf(CodeInvalid, "dir", "name the project's directory by its whole path; the root of all files is none")
	case size > maxScopeText || len(s.Words) > maxScopeWords:
		return refuse("it is too long to be read by whoever signs it")
	case kind == KindShell:
		return s.checkWords()
	case kind == KindSQL || kind == KindPython || kind == KindJavaScript:
		if s.Text == "" || len(s.Words)+len(s.Arguments) > 0 {
			return refuse("name the whole text; there is nothing like it but itself")
		}
		return nil
	case !kind.TakesObject():
		return refuse("what an agent says about itself is not allowed in advance")
	}
	arguments, ok := s.object()
	if !ok || len(s.Words) > 0 || s.Text != "" || kind == KindFile && (len(arguments) != 1 || arguments["path"] == nil) {
		return refuse("name the arguments as a JSON object; of a file, its path and nothing else")
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if text, is := stringOf(arguments[name]); is && loose(text) {
			return refuse("a * stands for a part of a word; a text that is * alone, or - and *, could be anything")
		}
	}
	return nil
}

func (s *Scope) checkWords() error {
	refuse := func(message string) error { return Errorf(CodeInvalid, "pattern", "%s", message) }
	if len(s.Words) == 0 || s.Text != "" || len(s.Arguments) > 0 {
		return refuse("name the command, word by word")
	}
	if strings.Contains(s.Words[0], "*") {
		return refuse("the first word is a program and has no *")
	}
	plain := 0
	for _, word := range s.Words {
		if !strings.Contains(word, "*") {
			plain++
		}
		if strings.HasPrefix(strings.TrimLeft(word, "-"), "*") && strings.HasPrefix(word, "-") {
			return refuse("an option is named: - and * could be any")
		}
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return refuse("a word has no line ends and nothing invisible")
		}
	}
	if len(s.Words) > 1 && plain < 2 && !slices.ContainsFunc(s.Words[1:], func(w string) bool { return len(strings.Trim(w, "*")) > 1 }) {
		return refuse("a program with any argument is nearly everything it can do; name more of it")
	}
	return nil
}

// Covers reports whether an action is one of those that the scope describes. words are those of a command that is one list of words
// and nothing more; words of any other are nil, and are covered by nothing.
func (s *Scope) Covers(a Action, words []string) bool {
	if !Within(a.Dir, s.Dir) {
		return false
	}
	switch {
	case a.Kind == KindShell:
		if len(words) == 0 || len(words) != len(s.Words) {
			return false
		}
		for n := range words {
			if !FitsWord(s.Words[n], words[n]) {
				return false
			}
		}
		return true
	case !a.Kind.TakesObject():
		return s.Text != "" && a.Input == s.Text
	}
	return s.coversObject(a)
}

func (s *Scope) coversObject(a Action) bool {
	want, ok := s.object()
	have, also := (&Scope{Arguments: a.Arguments}).object()
	if !ok || !also || a.Kind != KindFile && len(have) != len(want) {
		return false
	}
	for name, pattern := range want { // any order: all have to fit
		value, given := have[name]
		if !given {
			return false
		}
		text, is := stringOf(pattern)
		if is && strings.Contains(text, "*") {
			got, also := stringOf(value)
			if !also || !FitsWord(text, got) {
				return false
			}
			continue
		}
		if string(pattern) != string(value) { // both are in canonical form
			return false
		}
	}
	return true
}

func (s *Scope) object() (map[string]json.RawMessage, bool) {
	var object map[string]json.RawMessage
	return object, json.Unmarshal(s.Arguments, &object) == nil && len(object) > 0
}

func stringOf(value json.RawMessage) (text string, is bool) {
	return text, len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil
}

// loose reports whether a text with a * is little else.
func loose(text string) bool {
	return strings.Contains(text, "*") && len(strings.Trim(text, "*-")) == 0
}

// FitsWord reports whether a word is one that a pattern describes. Each * means one or more letters, digits, dots, underscores
// and dashes: at the beginning of a word for no dash, and never so that a part of a path becomes . or .. by it.
func FitsWord(pattern, word string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == word
	}
	if strings.HasPrefix(pattern, "*") && strings.HasPrefix(word, "-") {
		return false
	}
	patterns, parts := strings.Split(pattern, "/"), strings.Split(word, "/")
	if len(patterns) != len(parts) {
		return false
	}
	for n, part := range parts {
		if strings.Contains(patterns[n], "*") && (part == "." || part == "..") || !fits(patterns[n], part) {
			return false
		}
	}
	return true
}

// fits matches one part. What does not fit at first is tried with more bytes for the last star.
func fits(pattern, part string) bool {
	star, from := -1, 0
	p, w := 0, 0
	for w < len(part) {
		switch {
		case p < len(pattern) && pattern[p] == '*' && wordByte(part[w]):
			star, from = p, w+1
			p, w = p+1, w+1
		case p < len(pattern) && pattern[p] != '*' && pattern[p] == part[w]:
			p, w = p+1, w+1
		case star >= 0 && from < len(part) && wordByte(part[from]):
			from++
			p, w = star+1, from
		default:
			return false
		}
	}
	return p == len(pattern)
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-'
}

// Within reports whether a directory is another, or lies in it, by their names.
func Within(dir, of string) bool {
	dir, of = strings.ReplaceAll(dir, `\`, "/"), strings.TrimSuffix(strings.ReplaceAll(of, `\`, "/"), "/")
	rest, found := strings.CutPrefix(dir, of)
	return found && of != "" && (rest == "" || rest[0] == '/') && !strings.Contains(rest+"/", "/../")
}

func rooted(dir string) bool {
	return strings.HasPrefix(dir, "/") || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
}

// Pattern is how people write what a grant with a scope covers.
func (g Grant) Pattern() string {
	switch s := g.Scope; {
	case s == nil:
		return g.Tool
	case len(s.Words) > 0:
		words := make([]string, len(s.Words))
		for n, word := range s.Words {
			if words[n] = word; word == "" || strings.ContainsAny(word, " \t'\"\\;|&<>()$`#!?[]{}~^") {
				words[n] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
			}
		}
		return strings.Join(words, " ")
	case s.Text != "":
		return s.Text
	default:
		return string(s.Arguments)
	}
}
