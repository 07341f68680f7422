package foreign

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// awkPrint reads the values of a print statement and where they go.
func (r *Run) awkPrint() {
	outer := r.prints
	r.prints = r.inner + 1
	var printed Value
	for r.more() && r.host.Spend(1) && !r.ends() {
		v := r.expression()
		if len(printed.Text) == 0 {
			printed = r.resolved(v)
		}
		if !r.take(",") {
			break
		}
	}
	r.prints = outer
}

// awkRedirect reads print > "file", print | "command" and "command" | getline. It reports whether it was one.
func (r *Run) awkRedirect(op string, left Value) bool {
	next := r.ahead(1)
	switch {
	case (op == "|" || op == "|&") && next.kind == foreignName && next.text == "getline":
		r.at += 2
		left = r.resolved(left)
		if strings.HasPrefix(left.Text, "/inet") {
			r.host.Request("GET", textForeign("tcp://"+strings.TrimPrefix(left.Text, "/inet/tcp/0/")), false, r.secret)
		} else {
			r.host.Shell(left)
		}
		if t := r.tok(); t.kind == foreignName && !r.lang.Keywords[t.text] {
			r.operand()
		}
		return true
	case r.prints != r.inner+1:
		return false
	case op == "|" || op == "|&":
		r.at++
		v := r.joinedOperands()
		if strings.HasPrefix(v.Text, "/inet") {
			r.host.Request("POST", textForeign("tcp://"+strings.TrimPrefix(v.Text, "/inet/tcp/0/")), true, r.secret)
			return true
		}
		if left = r.resolved(left); left.Known() {
			v = r.fed(left, v)
		}
		r.host.Shell(v)
		return true
	case op == ">" || op == ">>":
		r.at++
		v := r.joinedOperands()
		traits := []string{fact.TraitOverwrite}
		if op == ">>" {
			traits = []string{fact.TraitAppend}
		}
		r.onPath("print", interlock.ImpactWrite, v, traits)
		return true
	}
	return false
}

// fed is a command line whose command is given a known text on its standard input.
func (r *Run) fed(text, command Value) Value {
	if !command.Known() || len(text.Text) > 4096 {
		return command
	}
	return textForeign("printf %s " + lex.ShellQuote(text.Text) + " | " + command.Text)
}

// joinedOperands reads operands that are side by side, up to an operator.
func (r *Run) joinedOperands() Value {
	v := r.resolved(r.operand())
	for r.more() && r.host.Spend(1) && !r.ends() {
		if t := r.tok(); t.kind == foreignOp && t.text != "$" && t.text != "(" {
			break
		}
		v = v.joined(r.resolved(r.operand()), "")
	}
	return v
}

// awkGetline reads what getline reads from: getline line < "file".
func (r *Run) awkGetline() Value {
	if t := r.tok(); t.kind == foreignName && !r.lang.Keywords[t.text] {
		r.set(t.text, UnknownValue())
		r.at++
		if r.take("[") {
			r.arguments("]")
		}
	}
	if r.take("<") {
		r.onPath("getline", interlock.ImpactRead, r.resolved(r.operand()), nil)
	}
	return UnknownValue()
}
