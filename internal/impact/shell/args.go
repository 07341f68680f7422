package shell

import (
	"slices"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/windows"
)

// maxFlags is how many flags of one command are told apart by how often they are given.
const maxFlags = 64

// abbreviated returns the option a shortened long flag means, as GNU programs allow.
func abbreviated(c *know.Command, name string) *know.Option {
	var found *know.Option
	for n := c; n != nil; n = n.Parent {
		for _, long := range n.Longs {
			if strings.HasPrefix(long, name) && len(name) > 3 {
				if found != nil && found != n.Flags[long] {
					return nil
				}
				found = n.Flags[long]
			}
		}
	}
	return found
}

// read sorts arguments into flags and operands, choosing subcommands on the way.
func (r *shellRun) read(spec *know.Command, args []flow.Field) *flow.Use {
	u := r.S.Room.Uses.One()
	u.Spec = spec
	if n := countFlags(args); n > 0 {
		u.Flags = r.S.Room.Givens.Room(n)
	}
	pick := &r.S.Room.Pick
	*pick = flow.Picker{Best: spec}
	pick.First[0] = spec
	pick.Candidates = pick.First[:]
	splits := 0
	for i := 0; i < len(args); i++ {
		r.S.Spend(len(u.Flags) / 32) // each effect, and each word of a wrapper, looks through all of them
		a := args[i]
		text := a.Text
		switch {
		case text == "--" && !a.Dynamic && spec.Style != "pairs":
			if o := u.Spec.Find("--"); o != nil {
				u.Flags = append(u.Flags, flow.Given{Option: o, Name: "--"})
			}
			i = after(u, args, i+1)
		case u.Spec.Style == "pairs" && strings.IndexByte(text, '=') > 0:
			pair(u, a)
		case isFlag(u.Spec, a) && !(u.Spec.Style == "first" && len(u.Operands) > 0):
			i = flag(u, args, i)
			if words := splitOperand(u); words != nil {
				args, i, splits = append(words, args[min(i+1, len(args)):]...), -1, splits+1
				if splits > maxSplits {
					r.S.Unknown(spec.Name, fact.TraitWork)
					args = nil
				}
			}
		case text == "!" && u.Spec.Flags["!"] != nil:
			u.Flags = append(u.Flags, flow.Given{Option: u.Spec.Flags["!"], Name: "!"})
		case i == 0 && u.Spec.Style == "bundle" && bundled(u, text):
			i = bundle(u, args)
		default:
			i = r.wordAt(u, pick, args, i)
		}
		if u.Rest != nil {
			break
		}
	}
	if len(u.Operands) == 0 && u.Rest == nil {
		u.Spec, u.Operands = end(pick)
	}
	sorted(u, spec, args)
	return u
}

// wordAt takes the word at i: a part of a subcommand's name, the beginning of the command line that a wrapper runs,
// or an operand. It returns the index of the last word taken.
func (r *shellRun) wordAt(u *flow.Use, pick *flow.Picker, args []flow.Field, i int) int {
	if len(u.Operands) == 0 && word(pick, args[i]) {
		u.Spec = pick.Candidates[0]
		return i
	}
	if len(u.Operands) == 0 {
		u.Spec, u.Operands = end(pick)
	}
	if wraps(u) && len(u.Operands) >= u.Spec.Skip {
		if assignment(u, args[i]) || dash(u, args[i]) {
			return i
		}
		u.Rest = args[i:]
		return len(args)
	}
	if u.Operands == nil {
		u.Operands = r.S.Room.Fields.Room(len(args) - i)
	}
	u.Operands = append(u.Operands, args[i])
	return i
}

// sorted notes what shows only when all arguments are sorted: what the use is called, and whether it only asks for help.
func sorted(u *flow.Use, spec *know.Command, args []flow.Field) {
	u.Via = u.Spec.Name
	if n := len(args); n > 0 && len(u.Flags) == 0 && len(u.Operands) == 0 && u.Rest == nil {
		u.Asked = args[n-1].Text == "--help" || args[n-1].Text == "--version"
	}
	if len(args) == 1 && spec.Wraps == "" { // whatever else the flag is for behind a subcommand
		u.Asked = u.Asked || args[0].Text == "--help" || args[0].Text == "--version"
	}
	if spec.Style == "slash" && len(args) > 0 && args[len(args)-1].Text == "/?" {
		u.Asked = true
	}
	if strings.Contains(u.Via, "*") {
		u.Via = viaOf(spec, args, strings.Count(u.Via, " "))
	}
}

// pair takes a name=value.
func pair(u *flow.Use, a flow.Field) {
	name, _, _ := strings.Cut(a.Text, "=")
	if o := u.Spec.Find(name); o != nil {
		u.Flags = append(u.Flags, flow.Given{Option: o, Name: name, Value: cut(a, len(name)+1)})
	} else {
		u.Operands = append(u.Operands, a)
	}
}

