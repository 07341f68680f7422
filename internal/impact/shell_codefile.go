package impact

import "strings"

// fileDirective reads a directive about a file of code that a flag names.
func (o *option) fileDirective(word, rest string) bool {
	if word != "file" {
		return false
	}
	kind, instead := strings.CutSuffix(rest, " only")
	o.value, o.file, o.alone = true, kind, instead
	return kind != ""
}

// codeFile runs the file a flag names: what this action wrote there, or what the door has read.
func (r *shellRun) codeFile(u *use, g given, io streams) flow {
	name := g.value
	if name.text == "" || name.text == "-" || !strings.ContainsAny(name.text, "./") {
		return flow{} // standard input, or the name of a module that is installed
	}
	if name.flow.known && strings.HasPrefix(name.text, "/dev/fd/") {
		return r.subshell(func() flow { return r.code(g.option.file, name.flow.text, flow{}) })
	}
	if name.dynamic && name.lead || strings.HasPrefix(name.text, "/dev/fd/") {
		r.opaque(u.via, name.flow, "")
		return flow{}
	}
	p := r.placeOf(name, true)
	if quietDevice(p.Path) {
		return flow{}
	}
	text, known, adds := "", false, words{}
	if held, made := r.madeHere(p); made {
		text, known, adds = held.text, held.known, words{traits: []string{TraitWrittenRun}}
		if held.network {
			r.opaque(u.via, held, "")
		}
	} else {
		text, known = r.s.scriptAt(p)
	}
	if !known || text == "" {
		p = r.s.unread(p)
	} else {
		p = r.readAs(p, g.option.file)
	}
	r.touchExecuted(p, u.via, io)
	if !known {
		return flow{}
	}
	var out flow
	r.s.within++
	r.s.modified(adds, func() { out = r.subshell(func() flow { return r.code(g.option.file, text, flow{}) }) })
	r.s.within--
	return out
}

// ownModule runs a module of the project, where its text is known: NAME.py, or what stands for it as a directory.
func (r *shellRun) ownModule(u *use, g given, io streams) (flow, bool) {
	if u.spec.script != "python" || g.value.dynamic || g.value.text == "" || strings.ContainsAny(g.value.text, "/ ") {
		return flow{}, false
	}
	name := strings.ReplaceAll(g.value.text, ".", "/")
	for _, file := range [...]string{name + ".py", name + "/__main__.py"} {
		text, ok := r.textOf(file)
		if !ok || text == "" {
			continue
		}
		r.touchExecuted(r.s.place(file), u.via, io)
		r.s.within++
		out := r.subshell(func() flow { return r.code(u.spec.script, text, io.in) })
		r.s.within--
		return out, true
	}
	return flow{}, false
}
