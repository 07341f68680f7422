package impact

import (
	"strings"

	"interlock"

	"mvdan.cc/sh/v3/syntax"
)

// elsewhere is what a wrapper adds to all it runs: where that is and as whom.
func (r *shellRun) elsewhere(u *use) words {
	adds := u.spec.adds
	if r.guesses(u) {
		adds.traits = append(adds.traits[:len(adds.traits):len(adds.traits)], TraitRepeated)
	}
	for _, g := range u.flags {
		if g.option.argv {
			adds.merge(g.option.adds)
		}
		if g.option.scope == "name" && adds.reach != "" && r.s.production(g.value.text) {
			adds.reach = interlock.ReachProduction
		}
	}
	if adds.reach == interlock.ReachExternal && len(u.operands) > 0 {
		switch reach, _ := r.s.host(u.operands[0].text); reach {
		case interlock.ReachProduction:
			adds.reach = reach
		case interlock.ReachWorkspace:
			adds.reach = "" // this machine: what is far stays far
		}
	}
	return adds
}

// environment gives what a wrapper runs the variables set for it: env NAME=value command. The caller puts them back.
func (r *shellRun) environment(u *use) {
	r.shared = true
	for _, g := range u.flags {
		switch name, _, ok := strings.Cut(g.value.text, "="); {
		case !g.option.assign:
		case !ok:
			r.forget(name) // env -u NAME
		case isAssignment(g.value.text):
			r.set(name, varValue(cut(g.value, len(name)+1)))
		}
	}
}

// withAssignments runs a command with the variables its own assignments give it: NAME=value command. A builtin of the
// shell leaves what it sets behind, so only programs have them.
func (r *shellRun) withAssignments(assigns []assigned, run func() flow) flow {
	vars, shared := r.vars, r.shared
	r.shared = true
	for _, a := range assigns {
		r.set(a.name, a.value)
	}
	out := run()
	r.vars, r.shared = vars, shared
	return out
}

// amidAssignments runs what leaves behind what it sets, a function or a builtin such as eval, with the variables its own
// assignments give it. Those have their values of before afterwards, unless they were given others.
func (r *shellRun) amidAssignments(assigns []assigned, run func() flow) flow {
	before := make([]value, len(assigns))
	had := make([]bool, len(assigns))
	for i, a := range assigns {
		before[i], had[i] = r.vars[a.name]
		r.set(a.name, a.value)
	}
	out := run()
	r.own()
	for i, a := range assigns {
		switch {
		case r.vars[a.name].text != a.value.text:
		case had[i]:
			r.set(a.name, before[i])
		default:
			delete(r.vars, a.name)
		}
	}
	return out
}

type assigned struct {
	name  string
	value value
}

// coproc runs a command beside the script. Of a simple command the parser takes the first word for the coprocess's name,
// which only compound commands can have, words like of=x for assignments and 2 of 2>&1 for a word; so its text is read
// again.
func (r *shellRun) coproc(c *syntax.CoprocClause, io streams) flow {
	from, to := int(c.Coproc.Offset())+len("coproc"), int(c.Stmt.End().Offset())
	for _, rd := range c.Stmt.Redirs {
		if rd.Hdoc != nil { // its body stands elsewhere
			return r.stmt(named(c.Stmt, c.Name, 0), io.in)
		}
	}
	first := c.Stmt.Cmd
	for list, more := first.(*syntax.BinaryCmd); more; list, more = first.(*syntax.BinaryCmd) {
		first = list.X.Cmd
	}
	call, ok := first.(*syntax.CallExpr)
	for i := 0; ok && i < len(call.Assigns); i++ {
		to = max(to, int(call.Assigns[i].End().Offset()))
	}
	if !ok || from >= to || to > len(r.src) {
		return r.stmt(named(c.Stmt, c.Name, 0), io.in)
	}
	return r.script(r.src[from:to], io.in)
}

// named returns a statement with a word put before its first simple command, or the statement itself if that is compound.
func named(st *syntax.Stmt, word *syntax.Word, steps int) *syntax.Stmt {
	if word == nil || steps > maxSteps {
		return st
	}
	out := *st
	switch cmd := st.Cmd.(type) {
	case nil:
		out.Cmd = &syntax.CallExpr{Args: []*syntax.Word{word}}
	case *syntax.CallExpr:
		call := *cmd
		call.Args = append([]*syntax.Word{word}, cmd.Args...)
		out.Cmd = &call
	case *syntax.BinaryCmd:
		list := *cmd
		list.X = named(cmd.X, word, steps+1)
		out.Cmd = &list
	}
	return &out
}

// withoutDashes drops the "--" that may end a builtin's flags.
func withoutDashes(args []field) []field {
	if len(args) > 1 && args[1].text == "--" && !args[1].dynamic {
		return append([]field{args[0]}, args[2:]...)
	}
	return args
}

// byLine are the languages of which a program may be given line by line, each in a flag of its own.
var byLine = set([]string{"applescript", "perl", "ruby", "awk"})

// continued reports whether a flag holds a further line of a program that a flag before it began.
func (u *use) continued(at int) bool {
	option := u.flags[at].option
	if !byLine[option.nested] {
		return false
	}
	for i := 0; i < at; i++ {
		if u.flags[i].option == option {
			return true
		}
	}
	return false
}

// lines puts the lines of a program together that begins in the flag at a position.
func (u *use) lines(at int) field {
	first := u.flags[at]
	whole := first.value
	if !byLine[first.option.nested] {
		return whole
	}
	for _, g := range u.flags[at+1:] {
		if g.option == first.option && len(whole.text) < maxText {
			whole = join(join(whole, literal("\n")), g.value)
		}
	}
	return whole
}

// joinLines writes one argument to a line.
func joinLines(list []field) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.text)
		b.WriteByte('\n')
	}
	return b.String()
}