// countFlags is about how many flags there are: enough to make room for them.
func countFlags(args []flow.Field) int {
	n := 0
	for i := range args {
		if text := args[i].Text; len(text) > 1 && text[0] == '-' {
			n++
			if text[1] != '-' {
				n += min(len(text)-2, 2) // run together
			}
		}
	}
	return min(n, 8)
}

// word takes a word as part of a subcommand's name, or refuses it.
func word(p *flow.Picker, a flow.Field) bool {
	if a.Dynamic { // pu${x}sh is push, as long as nothing says what x holds
		a.Text = withoutVariables(a.Text)
	}
	if p.Done || a.Text == "" || strings.IndexByte(a.Text, '`') >= 0 || strings.Contains(a.Text, "$(") {
		return false
	}
	next := know.Choose(p.Candidates, a.Text)
	if len(next) == 0 && p.Best.Style == "slash" { // programs of Windows do not mind
		next = know.Choose(p.Candidates, strings.ToLower(a.Text))
	}
	if len(next) == 0 {
		return false
	}
	p.Candidates, p.Beyond = next, append(p.Beyond, a)
	for _, c := range next {
		if c.Described {
			p.Best, p.Beyond = c, nil
			break
		}
	}
	return true
}

// end returns the choice and the words that belong to its operands.
func end(p *flow.Picker) (*know.Command, []flow.Field) {
	p.Done = true
	beyond := p.Beyond
	p.Beyond = nil
	return p.Best, beyond
}

// viaOf names a subcommand that was chosen by a pattern as it was written.
func viaOf(spec *know.Command, args []flow.Field, n int) string {
	via := spec.Name
	for _, a := range args {
		if n > 0 && !strings.HasPrefix(a.Text, "-") {
			via += " " + a.Text
			n--
		}
	}
	return via
}

// after takes everything after "--": operands, or the command line of a wrapper.
func after(u *flow.Use, args []flow.Field, i int) int {
	if wraps(u) && i < len(args) {
		for i < len(args) && (len(u.Operands) < u.Spec.Skip || assignment(u, args[i])) {
			if len(u.Operands) < u.Spec.Skip {
				u.Operands = append(u.Operands, args[i])
			}
			i++
		}
		if i < len(args) {
			u.Rest = args[i:]
		}
		return len(args)
	}
	u.Operands = append(u.Operands, args[i:]...)
	return len(args)
}

// wraps reports whether a command line follows: always after a wrapper, and after a flag that says so.
func wraps(u *flow.Use) bool { return u.Spec.Wraps != "" || asWords(u) }

// asWords reports whether a flag says that the command line that follows is taken word by word.
func asWords(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Argv {
			return true
		}
	}
	return false
}

// assignment takes a NAME=value before a wrapped command, if the wrapper's description knows them.
func assignment(u *flow.Use, a flow.Field) bool {
	o := u.Spec.Flags["NAME=value"]
	if o == nil || !isAssignment(a.Text) {
		return false
	}
	u.Flags = append(u.Flags, flow.Given{Option: o, Name: "NAME=value", Value: a})
	return true
}

