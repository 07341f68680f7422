package impact

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/strictjson"
)

// Knowledge is what the analysers know about commands and paths, as data. It is immutable and safe for concurrent use:
// documents are indexed when it is made and each entry is decoded when it is first asked for, because one hook call uses
// a handful of several hundred.
type Knowledge struct {
	commands  map[string]*entry
	room      []entry // for entries still to come
	paths     *lazyPaths
	tools     *lazyTools
	code      *lazyCalls
	languages map[string]*entryLanguage // other languages, by name
	parsers   sync.Pool                 // shell parsers, which are costly to make
	rooms     sync.Pool                 // workrooms of analyses
}

// An entry is one command description, decoded when first used.
type entry struct {
	name     string
	document string // the file it stands in
	raw      []byte
	once     sync.Once
	done     *command
	err      error

	windows bool // it stands in a document about Windows
}

type lazyPaths struct {
	raw    []byte
	once   sync.Once
	done   *pathTable
	fold   sync.Once
	folded *pathTable // the same in lower case, for systems where case does not matter
	err    error
}

// ParseKnowledge reads command knowledge (commands/*.yaml) and path knowledge (paths.yaml) from documents already
// converted to JSON, by their path below rules/. Other documents are ignored. Descriptions are decoded when first used;
// Check decodes them all.
func ParseKnowledge(files map[string][]byte) (*Knowledge, error) {
	know := &Knowledge{commands: make(map[string]*entry, 2048), paths: &lazyPaths{}, tools: &lazyTools{}, code: &lazyCalls{}, languages: map[string]*entryLanguage{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		switch {
		case name == "paths.yaml":
			know.paths.raw = files[name]
		case name == "tools.yaml":
			know.tools.raw = files[name]
		case name == "code.yaml":
			know.code.raw = files[name]
		case strings.HasPrefix(name, "languages/"):
			know.languages[strings.TrimSuffix(strings.TrimPrefix(name, "languages/"), ".yaml")] = &entryLanguage{raw: files[name]}
		case strings.HasPrefix(name, "commands/"):
			if err := know.index(name, files[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return know, nil
}

// index files every member of the document's "commands" object under its names, without decoding the descriptions.
func (k *Knowledge) index(name string, document []byte) error {
	if table, ok := bytes.CutPrefix(document, []byte(shippedTable)); ok {
		return k.indexLines(name, table)
	}
	return members(document, func(key string, value []byte) error {
		if key == "tests" { // decided by tests, and not part of what is known
			return nil
		}
		if key != "commands" {
			return fmt.Errorf("unknown member %q", key)
		}
		return members(value, func(names string, raw []byte) error { return k.add(name, names, raw) })
	})
}

// shippedTable is how a table begins that has each command on a line of its own.
const shippedTable = "{\"commands\":{\n"

// indexLines is index for such a table: the lines are taken apart and not read.
func (k *Knowledge) indexLines(name string, table []byte) error {
	for string(table) != "}}" {
		var line []byte
		var ok bool
		if line, table, ok = bytes.Cut(table, []byte("\n")); !ok {
			return fmt.Errorf("unterminated table")
		}
		names, raw, ok := bytes.Cut(bytes.TrimSuffix(line, []byte(",")), []byte(`":`))
		if !ok || len(names) < 2 || names[0] != '"' || bytes.IndexByte(names, '\\') >= 0 {
			return fmt.Errorf("malformed member %q", names)
		}
		if err := k.add(name, string(names[1:]), raw); err != nil {
			return err
		}
	}
	return nil
}

// add files a description that stands in a document under its names.
func (k *Knowledge) add(document, names string, raw []byte) error {
	if len(k.room) == 0 {
		k.room = make([]entry, 64)
	}
	e := &k.room[0]
	k.room = k.room[1:]
	e.name, e.document, e.raw = firstName(names), document, raw
	e.windows = strings.HasPrefix(document, "commands/windows")
	for rest := names; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "|")
		if _, twice := k.commands[name]; twice {
			return fmt.Errorf("command %q is described twice, here and in %s", name, k.commands[name].document)
		}
		k.commands[name] = e
	}
	return nil
}

// windows reports whether a name is described among the programs of Windows only.
func (k *Knowledge) windows(name string) bool {
	e := k.commands[name]
	return e != nil && e.windows
}

// lookup returns the description of a command, or nil.
func (k *Knowledge) lookup(name string) *command {
	if k == nil {
		return nil
	}
	e := k.commands[name]
	if e == nil {
		return nil
	}
	e.once.Do(func() { e.done, e.err = k.compile(e) })
	return e.done
}

func (k *Knowledge) pathTable() *pathTable {
	if k == nil || k.paths == nil {
		return &pathTable{}
	}
	k.paths.once.Do(func() { k.paths.done, k.paths.err = k.paths.compile(false) })
	return k.paths.done
}

// foldedPaths is the path table in lower case, for paths whose case means nothing.
func (k *Knowledge) foldedPaths() *pathTable {
	if k == nil || k.paths == nil {
		return &pathTable{}
	}
	k.paths.fold.Do(func() { k.paths.folded, _ = k.paths.compile(true) })
	return k.paths.folded
}

func (l *lazyPaths) compile(fold bool) (*pathTable, error) {
	var d pathsDescription
	if l.raw == nil {
		return &pathTable{}, nil
	}
	if err := strictjson.DecodeTrusted(l.raw, &d); err != nil {
		return &pathTable{}, err
	}
	table, err := compilePaths(d, fold)
	if err != nil {
		return &pathTable{}, err
	}
	return table, nil
}

// Check decodes every description and returns what is wrong with them.
func (k *Knowledge) Check() error {
	var all []error
	for _, name := range k.Commands() {
		k.lookup(name)
		if e := k.commands[name]; e.err != nil && e.name == name {
			all = append(all, fmt.Errorf("%s: command %s: %w", e.document, name, e.err))
		}
	}
	k.pathTable()
	if k.paths.err != nil {
		all = append(all, fmt.Errorf("paths.yaml: %w", k.paths.err))
	}
	k.toolTable()
	if k.tools.err != nil {
		all = append(all, fmt.Errorf("tools.yaml: %w", k.tools.err))
	}
	for _, name := range sortedNames(k.languages) {
		if k.language(name); k.languages[name].err != nil {
			all = append(all, fmt.Errorf("languages/%s.yaml: %w", name, k.languages[name].err))
		}
	}
	k.calls("")
	if k.code.err != nil {
		all = append(all, fmt.Errorf("code.yaml: %w", k.code.err))
	}
	return errors.Join(all...)
}

// Commands returns the names of all commands described, in order.
func (k *Knowledge) Commands() []string {
	out := make([]string, 0, len(k.commands))
	for name := range k.commands {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Examples returns the examples of the description under name; a description's first name holds them.
func (k *Knowledge) Examples(name string) []Example {
	e := k.commands[name]
	if e == nil || e.name != name || k.lookup(name) == nil {
		return nil
	}
	return e.done.examples
}

// A commandDescription is one command as rules/commands/*.yaml describes it; docs/adding-a-command.md is its manual.
type commandDescription struct {
	About    string                        `json:"about,omitempty"`
	Like     string                        `json:"like,omitempty"`
	Style    string                        `json:"style,omitempty"`
	Verb     bool                          `json:"verb,omitempty"`
	Values   string                        `json:"values,omitempty"`
	Flags    []map[string]string           `json:"flags,omitempty"` // one member each: names that differ in case only are common
	When     map[string]string             `json:"when,omitempty"`
	Impacts  []string                      `json:"impacts,omitempty"`
	Alone    []string                      `json:"alone,omitempty"`
	Sub      map[string]commandDescription `json:"sub,omitempty"`
	Wraps    string                        `json:"wraps,omitempty"`
	Skip     int                           `json:"skip,omitempty"`
	Adds     string                        `json:"adds,omitempty"`
	Stdin    string                        `json:"stdin,omitempty"`
	Script   string                        `json:"script,omitempty"`
	Code     string                        `json:"code,omitempty"`
	Prints   string                        `json:"prints,omitempty"`
	Recipe   string                        `json:"recipe,omitempty"`
	Links    bool                          `json:"links,omitempty"`
	Seeks    bool                          `json:"seeks,omitempty"`
	Piped    bool                          `json:"piped,omitempty"`
	Sends    bool                          `json:"sends,omitempty"`
	Posts    string                        `json:"posts,omitempty"`
	Copies   bool                          `json:"copies,omitempty"`
	Anywhere bool                          `json:"anywhere,omitempty"`
	Examples []Example                     `json:"examples,omitempty"`
}

// An Example is a command line and the impacts it must have, as "kind reach traits…" each. They run as tests.
type Example struct {
	Run     string   `json:"run"`
	Impacts []string `json:"impacts"`
}

// A command is a compiled description.
type command struct {
	name      string // as Via names it: "git push"
	parent    *command
	described bool // not merely a step towards a subcommand
	style     string
	verb      bool // the name is also an everyday word other programs use for subcommands
	flags     map[string]*option
	longs     []string // the flags that may be shortened, in order
	variables []string // the flags that are variables of the environment, "$NAME" or "$FAMILY_*", in order
	when      []condition
	impacts   []effect
	alone     []effect // further impacts of a wrapper that is given nothing to run
	subs      map[string]*command
	globs     []globSub
	wraps     string
	skip      int
	adds      words
	stdin     string
	script    string
	code      string
	copies    bool   // the last operand becomes a copy of the first
	limits    bool   // some flag bounds how much it copies
	anywhere  bool   // it is what its name says wherever the program lies
	posting   string // whether it is a request that changes something: always, or with items to send
	sends     bool   // standard input goes where the command connects to
	links     bool   // the last operand becomes another name of the first
	seeks     bool   // the first operand is what it looks for in all the others hold
	piped     bool   // a cmdlet: what comes through the pipeline stands for its first operand
	prints    string
	recipe    string // the format and the names of the file that says what it runs
	examples  []Example
}

type globSub struct {
	pattern string
	sub     *command
}

// A condition applies an option's directives when an operand matches one of the patterns.
type condition struct {
	patterns []string
	option   *option
}

// An option is what one flag means.
type option struct {
	value   bool   // takes a value, in the same or the next argument
	shared  bool   // flags that have nothing in common share it
	slot    int    // a cmdlet's parameter that is also the operand at this position, from 1
	leaf    bool   // the value names something in the place the first operand names
	last    bool   // the value is optional and only ever attached
	dry     bool   // nothing is changed after all
	dir     bool   // the value is the working directory
	append  bool   // what is found comes at its end if it has no {}
	exec    bool   // a command line follows, up to ";" or "+"
	none    bool   // the command does nothing but inform
	looks   bool   // it only looks at what its operands name, whatever else is said of them
	changes bool   // it does not only look, although its operands say so
	split   bool   // the value begins a command line, as one text
	argv    bool   // what follows the flags is a command line, word by word
	narrow  bool   // narrows the set of paths the operands name
	naming  bool   // by a name pattern, which is its value
	sorting bool   // by the kind of file, which is its value
	method  bool   // the value is an HTTP method
	body    bool   // the value is what a request sends
	assign  bool   // the value is a name=value assignment
	mount   bool   // the value is host-path:container-path
	size    bool   // the value bounds how much is copied
	unit    bool   // the value is what another one counts
	makes   bool   // the value is how big a file is made
	code    string // the first operand is code of this kind
	data    bool   // standard input is data and no code
	alone   bool   // and nothing else: what would be run without it is data
	file    string // the value is a file with code of this kind, which is run
	feed    bool   // the file that is its value takes the place of standard input
	stdin   bool   // code is read from standard input although there are operands
	peer    bool   // the program it names has the connection for its input and output
	pipe    bool   // the value is a file to write, or after a bar a command that is written to
	named   string // code that is given is, with this before it, the name of a command, and the operands are its arguments
	tries   bool   // the value is a password
	module  string // the value and this before it name a command, and what follows are its arguments
	prints  string // what the command prints then
	setting string // the value is key=value, and this pseudo-command describes what keys do
	nested  string // the value is code of this kind
	decode  string // standard input is decoded to standard output
	scope   string // the value names where the command acts: "name" or "host"
	adds    words
	impacts []effect
	only    []effect
}

// An effect is one impact a description gives, still without its target's place.
type effect struct {
	kind   interlock.ImpactKind
	target string // operands, first, second, last, rest, init, value, cwd, or empty
	alt    string // what it is when there is no such operand
	what   string // path, entries, host, url, name, data
	fixed  string // a target given literally
	flag   string // the flag whose value is the target
	words  words
}

// words are the modifiers an effect or option adds.
type words struct {
	reach         interlock.Reach
	reversibility interlock.Reversibility
	confidence    interlock.Confidence
	traits        []string
}

func (w words) empty() bool {
	return w.reach == "" && w.reversibility == "" && w.confidence == "" && len(w.traits) == 0
}

// apply modifies an impact.
func (w words) apply(i *interlock.Impact) {
	if w.reach != "" {
		i.Reach = w.reach
	}
	if w.reversibility != "" {
		i.Reversibility = w.reversibility
	}
	if w.confidence != "" {
		i.Confidence = w.confidence
	}
	i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], w.traits...)
}

func (w *words) merge(o words) {
	if o.reach != "" {
		w.reach = o.reach
	}
	if o.reversibility != "" {
		w.reversibility = o.reversibility
	}
	if o.confidence != "" {
		w.confidence = o.confidence
	}
	w.traits = append(w.traits, o.traits...)
}

func firstName(names string) string {
	name, _, _ := strings.Cut(names, "|")
	return name
}
