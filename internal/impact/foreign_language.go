package impact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock"
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

// A foreignLanguage is a compiled description.
type foreignLanguage struct {
	name     string
	syntax   string // how its text is cut: perl, ruby, php, lua, awk, julia, r, elixir, groovy; lisp; tcl, cmake
	comments []string
	member   []string // operators between a thing and its member
	concat   []string // operators that join texts
	bare     bool     // a call needs no parentheses
	closed   bool     // a program can call nothing but what the table names and what it defines itself
	regex    bool     // a slash may begin a pattern
	keywords map[string]bool
	calls    map[string]foreignEffect
	folds    map[string]string // calls whose value follows from their arguments: join, format, first, env and so on
	values   map[string]string // names that stand for a text: Dir.home
	harmless map[string]bool
}

// A foreignEffect is what one call does.
type foreignEffect struct {
	kind   interlock.ImpactKind
	what   string // path, paths, copy, move, open, shell, argv, words, code, file, request, host, none
	method string // of a request, or the language of code
	arg    int    // position of what is touched; selfArgument is what the method is called on
	reach  interlock.Reach
	traits []string
}

// selfArgument is the position of the value a method is called on.
const selfArgument = -1

// An entryLanguage is a language's table, decoded when code in it is first read.
type entryLanguage struct {
	raw  []byte
	once sync.Once
	done *foreignLanguage
	err  error
}

// language returns what is known of a language, or nil.
func (k *Knowledge) language(name string) *foreignLanguage {
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
	return []string{"perl", "ruby", "php", "lua", "awk", "julia", "r", "elixir", "groovy", "vim", "lisp", "tcl", "cmake"}
}

func compileLanguage(name string, d languageDescription) (*foreignLanguage, error) {
	l := &foreignLanguage{name: name, syntax: d.Syntax, comments: d.Comments, member: strings.Fields(d.Member), concat: strings.Fields(d.Concat),
		bare: d.Bare, closed: d.Closed, regex: d.Regex, folds: d.Folds, values: d.Values, keywords: wordSet(d.Keywords), harmless: wordSet(d.Harmless)}
	if !slices.Contains(foreignSyntaxes(), d.Syntax) {
		return nil, fmt.Errorf("unknown syntax %q", d.Syntax)
	}
	l.calls = make(map[string]foreignEffect, len(d.Calls))
	for _, names := range sortedNames(d.Calls) {
		effect, err := parseForeignEffect(d.Calls[names])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", names, err)
		}
		for rest := names; rest != ""; {
			var one string
			one, rest, _ = strings.Cut(rest, " ")
			if _, twice := l.calls[one]; twice || l.harmless[one] {
				return nil, fmt.Errorf("call %s is described twice", one)
			}
			l.calls[one] = effect
		}
	}
	for _, call := range sortedNames(l.folds) {
		if !slices.Contains(foreignFolds(), l.folds[call]) {
			return nil, fmt.Errorf("%s: unknown fold %q", call, l.folds[call])
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

func parseForeignEffect(text string) (foreignEffect, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return foreignEffect{}, fmt.Errorf("%q needs a kind and what it is done to", text)
	}
	e := foreignEffect{kind: interlock.ImpactKind(fields[0]), what: fields[1]}
	switch fields[0] {
	case "copy", "move", "open":
		e.kind, e.what = interlock.ImpactWrite, fields[0]
	case "request":
		e.kind, e.what, e.method = interlock.ImpactNetwork, "request", fields[1]
	}
	if !knownKind(string(e.kind)) || !slices.Contains(foreignTargets(), e.what) {
		return e, fmt.Errorf("%q is no kind of impact with a target", text)
	}
	for _, field := range fields[2:] {
		n, err := strconv.Atoi(field)
		switch {
		case err == nil:
			e.arg = n
		case field == "self":
			e.arg = selfArgument
		case strings.HasPrefix(field, "as:"):
			e.method = field[len("as:"):]
		case knownReach(interlock.Reach(field)):
			e.reach = interlock.Reach(field)
		case slices.Contains(traitNames(), field):
			e.traits = append(e.traits, field)
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
