package impact

import (
	"strings"
)

// maxFlags is how many flags of one command are told apart by how often they are given.
const maxFlags = 64

// find returns the option a flag names, in the command or those above it.
func (c *command) find(name string) *option {
	for n := c; n != nil; n = n.parent {
		if o := n.flags[name]; o != nil {
			return o
		}
	}
	if c.style == "words" && strings.HasPrefix(name, "--") {
		return c.find(name[1:])
	}
	return nil
}

// abbreviated returns the option a shortened long flag means, as GNU programs allow.
func (c *command) abbreviated(name string) *option {
	var found *option
	for n := c; n != nil; n = n.parent {
		for _, long := range n.longs {
			if strings.HasPrefix(long, name) && len(name) > 3 {
				if found != nil && found != n.flags[long] {
					return nil
				}
				found = n.flags[long]
			}
		}
	}
	return found
}

// read sorts arguments into flags and operands, choosing subcommands on the way.
func (r *shellRun) read(spec *command, args []field) *use {
	u := r.s.room.uses.one()
	u.spec = spec
	if n := countFlags(args); n > 0 {
		u.flags = r.s.room.givens.room(n)
	}
	pick := &r.s.room.pick
	*pick = picker{best: spec}
	pick.first[0] = spec
	pick.candidates = pick.first[:]
	splits := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.text
		switch {
		case text == "--" && !a.dynamic && spec.style != "pairs":
			if o := u.spec.find("--"); o != nil {
				u.flags = append(u.flags, given{option: o, name: "--"})
			}
			i = u.after(args, i+1)
		case u.spec.style == "pairs" && strings.IndexByte(text, '=') > 0:
			u.pair(a)
		case isFlag(u.spec, a) && !(u.spec.style == "first" && len(u.operands) > 0):
			i = u.flag(args, i)
			if words := u.splits(); words != nil {
				args, i, splits = append(words, args[min(i+1, len(args)):]...), -1, splits+1
				if splits > maxSplits {
					r.s.unknown(spec.name, TraitWork)
					args = nil
				}
			}
		case text == "!" && u.spec.flags["!"] != nil:
			u.flags = append(u.flags, given{option: u.spec.flags["!"], name: "!"})
		case i == 0 && u.spec.style == "bundle" && u.bundled(text):
			i = u.bundle(args)
		default:
			if len(u.operands) == 0 && pick.word(a) {
				u.spec = pick.candidates[0]
				continue
			}
			if len(u.operands) == 0 {
				u.spec, u.operands = pick.end()
			}
			if u.wraps() && len(u.operands) >= u.spec.skip {
				if u.assignment(a) || u.dash(a) {
					continue
				}
				u.rest = args[i:]
				i = len(args)
				continue
			}
			if u.operands == nil {
				u.operands = r.s.room.fields.room(len(args) - i)
			}
			u.operands = append(u.operands, a)
		}
		if u.rest != nil {
			break
		}
	}
	if len(u.operands) == 0 && u.rest == nil {
		u.spec, u.operands = pick.end()
	}
	u.sorted(spec, args)
	return u
}

// sorted notes what shows only when all arguments are sorted: what the use is called, and whether it only asks for help.
func (u *use) sorted(spec *command, args []field) {
	u.via = u.spec.name
	if n := len(args); n > 0 && len(u.flags) == 0 && len(u.operands) == 0 && u.rest == nil {
		u.asked = args[n-1].text == "--help" || args[n-1].text == "--version"
	}
	if len(args) == 1 && spec.wraps == "" { // whatever else the flag is for behind a subcommand
		u.asked = u.asked || args[0].text == "--help" || args[0].text == "--version"
	}
	if spec.style == "slash" && len(args) > 0 && args[len(args)-1].text == "/?" {
		u.asked = true
	}
	if strings.Contains(u.via, "*") {
		u.via = viaOf(spec, args, strings.Count(u.via, " "))
	}
}

// pair takes a name=value.
func (u *use) pair(a field) {
	name, _, _ := strings.Cut(a.text, "=")
	if o := u.spec.find(name); o != nil {
		u.flags = append(u.flags, given{option: o, name: name, value: cut(a, len(name)+1)})
	} else {
		u.operands = append(u.operands, a)
	}
}

// countFlags is about how many flags there are: enough to make room for them.
func countFlags(args []field) int {
	n := 0
	for i := range args {
		if text := args[i].text; len(text) > 1 && text[0] == '-' {
			n++
			if text[1] != '-' {
				n += min(len(text)-2, 2) // run together
			}
		}
	}
	return min(n, 8)
}