// dash takes a lone dash before a wrapped command, if the wrapper's description knows it: env - NAME=value command.
func dash(u *flow.Use, a flow.Field) bool {
	o := u.Spec.Flags["-"]
	if o == nil || a.Text != "-" || a.Dynamic {
		return false
	}
	u.Flags = append(u.Flags, flow.Given{Option: o, Name: "-"})
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

func isFlag(spec *know.Command, a flow.Field) bool {
	if a.Lead || len(a.Text) < 2 {
		return false
	}
	switch a.Text[0] {
	case '-':
		return true
	case '+':
		return spec.Find(a.Text) != nil || spec.Flags["+"] != nil
	case '/':
		return spec.Style == "slash" && len(a.Text) <= 4 || spec.Style == "slash" && spec.Find(slashName(a.Text)) != nil
	}
	return spec.Style == "words" && (a.Text == "!" || a.Text == "(" || a.Text == ")") || spec.Flags[a.Text] != nil
}

func slashName(text string) string {
	name, _, _ := strings.Cut(strings.ToLower(text), ":")
	return name
}

func cut(f flow.Field, n int) flow.Field {
	f.Text, f.Lead = f.Text[n:], false
	return f
}

// flag reads the flag at i and returns the index of its last argument.
func flag(u *flow.Use, args []flow.Field, i int) int {
	a := args[i]
	name := a.Text
	if u.Spec.Style == "slash" && name[0] == '/' {
		name = slashName(name)
	}
	if u.Spec.Style == "cmdlet" {
		name, rest, attached := strings.Cut(strings.ToLower(name), ":")
		if o := windows.Parameter(u.Spec, name); o != nil && attached {
			u.Flags = append(u.Flags, flow.Given{Option: o, Name: name, Value: cut(a, len(a.Text)-len(rest))})
		} else if o != nil {
			return take(u, o, name, args, i)
		}
		return i
	}
	if o := u.Spec.Find(name); o != nil {
		return take(u, o, name, args, i)
	}
	if o := u.Spec.Flags["+"]; o != nil && name[0] == '+' {
		u.Flags = append(u.Flags, flow.Given{Option: o, Name: "+", Value: cut(a, 1)})
		return i
	}
	if a.Dynamic { // what follows may well be nothing
		if at := strings.IndexAny(name, "$`"); at > 1 {
			if o := u.Spec.Find(name[:at]); o != nil && !o.Value {
				return take(u, o, name[:at], args, i)
			}
		}
	}
	if before, _, ok := strings.Cut(name, "="); ok {
		o := u.Spec.Find(before)
		if o == nil && strings.HasPrefix(name, "--") {
			o = abbreviated(u.Spec, before)
		}
		if o != nil {
			value := cut(a, len(before)+1)
			if value.Text == "" && o.Value && len(before) == 2 && !value.Dynamic { // cut -d=
				value.Text = "="
			}
			u.Flags = append(u.Flags, flow.Given{Option: o, Name: before, Value: value})
		}
		if o != nil || strings.HasPrefix(name, "--") || u.Spec.Style == "words" || u.Spec.Style == "slash" {
			return i
		}
	}
	if strings.HasPrefix(name, "--") {
		if o := abbreviated(u.Spec, name); o != nil {
			return take(u, o, name, args, i)
		}
		return i
	}
	if u.Spec.Style == "words" || u.Spec.Style == "slash" {
		return i
	}
	return cluster(u, args, i)
}

// bundled reports whether a first word is a run of flags without a dash, as tar and ar take them.
func bundled(u *flow.Use, word string) bool {
	for j := 0; j < len(word); j++ {
		if u.Spec.Find("-"+word[j:j+1]) == nil {
			return false
		}
	}
	return word != ""
}

// bundle reads such a run: values stand in the following arguments, in order.
func bundle(u *flow.Use, args []flow.Field) int {
	i, letters := 0, args[0].Text
	for j := 0; j < len(letters); j++ {
		name := "-" + letters[j:j+1]
		g := flow.Given{Option: u.Spec.Find(name), Name: name}
		if g.Option.Value && i+1 < len(args) {
			i++
			g.Value = args[i]
		}
		u.Flags = append(u.Flags, g)
	}
	return i
}

// take notes a flag and the value in the next argument, if it takes one.
func take(u *flow.Use, o *know.Option, name string, args []flow.Field, i int) int {
	if n := len(u.Flags); n > maxFlags && u.Flags[n-1].Option == o && !o.Value && !o.Exec {
		return i // said often enough
	}
	g := flow.Given{Option: o, Name: name}
	switch {
	case o.Exec:
		end := i + 1
		for end < len(args) && args[end].Text != ";" &&
			!(args[end].Text == "+" && end > i+1 && strings.Contains(args[end-1].Text, "{}")) {
			end++
		}
		g.Argv = args[min(i+1, len(args)):end]
		i = end
	case o.Value && i+1 < len(args):
		i++
		g.Value = args[i]
	}
	u.Flags = append(u.Flags, g)
	return following(u, args, i)
}

// following gives what comes after a flag that names a command to that command, which reads it in its own way.
func following(u *flow.Use, args []flow.Field, i int) int {
	g := &u.Flags[len(u.Flags)-1]
	if g.Option.Module == "" {
		return i
	}
	g.Argv = args[min(i+1, len(args)):]
	return len(args)
}

// cluster reads short flags run together: -rf, -ofile, -czf file.
func cluster(u *flow.Use, args []flow.Field, i int) int {
	a := args[i]
	for j := 1; j < len(a.Text); j++ {
		name := "-" + a.Text[j:j+1]
		o := u.Spec.Find(name)
		if o == nil {
			continue
		}
		if (o.Value || o.Last) && j+1 < len(a.Text) {
			value := cut(a, j+1)
			if value.Text != "=" {
				value.Text = strings.TrimPrefix(value.Text, "=")
			}
			u.Flags = append(u.Flags, flow.Given{Option: o, Name: name, Value: value})
			return following(u, args, i)
		}
		if o.Value {
			return take(u, o, name, args, i)
		}
		if n := len(u.Flags); n <= maxFlags || u.Flags[n-1].Option != o {
			u.Flags = append(u.Flags, flow.Given{Option: o, Name: name})
		}
	}
	return i
}

func hasNested(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Nested != "" || g.Option.Code != "" {
			return true
		}
	}
	return false
}

// composes reports whether a flag gives a program in a language that can print anything.
func composes(u *flow.Use) bool {
	for _, g := range u.Flags {
		switch g.Option.Nested {
		case "python", "javascript", "perl", "ruby", "php", "lua":
			return true
		}
	}
	return false
}

// replaced reports whether a flag has changed what the operands are. One that speaks of the rest of them leaves the first what it is.
func replaced(u *flow.Use) bool {
	for _, g := range u.Flags {
		if slices.ContainsFunc(g.Option.Only, func(e know.Effect) bool { return e.Target != "rest" }) {
			return true
		}
	}
	return false
}
