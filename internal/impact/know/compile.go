package know

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// compile decodes and compiles one command description.
func (k *Knowledge) compile(e *entry) (*Command, error) {
	var d commandDescription
	if err := strictjson.DecodeTrusted(e.raw, &d); err != nil {
		return nil, err
	}
	seen := map[string]bool{e.name: true}
	for d.Like != "" {
		if seen[d.Like] || k.commands[d.Like] == nil {
			return nil, fmt.Errorf("like %q names no other command", d.Like)
		}
		if d.Values != "" || d.Flags != nil || d.When != nil || d.Impacts != nil || d.Sub != nil {
			return nil, fmt.Errorf("like %s: nothing can be described beside it", d.Like)
		}
		seen[d.Like] = true
		examples, like := d.Examples, d.Like
		d = commandDescription{}
		if err := strictjson.DecodeTrusted(k.commands[like].raw, &d); err != nil {
			return nil, err
		}
		d.Examples = examples
	}
	return compileCommand(e.name, nil, d)
}

func compileCommand(name string, parent *Command, d commandDescription) (*Command, error) {
	c := &Command{Name: name, Parent: parent, Described: true, Style: d.Style, Verb: d.Verb, Wraps: d.Wraps,
		Skip: d.Skip, Stdin: d.Stdin,
		Script: d.Script, Code: d.Code, Prints: d.Prints, Links: d.Links, Seeks: d.Seeks, Sends: d.Sends, Posting: d.Posts,
		Copies: d.Copies, Anywhere: d.Anywhere, Piped: d.Piped, Bare: d.Bare, Recipe: d.Recipe, examples: d.Examples}
	if c.Style == "" && parent != nil {
		c.Style = parent.Style
	}
	if err := checkNames(d); err != nil {
		return nil, err
	}
	var err error
	if c.Adds, err = parseWords(strings.Fields(d.Adds)); err != nil {
		return nil, err
	}
	if c.Impacts, err = parseEffects(d.Impacts); err != nil {
		return nil, err
	}
	if c.Alone, err = parseEffects(d.Alone); err != nil {
		return nil, err
	}
	if err := c.compileFlags(d); err != nil {
		return nil, err
	}
	if err := c.compileSubs(d); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Command) compileFlags(d commandDescription) error {
	if d.Values == "" && len(d.Flags) == 0 && len(d.When) == 0 {
		return nil
	}
	c.Flags = make(map[string]*Option, len(d.Flags)+8)
	plain := &Option{Value: true, Shared: true}
	for _, name := range strings.Fields(d.Values) {
		if err := c.describe(name, plain); err != nil {
			return err
		}
	}
	for _, described := range d.Flags {
		if len(described) != 1 {
			return fmt.Errorf("flags: each item has one member, names: directives")
		}
		for _, names := range lex.SortedNames(described) {
			if err := c.compileFlag(names, described[names]); err != nil {
				return err
			}
		}
	}
	for name := range c.Flags {
		if strings.HasPrefix(name, "--") || c.Style == "cmdlet" {
			c.Longs = append(c.Longs, name)
		}
		if strings.HasPrefix(name, "$") {
			c.Variables = append(c.Variables, name)
		}
	}
	sort.Strings(c.Longs)
	sort.Strings(c.Variables)
	for _, patterns := range lex.SortedNames(d.When) {
		o, err := parseOption(d.When[patterns])
		if err != nil {
			return fmt.Errorf("when %s: %w", patterns, err)
		}
		c.When = append(c.When, Condition{Patterns: strings.Split(patterns, "|"), Option: o})
	}
	return nil
}

func (c *Command) compileFlag(names, directives string) error {
	o, err := parseOption(directives)
	if err != nil {
		return fmt.Errorf("flag %s: %w", names, err)
	}
	for _, name := range strings.Fields(names) {
		if err := c.describe(name, o); err != nil {
			return err
		}
		c.Limits, c.Connects = c.Limits || o.Size, c.Connects || o.Scope == "host"
		if o.Folder != "" {
			c.Folder = o.Folder
		}
	}
	return nil
}

// describe says what one flag means, which is said once: of two meanings one would be lost without a word.
func (c *Command) describe(name string, o *Option) error {
	if c.Style == "cmdlet" {
		name = strings.ToLower(name)
	}
	if c.Flags[name] != nil {
		return fmt.Errorf("flag %s is described twice", name)
	}
	c.Flags[name] = o
	return nil
}

// compileSubs builds the tree of subcommands. A key may hold several words and alternatives: "stash drop|clear".
func (c *Command) compileSubs(d commandDescription) error {
	keys := make([]string, 0, len(d.Sub))
	for key := range d.Sub {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { // shallow first, so that "stash" exists before "stash drop"
		a, b := strings.Count(keys[i], " "), strings.Count(keys[j], " ")
		return a < b || a == b && keys[i] < keys[j]
	})
	for _, key := range keys {
		steps := strings.Fields(key)
		if len(steps) == 0 {
			return fmt.Errorf("empty subcommand name")
		}
		// What alternatives have in common is compiled once and never changed.
		described := sync.OnceValues(func() (*Command, error) { return c.compileSub(key, d.Sub[key]) })
		for _, parent := range c.descend(steps[:len(steps)-1]) {
			for _, name := range strings.Split(steps[len(steps)-1], "|") {
				one := &Command{Name: parent.Name + " " + name, Parent: parent, Described: true}
				if parent.describes(name) {
					return fmt.Errorf("subcommand %s is described twice", one.Name)
				}
				parent.put(name, &Sub{command: one, described: described})
			}
		}
	}
	return nil
}

