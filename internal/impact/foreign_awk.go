package impact

import (
	"strings"

	"interlock"
)

// awkPrint reads the values of a print statement and where they go.
func (r *foreignRun) awkPrint() {
	outer := r.prints
	r.prints = r.inner + 1
	var printed foreignValue
	for r.more() && r.host.spend(1) && !r.ends() {
		v := r.expression()
		if len(printed.text) == 0 {
			printed = r.resolved(v)
		}
		if !r.take(",") {
			break
		}
	}
	r.prints = outer
}

// awkRedirect reads print > "file", print | "command" and "command" | getline. It reports whether it was one.
func (r *foreignRun) awkRedirect(op string, left foreignValue) bool {
	next := r.ahead(1)
	switch {
	case (op == "|" || op == "|&") && next.kind == foreignName && next.text == "getline":
		r.at += 2
		left = r.resolved(left)
		if strings.HasPrefix(left.text, "/inet") {
			r.host.request("GET", textForeign("tcp://"+strings.TrimPrefix(left.text, "/inet/tcp/0/")), false, r.secret)
		} else {
			r.host.shell(left)
		}
		if t := r.tok(); t.kind == foreignName && !r.lang.keywords[t.text] {
			r.operand()
		}
		return true
	case r.prints != r.inner+1:
		return false
	case op == "|" || op == "|&":
		r.at++
		v := r.joinedOperands()
		if strings.HasPrefix(v.text, "/inet") {
			r.host.request("POST", textForeign("tcp://"+strings.TrimPrefix(v.text, "/inet/tcp/0/")), true, r.secret)
			return true
		}
		if left = r.resolved(left); left.known() {
			v = r.fed(left, v)
		}
		r.host.shell(v)
		return true
	case op == ">" || op == ">>":
		r.at++
		v := r.joinedOperands()
		traits := []string{TraitOverwrite}
		if op == ">>" {
			traits = []string{TraitAppend}
		}
		r.onPath("print", interlock.ImpactWrite, v, traits)
		return true
	}
	return false
}

// fed is a command line whose command is given a known text on its standard input.
func (r *foreignRun) fed(text, command foreignValue) foreignValue {
	if !command.known() || len(text.text) > 4096 {
		return command
	}
	return textForeign("printf %s " + shellQuote(text.text) + " | " + command.text)
}

// joinedOperands reads what stands side by side, up to an operator.
func (r *foreignRun) joinedOperands() foreignValue {
	v := r.resolved(r.operand())
	for r.more() && r.host.spend(1) && !r.ends() {
		if t := r.tok(); t.kind == foreignOp && t.text != "$" && t.text != "(" {
			break
		}
		v = v.joined(r.resolved(r.operand()), "")
	}
	return v
}

// awkGetline reads what getline reads from: getline line < "file".
func (r *foreignRun) awkGetline() foreignValue {
	if t := r.tok(); t.kind == foreignName && !r.lang.keywords[t.text] {
		r.set(t.text, unknownForeign())
		r.at++
		if r.take("[") {
			r.arguments("]")
		}
	}
	if r.take("<") {
		r.onPath("getline", interlock.ImpactRead, r.resolved(r.operand()), nil)
	}
	return unknownForeign()
}
