package know

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/lex"
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
	prose     *lazyProse
	code      *lazyCalls
	languages map[string]*entryLanguage // other languages, by name
	Parsers   sync.Pool                 // shell parsers, which are costly to make
	Rooms     sync.Pool                 // workrooms of analyses
	ordered   sync.Once
	order     []string // names of commands
}

// An entry is one command description, decoded when first used.
type entry struct {
	name     string
	document string // the file it is in
	raw      []byte
	once     sync.Once
	done     *Command
	err      error

	windows bool // it is in a document about Windows
}

type lazyPaths struct {
	raw    []byte
	once   sync.Once
	done   *PathTable
	fold   sync.Once
	folded *PathTable // the same in lower case, for systems where case does not matter
	err    error
}

// Parse reads command knowledge (commands/*.yaml) and path knowledge (paths.yaml) from documents already
// converted to JSON, by their path below rules/. Other documents are ignored. Descriptions are decoded when first used;
// Check decodes them all.
func Parse(files map[string][]byte) (*Knowledge, error) {
	know := &Knowledge{commands: make(map[string]*entry, 4096), paths: &lazyPaths{}, tools: &lazyTools{}, prose: &lazyProse{},
		code:      &lazyCalls{},
		languages: map[string]*entryLanguage{}}
	for _, name := range lex.SortedNames(files) {
		switch {
		case name == "paths.yaml":
			know.paths.raw = files[name]
		case name == "tools.yaml":
			know.tools.raw = files[name]
		case name == "prose.yaml":
			know.prose.raw = files[name]
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
	return Members(document, func(key string, value []byte) error {
		if key == "tests" { // decided by tests, and not part of what is known
			return nil
		}
		if key != "commands" {
			return fmt.Errorf("unknown member %q", key)
		}
		return Members(value, func(names string, raw []byte) error { return k.add(name, names, raw) })
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

// add files a description from a document under its names.
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

// Windows reports whether a name is described among the programs of Windows only.
func (k *Knowledge) Windows(name string) bool {
	e := k.commands[name]
	return e != nil && e.windows
}

// Lookup returns the description of a command, or nil.
func (k *Knowledge) Lookup(name string) *Command {
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

func (k *Knowledge) PathTable() *PathTable {
	if k == nil || k.paths == nil {
		return &PathTable{}
	}
	k.paths.once.Do(func() { k.paths.done, k.paths.err = k.paths.compile(false) })
	return k.paths.done
}

// FoldedPaths is the path table in lower case, for paths whose case means nothing.
func (k *Knowledge) FoldedPaths() *PathTable {
	if k == nil || k.paths == nil {
		return &PathTable{}
	}
	k.paths.fold.Do(func() { k.paths.folded, _ = k.paths.compile(true) })
	return k.paths.folded
}

func (l *lazyPaths) compile(fold bool) (*PathTable, error) {
	var d pathsDescription
	if l.raw == nil {
		return &PathTable{}, nil
	}
	if err := strictjson.DecodeTrusted(l.raw, &d); err != nil {
		return &PathTable{}, err
	}
	table, err := compilePaths(d, fold)
	if err != nil {
		return &PathTable{}, err
	}
	return table, nil
}

// Check decodes every description and returns what is wrong with them.
func (k *Knowledge) Check() error {
	var all []error
	for _, name := range k.Commands() {
		command, e := k.Lookup(name), k.commands[name]
		if e.name != name {
			continue
		}
		err := e.err
		if err == nil {
			err = command.check()
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s: command %s: %w", e.document, name, err))
		}
	}
	k.PathTable()
	if k.paths.err != nil {
		all = append(all, fmt.Errorf("paths.yaml: %w", k.paths.err))
	}
	k.ToolTable()
	if k.tools.err != nil {
		all = append(all, fmt.Errorf("tools.yaml: %w", k.tools.err))
	}
	k.Prose()
	if k.prose.err != nil {
		all = append(all, fmt.Errorf("prose.yaml: %w", k.prose.err))
	}
	for _, name := range lex.SortedNames(k.languages) {
		if k.Language(name); k.languages[name].err != nil {
			all = append(all, fmt.Errorf("languages/%s.yaml: %w", name, k.languages[name].err))
		}
	}
	k.Calls("")
	if k.code.err != nil {
		all = append(all, fmt.Errorf("code.yaml: %w", k.code.err))
	}
	return errors.Join(all...)
}

// Commands returns the names of all commands described, in order.
func (k *Knowledge) Commands() []string {
	k.ordered.Do(func() { k.order = lex.SortedNames(k.commands) })
	return k.order
}

// Examples returns the examples of the description under name; a description's first name holds them.
func (k *Knowledge) Examples(name string) []Example {
	e := k.commands[name]
	if e == nil || e.name != name || k.Lookup(name) == nil {
		return nil
	}
	return e.done.examples
}

// A commandDescription is one command as rules/commands/*.yaml describes it; docs/adding-a-command.md is its manual.
type commandDescription struct {
	About    string                     `json:"about,omitempty"`
	Like     string                     `json:"like,omitempty"`
	Style    string                     `json:"style,omitempty"`
	Verb     bool                       `json:"verb,omitempty"`
	Values   string                     `json:"values,omitempty"`
	Flags    []map[string]string        `json:"flags,omitempty"` // one member each: names that differ in case only are common
	When     map[string]string          `json:"when,omitempty"`
	Impacts  []string                   `json:"impacts,omitempty"`
	Alone    []string                   `json:"alone,omitempty"`
	Sub      map[string]json.RawMessage `json:"sub,omitempty"`
	Wraps    string                     `json:"wraps,omitempty"`
	Skip     int                        `json:"skip,omitempty"`
	Adds     string                     `json:"adds,omitempty"`
	Stdin    string                     `json:"stdin,omitempty"`
	Script   string                     `json:"script,omitempty"`
	Code     string                     `json:"code,omitempty"`
	Prints   string                     `json:"prints,omitempty"`
	Recipe   string                     `json:"recipe,omitempty"`
	Links    bool                       `json:"links,omitempty"`
	Seeks    bool                       `json:"seeks,omitempty"`
	Piped    bool                       `json:"piped,omitempty"`
	Bare     string                     `json:"bare,omitempty"`
	Sends    bool                       `json:"sends,omitempty"`
	Posts    string                     `json:"posts,omitempty"`
	Copies   bool                       `json:"copies,omitempty"`
	Anywhere bool                       `json:"anywhere,omitempty"`
	Examples []Example                  `json:"examples,omitempty"`
}

// An Example is a command line and the impacts it must have, as "kind reach traits…" each. They run as tests.
type Example struct {
	Run     string   `json:"run"`
	Impacts []string `json:"impacts"`
}

// A Command is a compiled description.
type Command struct {
	Name      string // as Via names it: "git push"
	Parent    *Command
	Described bool // not merely a step towards a subcommand
	Style     string
	Verb      bool // the name is also an everyday word other programs use for subcommands
	Flags     map[string]*Option
	Longs     []string // the flags that may be shortened, in order
	Folder    string   // the pseudo-command that describes the settings of a folder it obeys
	Variables []string // the flags that are variables of the environment, "$NAME" or "$FAMILY_*", in order
	When      []Condition
	Impacts   []Effect
	Alone     []Effect // further impacts of a wrapper that is given nothing to run
	Subs      map[string]*Sub
	globs     []globSub
	Wraps     string
	Skip      int
	Adds      Words
	Stdin     string
	Script    string
	Code      string
	Copies    bool   // the last operand becomes a copy of the first
	Limits    bool   // some flag bounds how much it copies
	Connects  bool   // some flag names the host it acts on, which an address among its words names as well
	Anywhere  bool   // it is what its name says wherever the program lies
	Posting   string // whether it is a request that changes something: always, or with items to send
	Sends     bool   // standard input goes where the command connects to
	Links     bool   // the last operand becomes another name of the first
	Seeks     bool   // the first operand is what it looks for in all the others hold
	Piped     bool   // a cmdlet: what comes through the pipeline serves as its first operand
	Bare      string // with how little behind it it only prints what it can do: alone, or with one word
	Prints    string
	Recipe    string // the format and the names of the file that says what it runs
	examples  []Example
}

type globSub struct {
	pattern string
	sub     *Sub
}

// A Condition applies an option's directives when an operand matches one of the patterns.
type Condition struct {
	Patterns []string
	Option   *Option
}

// An Option is what one flag means.
type Option struct {
	Value   bool   // takes a value, in the same or the next argument
	Shared  bool   // flags that have nothing in common share it
	Slot    int    // a cmdlet's parameter that is also the operand at this position, from 1
	Leaf    bool   // the value names something in the place the first operand names
	Last    bool   // the value is optional and only ever attached
	Into    bool   // its value is the folder that what is fetched by its own name lands in
	Dry     bool   // nothing is changed after all
	Dir     bool   // the value is the working directory
	Append  bool   // what is found comes at its end if it has no {}
	Exec    bool   // a command line follows, up to ";" or "+"
	None    bool   // the command does nothing but inform
	Looks   bool   // it only looks at what its operands name, whatever else is said of them
	Changes bool   // it does not only look, although its operands say so
	Split   bool   // the value begins a command line, as one text
	Argv    bool   // what follows the flags is a command line, word by word
	Narrow  bool   // narrows the set of paths the operands name
	Naming  bool   // by a name pattern, which is its value
	Sorting bool   // by the kind of file, which is its value
	Method  bool   // the value is an HTTP method
	Body    bool   // the value is what a request sends
	Assign  bool   // the value is a name=value assignment
	Mount   bool   // the value is host-path:container-path
	Size    bool   // the value bounds how much is copied
	Unit    bool   // the value is what another one counts
	Makes   bool   // the value is how big a file is made
	Code    string // the first operand is code of this kind
	Data    bool   // standard input is data and no code
	Alone   bool   // and nothing else: what would be run without it is data
	File    string // the value is a file with code of this kind, which is run
	Feed    bool   // the file that is its value takes the place of standard input
	Stdin   bool   // code is read from standard input although there are operands
	Peer    bool   // the program it names has the connection for its input and output
	Pipe    bool   // the value is a file to write, or after a bar a command that is written to
	Named   string // code that is given is, with this before it, the name of a command, and the operands are its arguments
	Tries   bool   // the value is a password
	Poses   string // the value is who the command says that it is: PosesAs and the others
	SignsIn bool   // standard input is the password for the host that the last operand names
	Module  string // the value and this before it name a command, and what follows are its arguments
	Prints  string // what the command prints then
	Setting string // the value is key=value, and this pseudo-command describes what keys do
	Search  bool   // the value is a list of folders in which a program looks for its parts
	Folder  string // the value is a folder whose settings, in a file of it, this pseudo-command describes
	Nested  string // the value is code of this kind
	Decode  string // standard input is decoded to standard output
	Scope   string // the value names where the command acts: "name" or "host"
	Adds    Words
	Impacts []Effect
	Only    []Effect
}

// How a flag says who a command claims to be.
const (
	PosesAs        = "as"      // the value is a name or an address
	PosesAsAddress = "address" // it is one where it is an address, and something else otherwise
	PosesAsHeader  = "header"  // it is one where it is such a header or setting
)

// An Effect is one impact a description gives, still without its target's place.
type Effect struct {
	Kind   interlock.ImpactKind
	Target string // operands, first, second, last, rest, init, value, cwd, or empty
	Alt    string // what it is when there is no such operand
	What   string // path, entries, host, url, name, data
	Fixed  string // a target given literally
	Flag   string // the flag whose value is the target
	Words  Words
}

// Words are the modifiers an effect or option adds.
type Words struct {
	Reach         interlock.Reach
	Reversibility interlock.Reversibility
	Confidence    interlock.Confidence
	Traits        []string
}

func (w Words) Empty() bool {
	return w.Reach == "" && w.Reversibility == "" && w.Confidence == "" && len(w.Traits) == 0
}

// Apply modifies an impact.
func (w Words) Apply(i *interlock.Impact) {
	if w.Reach != "" {
		i.Reach = w.Reach
	}
	if w.Reversibility != "" {
		i.Reversibility = w.Reversibility
	}
	if w.Confidence != "" {
		i.Confidence = w.Confidence
	}
	i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], w.Traits...)
}

func (w *Words) Merge(o Words) {
	if o.Reach != "" {
		w.Reach = o.Reach
	}
	if o.Reversibility != "" {
		w.Reversibility = o.Reversibility
	}
	if o.Confidence != "" {
		w.Confidence = o.Confidence
	}
	w.Traits = append(w.Traits, o.Traits...)
}

func firstName(names string) string {
	name, _, _ := strings.Cut(names, "|")
	return name
}

// Find returns the option a flag names, in the command or those above it.
func (c *Command) Find(name string) *Option {
	for n := c; n != nil; n = n.Parent {
		if o := n.Flags[name]; o != nil {
			return o
		}
	}
	if c.Style == "words" && strings.HasPrefix(name, "--") {
		return c.Find(name[1:])
	}
	return nil
}

// fileDirective reads a directive about a file of code that a flag names.
func (o *Option) fileDirective(word, rest string) bool {
	if word != "file" {
		return false
	}
	kind, instead := strings.CutSuffix(rest, " only")
	o.Value, o.File, o.Alone = true, kind, instead
	return kind != ""
}

// Obeys reports whether setting a variable does something by itself.
func (k *Knowledge) Obeys(name string) bool {
	spec := k.Lookup("=")
	if spec == nil {
		return false
	}
	family, _, _ := strings.Cut(name, "_")
	return spec.Flags[name] != nil || spec.Flags[family+"_*"] != nil
}

// Described reports whether a name is that of a command, without reading what is known of it.
func (k *Knowledge) Described(name string) bool { return k != nil && k.commands[name] != nil }