// A picker finds the subcommand that words choose. Several may fit while words remain; the most particular described one
// wins, and words read beyond it are operands after all.
type picker struct {
	first      [1]*command
	candidates []*command
	best       *command
	beyond     []field
	done       bool
}

// word takes a word as part of a subcommand's name, or refuses it.
func (p *picker) word(a field) bool {
	if a.dynamic { // pu${x}sh is push, as long as nothing says what x holds
		a.text = withoutVariables(a.text)
	}
	if p.done || a.text == "" || strings.IndexByte(a.text, '`') >= 0 || strings.Contains(a.text, "$(") {
		return false
	}
	next := choose(p.candidates, a.text)
	if len(next) == 0 && p.best.style == "slash" { // programs of Windows do not mind
		next = choose(p.candidates, strings.ToLower(a.text))
	}
	if len(next) == 0 {
		return false
	}
	p.candidates, p.beyond = next, append(p.beyond, a)
	for _, c := range next {
		if c.described {
			p.best, p.beyond = c, nil
			break
		}
	}
	return true
}

// end returns the choice and the words that belong to its operands.
func (p *picker) end() (*command, []field) {
	p.done = true
	beyond := p.beyond
	p.beyond = nil
	return p.best, beyond
}

// viaOf names a subcommand that was chosen by a pattern as it was written.
func viaOf(spec *command, args []field, n int) string {
	via := spec.name
	for _, a := range args {
		if n > 0 && !strings.HasPrefix(a.text, "-") {
			via += " " + a.text
			n--
		}
	}
	return via
}

// after takes everything after "--": operands, or the command line of a wrapper.
func (u *use) after(args []field, i int) int {
	if u.wraps() && i < len(args) {
		for i < len(args) && (len(u.operands) < u.spec.skip || u.assignment(args[i])) {
			if len(u.operands) < u.spec.skip {
				u.operands = append(u.operands, args[i])
			}
			i++
		}
		if i < len(args) {
			u.rest = args[i:]
		}
		return len(args)
	}
	u.operands = append(u.operands, args[i:]...)
	return len(args)
}

// wraps reports whether a command line follows: always after a wrapper, and after a flag that says so.
func (u *use) wraps() bool { return u.spec.wraps != "" || u.asWords() }

// asWords reports whether a flag says that the command line that follows is taken word by word.
func (u *use) asWords() bool {
	for _, g := range u.flags {
		if g.option.argv {
			return true
		}
	}
	return false
}

// assignment takes a NAME=value before a wrapped command, if the wrapper's description knows them.
func (u *use) assignment(a field) bool {
	o := u.spec.flags["NAME=value"]
	if o == nil || !isAssignment(a.text) {
		return false
	}
	u.flags = append(u.flags, given{option: o, name: "NAME=value", value: a})
	return true
}

// dash takes a lone dash before a wrapped command, if the wrapper's description knows it: env - NAME=value command.
func (u *use) dash(a field) bool {
	o := u.spec.flags["-"]
	if o == nil || a.text != "-" || a.dynamic {
		return false
	}
	u.flags = append(u.flags, given{option: o, name: "-"})
	return true
}

