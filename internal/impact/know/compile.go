package know

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
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
	c := &Command{Name: name, Parent: parent, Described: true, Style: d.Style, Verb: d.Verb, Wraps: d.Wraps, Skip: d.Skip, Stdin: d.Stdin,
		Script: d.Script, Code: d.Code, Prints: d.Prints, Links: d.Links, Seeks: d.Seeks, Sends: d.Sends, Posting: d.Posts, Copies: d.Copies, Anywhere: d.Anywhere, Piped: d.Piped, Recipe: d.Recipe, examples: d.Examples}
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
		for _, names := range sortedKeys(described) {
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
	for _, patterns := range sortedKeys(d.When) {
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
		c.Limits = c.Limits || o.Size
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
		sub, err := compileCommand("", c, d.Sub[key])
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if len(d.Sub[key].Sub) > 0 {
			return fmt.Errorf("%s: write subcommands of subcommands as one key of several words", key)
		}
		for _, parent := range c.descend(steps[:len(steps)-1]) {
			for _, name := range strings.Split(steps[len(steps)-1], "|") {
				one := *sub // what alternatives have in common is compiled once and never changed
				one.Name, one.Parent = parent.Name+" "+name, parent
				if parent.describes(name) {
					return fmt.Errorf("subcommand %s is described twice", one.Name)
				}
				parent.put(name, &one)
			}
		}
	}
	return nil
}

// describes reports whether a subcommand is described, and not merely a step towards another.
func (c *Command) describes(name string) bool {
	for _, g := range c.globs {
		if g.pattern == name {
			return g.sub.Described
		}
	}
	return c.Subs[name] != nil && c.Subs[name].Described
}

func (c *Command) put(name string, sub *Command) {
	if have := c.Subs[name]; have != nil { // a parent made for a deeper key before its own description came
		sub.Subs, sub.globs = have.Subs, have.globs
	}
	if strings.ContainsAny(name, "*?") {
		c.globs = append(c.globs, globSub{name, sub})
		sort.SliceStable(c.globs, func(i, j int) bool { return len(c.globs[i].pattern) > len(c.globs[j].pattern) })
		return
	}
	if c.Subs == nil {
		c.Subs = map[string]*Command{}
	}
	c.Subs[name] = sub
}

// descend returns the nodes the steps lead to, making those that have no description: they keep their parent's impacts.
func (c *Command) descend(steps []string) []*Command {
	nodes := []*Command{c}
	for _, step := range steps {
		var next []*Command
		for _, node := range nodes {
			for _, name := range strings.Split(step, "|") {
				sub := node.Subs[name]
				for _, g := range node.globs {
					if g.pattern == name {
						sub = g.sub
					}
				}
				if sub == nil {
					sub = &Command{Name: node.Name + " " + name, Parent: node, Style: node.Style, Impacts: node.Impacts}
					node.put(name, sub)
				}
				next = append(next, sub)
			}
		}
		nodes = next
	}
	return nodes
}

