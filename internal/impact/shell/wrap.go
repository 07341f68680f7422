package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// elsewhere is what a wrapper adds to all it runs: where that is and as whom.
func (r *shellRun) elsewhere(u *flow.Use) know.Words {
	adds := u.Spec.Adds
	if r.guesses(u) {
		adds.Traits = append(adds.Traits[:len(adds.Traits):len(adds.Traits)], fact.TraitRepeated)
	}
	for _, g := range u.Flags {
		if g.Option.Argv {
			adds.Merge(g.Option.Adds)
		}
		if g.Option.Scope == "name" && adds.Reach != "" && r.S.Production(g.Value.Text) {
			adds.Reach = interlock.ReachProduction
		}
	}
	if adds.Reach == interlock.ReachExternal && len(u.Operands) > 0 {
		reach, traits := r.S.Host(u.Operands[0].Text)
		if fact.HasTrait(traits, fact.TraitStaging) && !u.Operands[0].Dynamic {
			adds.Traits = append(adds.Traits[:len(adds.Traits):len(adds.Traits)], fact.TraitStaging)
		}
		switch reach {
		case interlock.ReachProduction:
			adds.Reach = reach
		case interlock.ReachWorkspace:
			adds.Reach = "" // this machine: what is far stays far
		}
	}
	return adds
}

// environment gives what a wrapper runs the variables set for it: env NAME=value command. The caller puts them back.
func (r *shellRun) environment(u *flow.Use) {
	r.shared = true
	for _, g := range u.Flags {
		switch name, _, ok := strings.Cut(g.Value.Text, "="); {
		case !g.Option.Assign:
		case !ok:
			r.forget(name) // env -u NAME
		case isAssignment(g.Value.Text):
			r.set(name, flow.VarValue(cut(g.Value, len(name)+1)))
		}
	}
}

// withAssignments runs a command with the variables its own assignments give it: NAME=value command. A builtin of the
// shell leaves what it sets behind, so only programs have them.
func (r *shellRun) withAssignments(assigns []assigned, run func() flow.Flow) flow.Flow {
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
func (r *shellRun) amidAssignments(assigns []assigned, run func() flow.Flow) flow.Flow {
	before := make([]flow.Value, len(assigns))
	had := make([]bool, len(assigns))
	for i, a := range assigns {
		before[i], had[i] = r.vars[a.name]
		r.set(a.name, a.value)
	}
	out := run()
	r.own()
	for i, a := range assigns {
		switch {
		case r.vars[a.name].Text != a.value.Text:
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
	value flow.Value
}

// coproc runs a command beside the script. Of a simple command the parser takes the first word for the coprocess's name,
// which only compound commands can have, words like of=x for assignments and 2 of 2>&1 for a word; so its text is read
// again.
func (r *shellRun) coproc(c *syntax.CoprocClause, io flow.Streams) flow.Flow {
	from, to := int(c.Coproc.Offset())+len("coproc"), int(c.Stmt.End().Offset())
	for _, rd := range c.Stmt.Redirs {
		if rd.Hdoc != nil { // its body is elsewhere
			return r.stmt(named(c.Stmt, c.Name, 0), io.In)
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
	if !ok || from >= to || to > len(r.Src) {
		return r.stmt(named(c.Stmt, c.Name, 0), io.In)
	}
	return r.script(r.Src[from:to], io.In)
}

// named returns a statement with a word put before its first simple command, or the statement itself if that is compound.
func named(st *syntax.Stmt, word *syntax.Word, steps int) *syntax.Stmt {
	if word == nil || steps > fact.MaxSteps {
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
func withoutDashes(args []flow.Field) []flow.Field {
	if len(args) > 1 && args[1].Text == "--" && !args[1].Dynamic {
		return append([]flow.Field{args[0]}, args[2:]...)
	}
	return args
}

// byLine are the languages whose programs may be given line by line, each in a flag of its own.
var byLine = lex.Set([]string{"applescript", "perl", "ruby", "awk"})

// continued reports whether a flag holds a further line of a program that a flag before it began.
func continued(u *flow.Use, at int) bool {
	option := u.Flags[at].Option
	if !byLine.Has(option.Nested) {
		return false
	}
	for i := 0; i < at; i++ {
		if u.Flags[i].Option == option {
			return true
		}
	}
	return false
}

// lines puts the lines of a program together that begins in the flag at a position.
func lines(u *flow.Use, at int) flow.Field {
	first := u.Flags[at]
	whole := first.Value
	if !byLine.Has(first.Option.Nested) {
		return whole
	}
	for _, g := range u.Flags[at+1:] {
		if g.Option == first.Option && len(whole.Text) < lex.MaxText {
			whole = flow.Join(flow.Join(whole, flow.Literal("\n")), g.Value)
		}
	}
	return whole
}

// joinLines writes one argument to a line.
func joinLines(list []flow.Field) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.Text)
		b.WriteByte('\n')
	}
	return b.String()
}