func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return false
	}
	if _, exported := exportedFunction(name); exported {
		return true
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isFlag(spec *command, a field) bool {
	if a.lead || len(a.text) < 2 {
		return false
	}
	switch a.text[0] {
	case '-':
		return true
	case '+':
		return spec.find(a.text) != nil || spec.flags["+"] != nil
	case '/':
		return spec.style == "slash" && len(a.text) <= 4 || spec.style == "slash" && spec.find(slashName(a.text)) != nil
	}
	return spec.style == "words" && (a.text == "!" || a.text == "(" || a.text == ")") || spec.flags[a.text] != nil
}

func slashName(text string) string {
	name, _, _ := strings.Cut(strings.ToLower(text), ":")
	return name
}

func cut(f field, n int) field {
	f.text, f.lead = f.text[n:], false
	return f
}

// flag reads the flag at i and returns the index of its last argument.
func (u *use) flag(args []field, i int) int {
	a := args[i]
	name := a.text
	if u.spec.style == "slash" && name[0] == '/' {
		name = slashName(name)
	}
	if u.spec.style == "cmdlet" {
		name, rest, attached := strings.Cut(strings.ToLower(name), ":")
		if o := u.spec.parameter(name); o != nil && attached {
			u.flags = append(u.flags, given{option: o, name: name, value: cut(a, len(a.text)-len(rest))})
		} else if o != nil {
			return u.take(o, name, args, i)
		}
		return i
	}
	if o := u.spec.find(name); o != nil {
		return u.take(o, name, args, i)
	}
	if o := u.spec.flags["+"]; o != nil && name[0] == '+' {
		u.flags = append(u.flags, given{option: o, name: "+", value: cut(a, 1)})
		return i
	}
	if a.dynamic { // what follows may well be nothing
		if at := strings.IndexAny(name, "$`"); at > 1 {
			if o := u.spec.find(name[:at]); o != nil && !o.value {
				return u.take(o, name[:at], args, i)
			}
		}
	}
	if before, _, ok := strings.Cut(name, "="); ok {
		o := u.spec.find(before)
		if o == nil && strings.HasPrefix(name, "--") {
			o = u.spec.abbreviated(before)
		}
		if o != nil {
			u.flags = append(u.flags, given{option: o, name: before, value: cut(a, len(before)+1)})
		}
		if o != nil || strings.HasPrefix(name, "--") || u.spec.style == "words" || u.spec.style == "slash" {
			return i
		}
	}
	if strings.HasPrefix(name, "--") {
		if o := u.spec.abbreviated(name); o != nil {
			return u.take(o, name, args, i)
		}
		return i
	}
	if u.spec.style == "words" || u.spec.style == "slash" {
		return i
	}
	return u.cluster(args, i)
}

// bundled reports whether a first word is a run of flags without a dash, as tar and ar take them.
func (u *use) bundled(word string) bool {
	for j := 0; j < len(word); j++ {
		if u.spec.find("-"+word[j:j+1]) == nil {
			return false
		}
	}
	return word != ""
}

// bundle reads such a run: values stand in the following arguments, in order.
func (u *use) bundle(args []field) int {
	i, letters := 0, args[0].text
	for j := 0; j < len(letters); j++ {
		name := "-" + letters[j:j+1]
		g := given{option: u.spec.find(name), name: name}
		if g.option.value && i+1 < len(args) {
			i++
			g.value = args[i]
		}
		u.flags = append(u.flags, g)
	}
	return i
}

// take notes a flag and the value in the next argument, if it takes one.
func (u *use) take(o *option, name string, args []field, i int) int {
	if n := len(u.flags); n > maxFlags && u.flags[n-1].option == o && !o.value && !o.exec {
		return i // said often enough
	}
	g := given{option: o, name: name}
	switch {
	case o.exec:
		end := i + 1
		for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && end > i+1 && strings.Contains(args[end-1].text, "{}")) {
			end++
		}
		g.argv = args[min(i+1, len(args)):end]
		i = end
	case o.value && i+1 < len(args):
		i++
		g.value = args[i]
	}
	u.flags = append(u.flags, g)
	return u.following(args, i)
}

// following gives what stands behind a flag that names a command to that command, which reads it in its own way.
func (u *use) following(args []field, i int) int {
	g := &u.flags[len(u.flags)-1]
	if g.option.module == "" {
		return i
	}
	g.argv = args[min(i+1, len(args)):]
	return len(args)
}

// cluster reads short flags run together: -rf, -ofile, -czf file.
func (u *use) cluster(args []field, i int) int {
	a := args[i]
	for j := 1; j < len(a.text); j++ {
		name := "-" + a.text[j:j+1]
		o := u.spec.find(name)
		if o == nil {
			continue
		}
		if (o.value || o.last) && j+1 < len(a.text) {
			value := cut(a, j+1)
			value.text = strings.TrimPrefix(value.text, "=")
			u.flags = append(u.flags, given{option: o, name: name, value: value})
			return u.following(args, i)
		}
		if o.value {
			return u.take(o, name, args, i)
		}
		if n := len(u.flags); n <= maxFlags || u.flags[n-1].option != o {
			u.flags = append(u.flags, given{option: o, name: name})
		}
	}
	return i
}

func hasNested(u *use) bool {
	for _, g := range u.flags {
		if g.option.nested != "" || g.option.code != "" {
			return true
		}
	}
	return false
}

// composes reports whether a flag gives a program in a language that can print anything.
func (u *use) composes() bool {
	for _, g := range u.flags {
		switch g.option.nested {
		case "python", "javascript", "perl", "ruby", "php", "lua":
			return true
		}
	}
	return false
}

// replaced reports whether a flag has changed what the operands are.
func (u *use) replaced() bool {
	for _, g := range u.flags {
		if len(g.option.only) > 0 {
			return true
		}
	}
	return false
}