// Choose returns the subcommands a word may select under any of the candidates, the most particular first.
func Choose(candidates []*Command, word string) []*Command {
	var out []*Command
	for _, c := range candidates {
		if s := c.Subs[word]; s != nil {
			out = append(out, s)
		}
	}
	for _, c := range candidates {
		for _, g := range c.globs {
			if MatchGlob(g.pattern, word) {
				out = append(out, g.sub)
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
		"mongo", "powershell", "encoded", "cmd", "ftp", "applescript", "argv", "debugger", "make", "pager", "other",
		"julia", "r", "elixir", "groovy", "tcl", "cmake", "elisp", "scheme", "clojure"}
}

// parseOption reads the directives of a flag: "value; write value overwrite; +force".
func parseOption(text string) (*Option, error) {
	o := &Option{}
	for _, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if err := o.directive(part); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *Option) directive(part string) error {
	word, rest, _ := strings.Cut(part, " ")
	if o.plainDirective(word, rest) {
		return nil
	}
	switch word {
	case "operand":
		if o.Value, o.Slot = true, 1; rest != "" {
			o.Slot = int(rest[0] - '0')
		}
		if o.Slot < 1 || o.Slot > MaxSlots || len(rest) > 1 {
			return fmt.Errorf("operand %q is no position", rest)
		}
	case "leaf":
		if o.Value, o.Leaf = true, true; rest != "" {
			o.Slot = int(rest[0] - '0')
		}
	case "nested":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.Value, o.Nested = !o.Last, rest
	case "code":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.Code = rest
	case "only":
		e, err := parseEffect(rest)
		o.Only = append(o.Only, e)
		return err
	default:
		return o.effectOrWords(part)
	}
	return nil
}

// plainDirective reads a directive that can't be wrong: a word, or a word and what it is about.
func (o *Option) plainDirective(word, rest string) bool {
	switch word {
	case "value":
		o.Value = true
	case "optional":
		o.Last = true
	case "dry":
		o.Dry = true
	case "dir":
		o.Value, o.Dir = true, true
	case "exec":
		o.Exec, o.Append = true, rest == "append"
	case "none":
		o.None = true
	case "looks":
		o.Looks = true
	case "changes":
		o.Changes = true
	case "argv":
		o.Argv = true
	case "split":
		o.Value, o.Split = true, true
	case "narrow":
		o.Narrow, o.Naming, o.Sorting = true, rest == "name", rest == "kind"
	case "method":
		o.Value, o.Method = true, true
	case "assign":
		o.Value, o.Assign = true, true
	case "mount":
		o.Value, o.Mount = true, true
	case "size":
		o.Value, o.Size, o.Unit = true, true, rest == "unit"
	case "makes":
		o.Value, o.Makes = true, true
	case "stdin":
		o.Stdin = true
	case "data":
		o.Data = true
	case "feed":
		o.Value, o.Feed = true, true
	case "setting":
		o.Value, o.Setting = true, rest
	case "decode":
		o.Decode = rest
	case "scope":
		o.Value, o.Scope = true, rest
	default:
		return o.runDirective(word, rest)
	}
	return true
}

// runDirective reads a directive about what is run with a flag's value, and what it prints.
func (o *Option) runDirective(word, rest string) bool {
	switch word {
	case "body", "peer":
		o.Value, o.Body, o.Peer = o.Value || word == "body", o.Body || word == "body", o.Peer || word == "peer"
	case "pipe":
		o.Value, o.Pipe = true, true
	case "named":
		o.Named = rest + " "
	case "tries":
		o.Tries = true
	case "module":
		o.Value, o.Module = true, rest+" "
	case "prints":
		o.Prints = rest
	default:
		return o.fileDirective(word, rest)
	}
	return true
}

func (o *Option) effectOrWords(part string) error {
	if adds, ok := strings.CutPrefix(part, "+"); ok {
		w, err := parseWords(strings.Fields(adds))
		o.Adds.Merge(w)
		return err
	}
	e, err := parseEffect(part)
	o.Impacts = append(o.Impacts, e)
	return err
}

func parseEffects(texts []string) ([]Effect, error) {
	out := make([]Effect, 0, len(texts))
	for _, text := range texts {
		e, err := parseEffect(text)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// parseEffect reads "kind [target] [words]": "delete operands irreversible", "network first:host upload".
func parseEffect(text string) (Effect, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || !slices.Contains(interlock.ImpactKinds(), interlock.ImpactKind(fields[0])) {
		return Effect{}, fmt.Errorf("%q does not begin with an impact kind", text)
	}
	e := Effect{Kind: interlock.ImpactKind(fields[0])}
	fields = fields[1:]
	if len(fields) > 0 && e.takeTarget(fields[0]) {
		fields = fields[1:]
	}
	var err error
	e.Words, err = parseWords(fields)
	return e, err
}

func (e *Effect) takeTarget(word string) bool {
	if fixed, ok := strings.CutPrefix(word, "="); ok {
		e.Fixed, e.What = fixed, "name"
		return true
	}
	if fixed, ok := strings.CutPrefix(word, "path="); ok {
		e.Fixed, e.What = fixed, "path"
		return true
	}
	if flag, ok := strings.CutPrefix(word, "@"); ok {
		e.Target, e.What = "flag", "path"
		flag, e.Alt, _ = strings.Cut(flag, "|")
		e.Flag, _, _ = strings.Cut(flag, ".")
		if _, what, ok := strings.Cut(flag, "."); ok {
			e.What = what
		}
		return slices.Contains(targetKinds(), e.What) && (e.Alt == "" || e.Alt == "cwd")
	}
	target, alt, _ := strings.Cut(word, "|")
	target, what, _ := strings.Cut(target, ".")
	if !slices.Contains([]string{"operands", "first", "second", "last", "rest", "init", "value", "cwd"}, target) {
		return false
	}
	if what == "" {
		what = "path"
	}
	e.Target, e.Alt, e.What = target, alt, what
	return slices.Contains(targetKinds(), what) && (alt == "" || alt == "cwd")
}

// targetKinds lists what an operand or value may be.
func targetKinds() []string {
	return []string{"path", "entries", "folder", "host", "url", "name", "data", "base", "local", "remote", "rev", "address", "clone", "landed", "pair", "registry"}
}

func parseWords(fields []string) (Words, error) {
	var w Words
	for _, f := range fields {
		switch {
		case slices.Contains(interlock.Reaches(), interlock.Reach(f)):
			w.Reach = interlock.Reach(f)
		case slices.Contains(interlock.Reversibilities(), interlock.Reversibility(f)):
			w.Reversibility = interlock.Reversibility(f)
		case slices.Contains(interlock.Confidences(), interlock.Confidence(f)):
			w.Confidence = interlock.Confidence(f)
		case slices.Contains(traitNames(), f):
			w.Traits = append(w.Traits, f)
		default:
			return w, fmt.Errorf("%q is no reach, reversibility, confidence or trait", f)
		}
	}
	return w, nil
}

// traitNames lists the traits data may name.
func traitNames() []string {
	return []string{fact.TraitUnparsable, fact.TraitDynamic, fact.TraitGlob, fact.TraitWrapper, fact.TraitRecursive, fact.TraitForce, fact.TraitOverwrite,
		fact.TraitAppend, fact.TraitBulk, fact.TraitDryRun, fact.TraitElevated, fact.TraitRemote, fact.TraitObfuscated, fact.TraitDecoded, fact.TraitInline,
		fact.TraitBackground, fact.TraitBomb, fact.TraitRoot, fact.TraitDevice, fact.TraitSecret, fact.TraitPersonal, fact.TraitEnvironment, fact.TraitHistory, fact.TraitUncommitted,
		fact.TraitStartup, fact.TraitAgentConfig, fact.TraitCI, fact.TraitLog, fact.TraitDefence, fact.TraitAccount, fact.TraitBoot, fact.TraitBackup,
		fact.TraitDatabase, fact.TraitInfra, fact.TraitPackage, fact.TraitSelf, fact.TraitDownload, fact.TraitUpload, fact.TraitDownloadRun, fact.TraitFetchedRun, fact.TraitForeign, fact.TraitRedirected, fact.TraitSecretSend,
		fact.TraitReverseShell, fact.TraitListen, fact.TraitMetadata, fact.TraitPublish, fact.TraitForward, fact.TraitScan, fact.TraitWrittenRun, fact.TraitRecon, fact.TraitPassword,
		fact.TraitInjection, fact.TraitMalice, fact.TraitUnsupported, fact.TraitOutside, fact.TraitClimbing, fact.TraitContent, fact.TraitRepeated, fact.TraitHooked, fact.TraitEncrypted, fact.TraitMoved, fact.TraitAttached, fact.TraitUnverified}
}

// MaxSlots is the number of positions a cmdlet's operands may have names for.
const MaxSlots = 4
