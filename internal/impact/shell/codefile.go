package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// codeFile runs the file a flag names: what this action wrote there, or what the door has read.
func (r *shellRun) codeFile(u *flow.Use, g flow.Given, io flow.Streams) flow.Flow {
	name := g.Value
	if name.Text == "" || name.Text == "-" || !strings.ContainsAny(name.Text, "./") && !r.liesHere(name) {
		return flow.Flow{} // standard input, or the name of a module that is installed
	}
	if name.Flow.Known && strings.HasPrefix(name.Text, "/dev/fd/") {
		return r.subshell(func() flow.Flow { return r.code(g.Option.File, name.Flow.Text, flow.Flow{}) })
	}
	if name.Dynamic && name.Lead || strings.HasPrefix(name.Text, "/dev/fd/") {
		r.Opaque(u.Via, name.Flow, "")
		return flow.Flow{}
	}
	p := r.PlaceOf(name, true)
	if place.QuietDevice(p.Path) {
		return flow.Flow{}
	}
	text, known, adds := "", false, know.Words{}
	if held, made := r.madeHere(p); made {
		text, known, adds = held.Text, held.Known, know.Words{Traits: []string{fact.TraitWrittenRun}}
		if held.Network {
			r.Opaque(u.Via, held, "")
		}
	} else {
		text, known = r.S.ScriptAt(p)
	}
	if !known || text == "" {
		p = r.S.Unread(p)
	} else {
		p = r.readAs(p, g.Option.File)
	}
	r.touchExecuted(p, u.Via, io)
	if !known {
		return flow.Flow{}
	}
	var out flow.Flow
	r.S.Within++
	r.S.Modified(adds, func() { out = r.subshell(func() flow.Flow { return r.code(g.Option.File, text, flow.Flow{}) }) })
	r.S.Within--
	return out
}

// liesHere reports whether a plain name is that of a file that is known: one this action wrote, or one the door has read.
func (r *shellRun) liesHere(name flow.Field) bool {
	if name.Dynamic {
		return false
	}
	p := r.PlaceOf(name, true)
	_, made := r.madeHere(p)
	_, known := r.S.ScriptAt(p)
	return made || known
}

// ownModule runs a module of the project, where its text is known: NAME.py, or its equivalent as a directory.
func (r *shellRun) ownModule(u *flow.Use, g flow.Given, io flow.Streams) (flow.Flow, bool) {
	if u.Spec.Script != "python" || g.Value.Dynamic || g.Value.Text == "" || strings.ContainsAny(g.Value.Text, "/ ") {
		return flow.Flow{}, false
	}
	name := strings.ReplaceAll(g.Value.Text, ".", "/")
	for _, file := range [...]string{name + ".py", name + "/__main__.py"} {
		text, ok := r.textOf(file)
		if !ok || text == "" {
			continue
		}
		r.touchExecuted(r.S.Place(file), u.Via, io)
		r.S.Within++
		out := r.subshell(func() flow.Flow { return r.code(u.Spec.Script, text, io.In) })
		r.S.Within--
		return out, true
	}
	return flow.Flow{}, false
}
