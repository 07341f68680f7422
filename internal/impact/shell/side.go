package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// A local is what a variable was before a function made it its own.
type local struct {
	name string
	old  flow.Value
	had  bool
}

// makeLocal notes what a variable was, so that it is that again when the function being walked ends. One that is only named has
// no value from here on.
func (r *shellRun) makeLocal(name string, naked bool) {
	old, had := r.vars[name]
	if len(r.locals) < fact.MaxList {
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

// meant is the variable that a name means: declare -n makes one the other name of another.
func (r *shellRun) meant(name string) string {
	for range 8 {
		v, ok := r.vars[name]
		if !ok || !v.Ref || v.Text == name {
			break
		}
		name = v.Text
	}
	return name
}

// separators are the characters at which the shell splits what a variable held.
func (r *shellRun) separators() string {
	if v, ok := r.vars["IFS"]; ok && !v.Gone && !v.Dynamic {
		return v.Text
	}
	return " \t\n"
}

// transformed is ${name@P} and its kin: a value as a prompt, with its escapes resolved, quoted, in other letters.
func (r *shellRun) transformed(operator *syntax.Word, f, unknown flow.Field) flow.Field {
	if f.Dynamic || operator == nil {
		return unknown
	}
	f.Odd = true
	switch operator.Lit() {
	case "P":
		r.expands(f)
		if strings.ContainsAny(f.Text, "$`\\") {
			return unknown
		}
	case "E":
		f.Text = lex.AnsiC(f.Text)
	case "U":
		f.Text = strings.ToUpper(f.Text)
	case "u":
		f.Text = strings.ToUpper(f.Text[:min(1, len(f.Text))]) + f.Text[min(1, len(f.Text)):]
	case "L":
		f.Text = strings.ToLower(f.Text)
	case "Q", "k", "K":
		f.Odd = false
	default:
		return unknown
	}
	return f
}

func isPrompt(name string) bool {
	return len(name) == 3 && name[:2] == "PS" && name[2] >= '0' && name[2] <= '4'
}

// expands judges a text that the shell expands although it is data: a prompt, or a value whose index is computed.
func (r *shellRun) expands(f flow.Field) {
	if strings.Contains(f.Text, "$(") || strings.Contains(f.Text, "`") {
		r.hooked("shell", ": <<EXPANDED\n"+f.Text+"\nEXPANDED\n")
	}
}

// indexed reports whether a text is counted with as one element of an array whose index runs a command: a[$(command)].
func indexed(text string) bool {
	_, index, ok := strings.Cut(text, "[")
	return ok && (strings.Contains(index, "$(") || strings.Contains(index, "`"))
}

// indexes judges arguments that name a variable and are expanded once more for it: test -v 'a[$(command)]'.
func (r *shellRun) indexes(args []flow.Field) {
	for _, a := range args {
		if !a.Dynamic && indexed(a.Text) {
			r.expands(a)
		}
	}
}

// counted judges a value that a shell counts with: what is in it as an index runs.
func (r *shellRun) counted(n syntax.Node) {
	name := ""
	switch x := n.(type) {
	case *syntax.SglQuoted:
		if indexed(x.Value) {
			r.expands(flow.Literal(x.Value))
		}
	case *syntax.Lit:
		name = x.Value
	case *syntax.ParamExp:
		if x.Param != nil {
			name = x.Param.Value
		}
	}
	if v, ok := r.vars[r.meant(name)]; ok && !v.Dynamic && indexed(v.Text) {
		r.expands(v.Field)
	}
}

// callback judges what mapfile runs for the lines it reads.
func (r *shellRun) callback(args []flow.Field) {
	for i, a := range args[:len(args)-1] {
		code := args[i+1]
		switch {
		case a.Text != "-C" || args[0].Text == "read":
		case code.Dynamic && code.Lead:
			r.Computed([]flow.Field{code}, flow.Streams{})
		default:
			r.subshell(func() flow.Flow { return r.script(code.Text+" 0 line", flow.Flow{}) })
		}
	}
}

// typeOf is what type -P and type -p print: where a program lies.
func (r *shellRun) typeOf(args []flow.Field, io flow.Streams) flow.Flow {
	path := false
	for _, a := range args[1:] {
		if strings.HasPrefix(a.Text, "-") && !a.Dynamic {
			path = path || strings.ContainsAny(a.Text, "pP")
			continue
		}
		if path && !a.Dynamic {
			return flow.Flow{Items: []flow.Field{r.programAt(a)}}
		}
	}
	return r.nothing(args, io)
}

// remember follows hash -p FILE NAME, after which the name means the file.
func (r *shellRun) remember(args []flow.Field, io flow.Streams) flow.Flow {
	for i, a := range args {
		if a.Text != "-p" || len(args) < i+3 {
			continue
		}
		if r.aliases == nil {
			r.aliases = map[string]string{}
		}
		for _, name := range args[i+2:] {
			r.shadowed(name.Text, "hash")
			r.aliases[name.Text] = QuoteAll(args[i+1 : i+2])
		}
		return flow.Flow{}
	}
	return r.nothing(args, io)
}

// enable judges what loads a library into the shell.
func (r *shellRun) enable(args []flow.Field, _ flow.Streams) flow.Flow {
	for i, a := range args[:len(args)-1] {
		if a.Text == "-f" {
			r.S.TouchPlace(r.PlaceOf(args[i+1], true), interlock.Impact{Kind: interlock.ImpactExecute, Via: "enable",
				Traits: []string{fact.TraitHooked}})
		}
	}
	return flow.Flow{}
}
