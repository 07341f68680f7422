package impact

import (
	"strings"

	"interlock"

	"mvdan.cc/sh/v3/syntax"
)

// A local is what a variable was before a function made it its own.
type local struct {
	name string
	old  value
	had  bool
}

// makeLocal notes what a variable was, so that it is that again when the function being walked ends. One that is only named has
// no value from here on.
func (r *shellRun) makeLocal(name string, naked bool) {
	old, had := r.vars[name]
	if len(r.locals) < maxList {
		r.locals = append(r.locals, local{name, old, had})
	}
	if had && naked {
		r.forget(name)
	}
}

// giveUp ends the scope of the variables made local since there were so many of them.
func (r *shellRun) giveUp(mark int) {
	for len(r.locals) > mark {
		last := r.locals[len(r.locals)-1]
		r.locals = r.locals[:len(r.locals)-1]
		r.own()
		if last.had {
			r.vars[last.name] = last.old
		} else {
			delete(r.vars, last.name)
		}
	}
}

// meant is the variable that a name stands for: declare -n makes one the other name of another.
func (r *shellRun) meant(name string) string {
	for range 8 {
		v, ok := r.vars[name]
		if !ok || !v.ref || v.text == name {
			break
		}
		name = v.text
	}
	return name
}

// separators are the characters at which the shell splits what a variable held.
func (r *shellRun) separators() string {
	if v, ok := r.vars["IFS"]; ok && !v.gone && !v.dynamic {
		return v.text
	}
	return " \t\n"
}

// transformed is ${name@P} and its kin: a value as a prompt, with its escapes resolved, quoted, in other letters.
func (r *shellRun) transformed(operator *syntax.Word, f, unknown field) field {
	if f.dynamic || operator == nil {
		return unknown
	}
	f.odd = true
	switch operator.Lit() {
	case "P":
		r.expands(f)
		if strings.ContainsAny(f.text, "$`\\") {
			return unknown
		}
	case "E":
		f.text = ansiC(f.text)
	case "U":
		f.text = strings.ToUpper(f.text)
	case "u":
		f.text = strings.ToUpper(f.text[:min(1, len(f.text))]) + f.text[min(1, len(f.text)):]
	case "L":
		f.text = strings.ToLower(f.text)
	case "Q", "k", "K":
		f.odd = false
	default:
		return unknown
	}
	return f
}

func isPrompt(name string) bool {
	return len(name) == 3 && name[:2] == "PS" && name[2] >= '0' && name[2] <= '4'
}

// expands judges a text that the shell expands although it is data: a prompt, or a value whose index is computed.
func (r *shellRun) expands(f field) {
	if strings.Contains(f.text, "$(") || strings.Contains(f.text, "`") {
		r.hooked("shell", ": <<EXPANDED\n"+f.text+"\nEXPANDED\n")
	}
}

// indexed reports whether a text is counted with as one element of an array whose index runs a command: a[$(command)].
func indexed(text string) bool {
	_, index, ok := strings.Cut(text, "[")
	return ok && (strings.Contains(index, "$(") || strings.Contains(index, "`"))
}

// indexes judges arguments that name a variable and are expanded once more for it: test -v 'a[$(command)]'.
func (r *shellRun) indexes(args []field) {
	for _, a := range args {
		if !a.dynamic && indexed(a.text) {
			r.expands(a)
		}
	}
}

// counted judges a value that a shell counts with: what stands in it as an index runs.
func (r *shellRun) counted(n syntax.Node) {
	name := ""
	switch x := n.(type) {
	case *syntax.SglQuoted:
		if indexed(x.Value) {
			r.expands(literal(x.Value))
		}
	case *syntax.Lit:
		name = x.Value
	case *syntax.ParamExp:
		if x.Param != nil {
			name = x.Param.Value
		}
	}
	if v, ok := r.vars[r.meant(name)]; ok && !v.dynamic && indexed(v.text) {
		r.expands(v.field)
	}
}

// callback judges what mapfile runs for the lines it reads.
func (r *shellRun) callback(args []field) {
	for i, a := range args[:len(args)-1] {
		code := args[i+1]
		switch {
		case a.text != "-C" || args[0].text == "read":
		case code.dynamic && code.lead:
			r.computed([]field{code}, streams{})
		default:
			r.subshell(func() flow { return r.script(code.text+" 0 line", flow{}) })
		}
	}
}

// typeOf is what type -P and type -p print: where a program lies, whose name is all that matters of it here.
func (r *shellRun) typeOf(args []field, io streams) flow {
	path := false
	for _, a := range args[1:] {
		if strings.HasPrefix(a.text, "-") && !a.dynamic {
			path = path || strings.ContainsAny(a.text, "pP")
			continue
		}
		if path && !a.dynamic {
			return flow{items: []field{{text: a.text}}}
		}
	}
	return r.nothing(args, io)
}

// remember follows hash -p FILE NAME, after which the name means the file.
func (r *shellRun) remember(args []field, io streams) flow {
	for i, a := range args {
		if a.text != "-p" || len(args) < i+3 {
			continue
		}
		if r.aliases == nil {
			r.aliases = map[string]string{}
		}
		for _, name := range args[i+2:] {
			r.shadowed(name.text, "hash")
			r.aliases[name.text] = quoteAll(args[i+1 : i+2])
		}
		return flow{}
	}
	return r.nothing(args, io)
}

// enable judges what loads a library into the shell.
func (r *shellRun) enable(args []field, _ streams) flow {
	for i, a := range args[:len(args)-1] {
		if a.text == "-f" {
			r.s.touchPlace(r.placeOf(args[i+1], true), interlock.Impact{Kind: interlock.ImpactExecute, Via: "enable",
				Traits: []string{TraitHooked}})
		}
	}
	return flow{}
}
