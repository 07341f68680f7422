package impact

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// compile decodes and compiles one command description.
func (k *Knowledge) compile(e *entry) (*command, error) {
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

func compileCommand(name string, parent *command, d commandDescription) (*command, error) {
	c := &command{name: name, parent: parent, described: true, style: d.Style, verb: d.Verb, wraps: d.Wraps, skip: d.Skip, stdin: d.Stdin,
		script: d.Script, code: d.Code, prints: d.Prints, links: d.Links, seeks: d.Seeks, sends: d.Sends, posting: d.Posts, copies: d.Copies, anywhere: d.Anywhere, piped: d.Piped, recipe: d.Recipe, examples: d.Examples}
	if c.style == "" && parent != nil {
		c.style = parent.style
	}
	if err := checkNames(d); err != nil {
		return nil, err
	}
	var err error
	if c.adds, err = parseWords(strings.Fields(d.Adds)); err != nil {
		return nil, err
	}
	if c.impacts, err = parseEffects(d.Impacts); err != nil {
		return nil, err
	}
	if c.alone, err = parseEffects(d.Alone); err != nil {
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

func (c *command) compileFlags(d commandDescription) error {
	if d.Values == "" && len(d.Flags) == 0 && len(d.When) == 0 {
		return nil
	}
	c.flags = make(map[string]*option, len(d.Flags)+8)
	plain := &option{value: true, shared: true}
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
	for name := range c.flags {
		if strings.HasPrefix(name, "--") || c.style == "cmdlet" {
			c.longs = append(c.longs, name)
		}
		if strings.HasPrefix(name, "$") {
			c.variables = append(c.variables, name)
		}
	}
	sort.Strings(c.longs)
	sort.Strings(c.variables)
	for _, patterns := range sortedKeys(d.When) {
		o, err := parseOption(d.When[patterns])
		if err != nil {
			return fmt.Errorf("when %s: %w", patterns, err)
		}
		c.when = append(c.when, condition{patterns: strings.Split(patterns, "|"), option: o})
	}
	return nil
}

func (c *command) compileFlag(names, directives string) error {
	o, err := parseOption(directives)
	if err != nil {
		return fmt.Errorf("flag %s: %w", names, err)
	}
	for _, name := range strings.Fields(names) {
		if err := c.describe(name, o); err != nil {
			return err
		}
		c.limits = c.limits || o.size
	}
	return nil
}

// describe says what one flag means, which is said once: of two meanings one would be lost without a word.
func (c *command) describe(name string, o *option) error {
	if c.style == "cmdlet" {
		name = strings.ToLower(name)
	}
	if c.flags[name] != nil {
		return fmt.Errorf("flag %s is described twice", name)
	}
	c.flags[name] = o
	return nil
}

// compileSubs builds the tree of subcommands. A key may hold several words and alternatives: "stash drop|clear".
func (c *command) compileSubs(d commandDescription) error {
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
				one.name, one.parent = parent.name+" "+name, parent
				if parent.describes(name) {
					return fmt.Errorf("subcommand %s is described twice", one.name)
				}
				parent.put(name, &one)
			}
		}
	}
	return nil
}

// describes reports whether a subcommand is described, and not merely a step towards another.
func (c *command) describes(name string) bool {
	for _, g := range c.globs {
		if g.pattern == name {
			return g.sub.described
		}
	}
	return c.subs[name] != nil && c.subs[name].described
}

func (c *command) put(name string, sub *command) {
	if have := c.subs[name]; have != nil { // a parent made for a deeper key before its own description came
		sub.subs, sub.globs = have.subs, have.globs
	}
	if strings.ContainsAny(name, "*?") {
		c.globs = append(c.globs, globSub{name, sub})
		sort.SliceStable(c.globs, func(i, j int) bool { return len(c.globs[i].pattern) > len(c.globs[j].pattern) })
		return
	}
	if c.subs == nil {
		c.subs = map[string]*command{}
	}
	c.subs[name] = sub
}