func (c *Command) compileSub(key string, raw json.RawMessage) (*Command, error) {
	var d commandDescription
	err := strictjson.DecodeTrusted(raw, &d)
	if err == nil && len(d.Sub) > 0 {
		err = errors.New("write subcommands of subcommands as one key of several words")
	}
	var sub *Command
	if err == nil {
		sub, err = compileCommand("", c, d)
	}
	if err != nil {
		return &Command{}, fmt.Errorf("%s: %w", key, err) // a step that nothing is known of
	}
	return sub, nil
}

// A Sub is a subcommand. Most of those that a table describes nobody asks for, so one is compiled when a word chooses it.
type Sub struct {
	command   *Command // from the start what it is called, and what lies below it
	described func() (*Command, error)
	once      sync.Once
	err       error
}

func (s *Sub) whole() *Command {
	s.once.Do(func() {
		if s.described == nil {
			return
		}
		sub, err := s.described()
		one := *sub
		one.Name, one.Parent, one.Subs, one.globs = s.command.Name, s.command.Parent, s.command.Subs, s.command.globs
		*s.command, s.err = one, err
	})
	return s.command
}

// check compiles everything below a command and returns what is wrong with it.
func (c *Command) check() error {
	var all []error
	below := make([]*Sub, 0, len(c.Subs)+len(c.globs))
	for _, name := range lex.SortedNames(c.Subs) {
		below = append(below, c.Subs[name])
	}
	for _, g := range c.globs {
		below = append(below, g.sub)
	}
	for _, s := range below {
		sub := s.whole()
		all = append(all, s.err, sub.check())
	}
	return errors.Join(all...)
}

// describes reports whether a subcommand is described, and not merely a step towards another.
func (c *Command) describes(name string) bool {
	for _, g := range c.globs {
		if g.pattern == name {
			return g.sub.command.Described
		}
	}
	return c.Subs[name] != nil && c.Subs[name].command.Described
}

func (c *Command) put(name string, sub *Sub) {
	if have := c.Subs[name]; have != nil { // a parent made for a deeper key before its own description came
		sub.command.Subs, sub.command.globs = have.command.Subs, have.command.globs
	}
	if strings.ContainsAny(name, "*?") {
		c.globs = append(c.globs, globSub{name, sub})
		sort.SliceStable(c.globs, func(i, j int) bool { return len(c.globs[i].pattern) > len(c.globs[j].pattern) })
		return
	}
	if c.Subs == nil {
		c.Subs = map[string]*Sub{}
	}
	c.Subs[name] = sub
}

// descend returns the nodes the steps lead to, making those that have no description: they keep their parent's impacts.
func (c *Command) descend(steps []string) (commands []*Command) {
	nodes := []*Sub{{command: c}}
	for _, step := range steps {
		var next []*Sub
		for _, node := range nodes {
			for _, name := range strings.Split(step, "|") {
				sub := node.command.Subs[name]
				for _, g := range node.command.globs {
					if g.pattern == name {
						sub = g.sub
					}
				}
				if sub == nil {
					of := node.whole()
					sub = &Sub{command: &Command{Name: of.Name + " " + name, Parent: of, Style: of.Style, Impacts: of.Impacts}}
					of.put(name, sub)
				}
				next = append(next, sub)
			}
		}
		nodes = next
	}
	for _, node := range nodes {
		commands = append(commands, node.command)
	}
	return commands
}

// Choose returns the subcommands a word may select under any of the candidates, the most particular first.
func Choose(candidates []*Command, word string) []*Command {
	var out []*Command
	for _, c := range candidates {
		if s := c.Subs[word]; s != nil {
			out = append(out, s.whole())
		}
	}
	for _, c := range candidates {
		for _, g := range c.globs {
			if MatchGlob(g.pattern, word) {
				out = append(out, g.sub.whole())
			}
		}
	}
	return out
}

func checkNames(d commandDescription) error {
	if !slices.Contains([]string{"", "words", "pairs", "slash", "first", "bundle", "cmdlet"}, d.Style) {
		return fmt.Errorf("unknown style %q", d.Style)
	}
	if !slices.Contains([]string{"", "argv", "shell", "exec", "bash", "cmd", "powershell"}, d.Wraps) {
		return fmt.Errorf("unknown wraps %q", d.Wraps)
	}
	if !slices.Contains([]string{"", "alone", "word"}, d.Bare) {
		return fmt.Errorf("unknown bare %q", d.Bare)
	}
	if err := checkRecipe(d.Recipe); err != nil {
		return err
	}
	if d.Stdin == "patch" {
		d.Stdin = "" // no code, but what it says becomes of files
	}
	for _, kind := range []string{d.Stdin, d.Script, d.Code} {
		if kind != "" && !slices.Contains(codeKinds(), kind) {
			return fmt.Errorf("unknown kind of code %q", kind)
		}
	}
	return nil
}

// codeKinds lists what code in a command line may be: kinds of action, and languages read only for what they run.
func codeKinds() []string {
	return []string{"shell", "sql", "python", "javascript", "perl", "ruby", "php", "awk", "sed", "vim", "lua", "redis",
		"mongo", "powershell", "encoded", "cmd", "ftp", "applescript", "argv", "debugger", "make", "pager", "ssh-config",
		"tmux", "other",
		"julia", "r", "elixir", "groovy", "tcl", "cmake", "elisp", "scheme", "clojure"}
}

// MaxSlots is the number of positions a cmdlet's operands may have names for.
const MaxSlots = 4
