package know

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// A languageDescription is one language as rules/languages/*.yaml describes it: how its text is cut into words, and what its
// calls do. docs/adding-a-command.md is its manual.
type languageDescription struct {
	Syntax   string            `json:"syntax"`
	Comments []string          `json:"comments,omitempty"`
	Member   string            `json:"member,omitempty"`
	Concat   string            `json:"concat,omitempty"`
	Bare     bool              `json:"bare,omitempty"`
	Closed   bool              `json:"closed,omitempty"`
	Regex    bool              `json:"regex,omitempty"`
	Keywords string            `json:"keywords,omitempty"`
	Calls    map[string]string `json:"calls,omitempty"`
	Folds    map[string]string `json:"folds,omitempty"`
	Values   map[string]string `json:"values,omitempty"`
	Harmless string            `json:"harmless,omitempty"`
}

// A Language is a compiled description.
type Language struct {
	Name     string
	Syntax   string // how its text is cut: perl, ruby, php, lua, awk, julia, r, elixir, groovy; lisp; tcl, cmake
	Comments []string
	Member   []string // operators between a thing and its member
	Concat   []string // operators that join texts
	Bare     bool     // a call needs no parentheses
	Closed   bool     // a program can call nothing but what the table names and what it defines itself
	Regex    bool     // a slash may begin a pattern
	Keywords map[string]bool
	Calls    map[string]LanguageEffect
	Folds    map[string]string // calls whose value follows from their arguments: join, format, first, env and so on
	Values   map[string]string // names that stand for a text: Dir.home
	Harmless map[string]bool
}

// A LanguageEffect is what one call does.
type LanguageEffect struct {
	Kind   interlock.ImpactKind
	What   string // path, paths, copy, move, open, shell, argv, words, code, file, request, host, none
	Method string // of a request, or the language of code
	Arg    int    // position of what is touched; selfArgument is what the method is called on
	Reach  interlock.Reach
	Traits []string
}

// SelfArgument is the position of the value a method is called on.
const SelfArgument = -1

// An entryLanguage is a language's table, decoded when code in it is first read.
type entryLanguage struct {
	raw  []byte
	once sync.Once
	done *Language
	err  error
}

// Language returns what is known of a language, or nil.
func (k *Knowledge) Language(name string) *Language {
	if k == nil || k.languages[name] == nil {
		return nil
	}
	e := k.languages[name]
	e.once.Do(func() {
		var d languageDescription
		if e.err = strictjson.DecodeTrusted(e.raw, &d); e.err == nil {
			e.done, e.err = compileLanguage(name, d)
		}
	})
	return e.done
}

// foreignSyntaxes are the ways of writing that the reader knows.
func foreignSyntaxes() []string {
	return []string{"perl", "ruby", "php", "lua", "awk", "julia", "r", "elixir", "groovy", "vim", "lisp", "tcl", "cmake",
		"none"} // only its harmless names are used
}

func compileLanguage(name string, d languageDescription) (*Language, error) {
	l := &Language{Name: name, Syntax: d.Syntax, Comments: d.Comments, Member: strings.Fields(d.Member),
		Concat: strings.Fields(d.Concat),
		Bare:   d.Bare, Closed: d.Closed, Regex: d.Regex, Folds: d.Folds, Values: d.Values, Keywords: wordSet(d.Keywords),
		Harmless: wordSet(d.Harmless)}
	if !slices.Contains(foreignSyntaxes(), d.Syntax) {
		return nil, fmt.Errorf("unknown syntax %q", d.Syntax)
	}
	l.Calls = make(map[string]LanguageEffect, len(d.Calls))
	for _, names := range lex.SortedNames(d.Calls) {
		effect, err := parseLanguageEffect(d.Calls[names])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", names, err)
		}
		for rest := names; rest != ""; {
			var one string
			one, rest, _ = strings.Cut(rest, " ")
			if _, twice := l.Calls[one]; twice || l.Harmless[one] {
				return nil, fmt.Errorf("call %s is described twice", one)
			}
			l.Calls[one] = effect
		}
	}
	for _, call := range lex.SortedNames(l.Folds) {
		if !slices.Contains(foreignFolds(), l.Folds[call]) {
			return nil, fmt.Errorf("%s: unknown fold %q", call, l.Folds[call])
		}
	}
	return l, nil
}

func wordSet(text string) map[string]bool {
	fields := strings.Fields(text)
	out := make(map[string]bool, len(fields))
	for _, f := range fields {
		out[f] = true
	}
	return out
}

func parseLanguageEffect(text string) (LanguageEffect, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return LanguageEffect{}, fmt.Errorf("%q needs a kind and what it is done to", text)
	}
	e := LanguageEffect{Kind: interlock.ImpactKind(fields[0]), What: fields[1]}
	switch fields[0] {
	case "copy", "move", "open":
		e.Kind, e.What = interlock.ImpactWrite, fields[0]
	case "request":
		e.Kind, e.What, e.Method = interlock.ImpactNetwork, "request", fields[1]
	}
	if !knownKind(string(e.Kind)) || !slices.Contains(foreignTargets(), e.What) {
		return e, fmt.Errorf("%q is no kind of impact with a target", text)
	}
	for _, field := range fields[2:] {
		n, err := strconv.Atoi(field)
		switch {
		case err == nil:
			e.Arg = n
		case field == "self":
			e.Arg = SelfArgument
		case strings.HasPrefix(field, "as:"):
			e.Method = field[len("as:"):]
		case knownReach(interlock.Reach(field)):
			e.Reach = interlock.Reach(field)
		case slices.Contains(traitNames(), field):
			e.Traits = append(e.Traits, field)
		default:
			return e, fmt.Errorf("%q is no position, reach or trait", field)
		}
	}
	return e, nil
}

// foreignTargets lists what a call of a language may be done to.
func foreignTargets() []string {
	return []string{"path", "paths", "copy", "move", "open", "shell", "argv", "words", "code", "file", "request", "host", "none"}
}

// foreignFolds lists how the value of a call may follow from its arguments.
func foreignFolds() []string {
	return []string{"call", "map", "env", "first", "self", "list", "glob", "names", "join", "joinself", "concat", "paste", "path",
		"format", "formatself", "chr", "split", "home", "here",
		"base64", "base64self", "reverse", "lower", "replace", "made", "args", "pack", "decode"}
}