// descend returns the nodes the steps lead to, making those that have no description: they keep their parent's impacts.
func (c *command) descend(steps []string) []*command {
	nodes := []*command{c}
	for _, step := range steps {
		var next []*command
		for _, node := range nodes {
			for _, name := range strings.Split(step, "|") {
				sub := node.subs[name]
				for _, g := range node.globs {
					if g.pattern == name {
						sub = g.sub
					}
				}
				if sub == nil {
					sub = &command{name: node.name + " " + name, parent: node, style: node.style, impacts: node.impacts}
					node.put(name, sub)
				}
				next = append(next, sub)
			}
		}
		nodes = next
	}
	return nodes
}

// choose returns the subcommands a word may select under any of the candidates, the most particular first.
func choose(candidates []*command, word string) []*command {
	var out []*command
	for _, c := range candidates {
		if s := c.subs[word]; s != nil {
			out = append(out, s)
		}
	}
	for _, c := range candidates {
		for _, g := range c.globs {
			if matchGlob(g.pattern, word) {
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
	if kind, _, _ := strings.Cut(d.Recipe, " "); !slices.Contains([]string{"", "make", "install", "script", "just", "tasks", "ini", "python", "javascript", "ruby"}, kind) {
		return fmt.Errorf("unknown recipe %q", d.Recipe)
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
		"mongo", "powershell", "encoded", "cmd", "ftp", "applescript", "argv", "debugger", "other",
		"julia", "r", "elixir", "groovy", "tcl", "cmake", "elisp", "scheme", "clojure"}
}

// parseOption reads the directives of a flag: "value; write value overwrite; +force".
func parseOption(text string) (*option, error) {
	o := &option{}
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

func (o *option) directive(part string) error {
	word, rest, _ := strings.Cut(part, " ")
	if o.plainDirective(word, rest) {
		return nil
	}
	switch word {
	case "operand":
		if o.value, o.slot = true, 1; rest != "" {
			o.slot = int(rest[0] - '0')
		}
		if o.slot < 1 || o.slot > maxSlots || len(rest) > 1 {
			return fmt.Errorf("operand %q is no position", rest)
		}
	case "leaf":
		if o.value, o.leaf = true, true; rest != "" {
			o.slot = int(rest[0] - '0')
		}
	case "nested":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.value, o.nested = !o.last, rest
	case "code":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.code = rest
	case "only":
		e, err := parseEffect(rest)
		o.only = append(o.only, e)
		return err
	default:
		return o.effectOrWords(part)
	}
	return nil
}

// plainDirective reads a directive that can't be wrong: a word, or a word and what it is about.
func (o *option) plainDirective(word, rest string) bool {
	switch word {
	case "value":
		o.value = true
	case "optional":
		o.last = true
	case "dry":
		o.dry = true
	case "dir":
		o.value, o.dir = true, true
	case "exec":
		o.exec, o.append = true, rest == "append"
	case "none":
		o.none = true
	case "looks":
		o.looks = true
	case "changes":
		o.changes = true
	case "argv":
		o.argv = true
	case "split":
		o.value, o.split = true, true
	case "narrow":
		o.narrow, o.naming, o.sorting = true, rest == "name", rest == "kind"
	case "method":
		o.value, o.method = true, true
	case "assign":
		o.value, o.assign = true, true
	case "mount":
		o.value, o.mount = true, true
	case "size":
		o.value, o.size, o.unit = true, true, rest == "unit"
	case "makes":
		o.value, o.makes = true, true
	case "stdin":
		o.stdin = true
	case "data":
		o.data = true
	case "feed":
		o.value, o.feed = true, true
	case "setting":
		o.value, o.setting = true, rest
	case "decode":
		o.decode = rest
	case "scope":
		o.value, o.scope = true, rest
	default:
		return o.runDirective(word, rest)
	}
	return true
}

// runDirective reads a directive about what is run with a flag's value, and what it prints.
func (o *option) runDirective(word, rest string) bool {
	switch word {
	case "body", "peer":
		o.value, o.body, o.peer = o.value || word == "body", o.body || word == "body", o.peer || word == "peer"
	case "pipe":
		o.value, o.pipe = true, true
	case "named":
		o.named = rest + " "
	case "tries":
		o.tries = true
	case "module":
		o.value, o.module = true, rest+" "
	case "prints":
		o.prints = rest
	default:
		return o.fileDirective(word, rest)
	}
	return true
}

func (o *option) effectOrWords(part string) error {
	if adds, ok := strings.CutPrefix(part, "+"); ok {
		w, err := parseWords(strings.Fields(adds))
		o.adds.merge(w)
		return err
	}
	e, err := parseEffect(part)
	o.impacts = append(o.impacts, e)
	return err
}

func parseEffects(texts []string) ([]effect, error) {
	out := make([]effect, 0, len(texts))
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
func parseEffect(text string) (effect, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || !slices.Contains(interlock.ImpactKinds(), interlock.ImpactKind(fields[0])) {
		return effect{}, fmt.Errorf("%q does not begin with an impact kind", text)
	}
	e := effect{kind: interlock.ImpactKind(fields[0])}
	fields = fields[1:]
	if len(fields) > 0 && e.takeTarget(fields[0]) {
		fields = fields[1:]
	}
	var err error
	e.words, err = parseWords(fields)
	return e, err
}

func (e *effect) takeTarget(word string) bool {
	if fixed, ok := strings.CutPrefix(word, "="); ok {
		e.fixed, e.what = fixed, "name"
		return true
	}
	if fixed, ok := strings.CutPrefix(word, "path="); ok {
		e.fixed, e.what = fixed, "path"
		return true
	}
	if flag, ok := strings.CutPrefix(word, "@"); ok {
		e.target, e.what = "flag", "path"
		flag, e.alt, _ = strings.Cut(flag, "|")
		e.flag, _, _ = strings.Cut(flag, ".")
		if _, what, ok := strings.Cut(flag, "."); ok {
			e.what = what
		}
		return slices.Contains(targetKinds(), e.what) && (e.alt == "" || e.alt == "cwd")
	}
	target, alt, _ := strings.Cut(word, "|")
	target, what, _ := strings.Cut(target, ".")
	if !slices.Contains([]string{"operands", "first", "second", "last", "rest", "init", "value", "cwd"}, target) {
		return false
	}
	if what == "" {
		what = "path"
	}
	e.target, e.alt, e.what = target, alt, what
	return slices.Contains(targetKinds(), what) && (alt == "" || alt == "cwd")
}

// targetKinds lists what an operand or value may be.
func targetKinds() []string {
	return []string{"path", "entries", "folder", "host", "url", "name", "data", "base", "local", "remote", "rev", "address", "clone", "landed", "pair", "registry"}
}

func parseWords(fields []string) (words, error) {
	var w words
	for _, f := range fields {
		switch {
		case slices.Contains(interlock.Reaches(), interlock.Reach(f)):
			w.reach = interlock.Reach(f)
		case slices.Contains(interlock.Reversibilities(), interlock.Reversibility(f)):
			w.reversibility = interlock.Reversibility(f)
		case slices.Contains(interlock.Confidences(), interlock.Confidence(f)):
			w.confidence = interlock.Confidence(f)
		case slices.Contains(traitNames(), f):
			w.traits = append(w.traits, f)
		default:
			return w, fmt.Errorf("%q is no reach, reversibility, confidence or trait", f)
		}
	}
	return w, nil
}

// traitNames lists the traits data may name.
func traitNames() []string {
	return []string{TraitUnparsable, TraitDynamic, TraitGlob, TraitWrapper, TraitRecursive, TraitForce, TraitOverwrite,
		TraitAppend, TraitBulk, TraitDryRun, TraitElevated, TraitRemote, TraitObfuscated, TraitDecoded, TraitInline,
		TraitBackground, TraitBomb, TraitRoot, TraitDevice, TraitSecret, TraitPersonal, TraitEnvironment, TraitHistory, TraitUncommitted,
		TraitStartup, TraitAgentConfig, TraitCI, TraitLog, TraitDefence, TraitAccount, TraitBoot, TraitBackup,
		TraitDatabase, TraitInfra, TraitPackage, TraitSelf, TraitDownload, TraitUpload, TraitDownloadRun, TraitFetchedRun, TraitForeign, TraitRedirected, TraitSecretSend,
		TraitReverseShell, TraitListen, TraitMetadata, TraitPublish, TraitForward, TraitScan, TraitWrittenRun, TraitRecon, TraitPassword,
		TraitInjection, TraitUnsupported, TraitOutside, TraitClimbing, TraitContent, TraitRepeated, TraitHooked, TraitEncrypted, TraitMoved, TraitAttached, TraitUnverified}
}

// maxSlots is the number of positions a cmdlet's operands may have names for.
const maxSlots = 4
