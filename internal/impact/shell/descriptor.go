package shell

import (
	"strings"

	"interlock/internal/impact/flow"

	"mvdan.cc/sh/v3/syntax"
)

// keepsOpen reports whether a command is exec without a command, whose redirections last.
func keepsOpen(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

// keep remembers a file descriptor, by its number or the variable that gets it.
func (r *shellRun) keep(rd *syntax.Redirect, f flow.Field, sinks []*syntax.ProcSubst) {
	one := flow.Streams{Sinks: sinks}
	plain := *rd
	plain.N = nil
	r.redirect(&one, &plain, f)
	r.hold(rd.N.Value, one)
}

// numbered reports whether a redirection is of another descriptor than standard input.
func numbered(rd *syntax.Redirect) bool { return rd.N != nil && rd.N.Value != "0" }

// throughDescriptors gives arguments such as /dev/fd/3 what is on the descriptor they name, where a redirection put it there.
func (r *shellRun) throughDescriptors(args []flow.Field) {
	if len(r.held) == 0 {
		return
	}
	for i := range args {
		a := &args[i]
		number, ok := strings.CutPrefix(a.Text, "/dev/fd/")
		if !ok {
			number, ok = strings.CutPrefix(a.Text, "/proc/self/fd/")
		}
		if held, is := r.held[number]; ok && is && !a.Dynamic {
			a.Text, a.Flow = "/dev/fd/"+number, held.In
		}
	}
}

// hold notes what a file descriptor is connected to, by the number or the {variable} a redirection gives it.
func (r *shellRun) hold(number string, one flow.Streams) {
	name := strings.Trim(number, "{}")
	if name != number {
		r.set(name, flow.VarValue(flow.Literal(name)))
	}
	if r.held == nil {
		r.held = map[string]flow.Streams{}
	}
	r.Socket = r.Socket || one.Socket != ""
	r.held[name] = one
}

// drained takes the output process substitutions met since there were n of them.
func (r *shellRun) drained(n int) []*syntax.ProcSubst {
	if len(r.sinks) <= n {
		return nil
	}
	out := append([]*syntax.ProcSubst(nil), r.sinks[n:]...)
	r.sinks = r.sinks[:n]
	return out
}

// pour runs the commands of >( … ) on what is written to them.
func (r *shellRun) pour(sinks []*syntax.ProcSubst, in flow.Flow) {
	in.Piped = true
	for _, p := range sinks {
		r.subshell(func() flow.Flow { return r.stmts(p.Stmts, in) })
	}
}
