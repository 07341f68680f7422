package impact

import (
	"path"
	"strings"

	"interlock"
)

// copies notes that the files a command copies or moves stand somewhere else from now on: under the last operand's name, or
// in the directory it or a flag names.
func (r *shellRun) copies(u *use) {
	sources, into := u.operands, field{}
	for _, g := range u.flags {
		if g.name == "-t" || g.name == "--target-directory" {
			into = g.value
		}
	}
	if u.spec.style == "pairs" {
		r.copiedPair(u)
		return
	}
	if into.text == "" && len(sources) > 1 {
		into, sources = sources[len(sources)-1], sources[:len(sources)-1]
		if len(sources) == 1 && !strings.HasSuffix(into.text, "/") {
			r.copied(sources[0], into)
		}
	}
	if into.text == "" || into.dynamic || into.glob || len(sources) > maxItems {
		return
	}
	for _, from := range sources {
		if !from.dynamic && !from.glob {
			in := literal(strings.TrimSuffix(into.text, "/") + "/" + path.Base(from.text))
			r.copied(from, in)
		}
	}
}

// copied notes that a file this action made, or one that stood there before, has a copy now.
func (r *shellRun) copied(from, to field) {
	if from.dynamic || to.dynamic || from.glob {
		return
	}
	name, origin := r.s.place(to.text).Path, r.s.place(from.text)
	held, ok := r.files[origin.Path]
	if _, have := r.files[name]; have && !ok {
		return
	}
	if !ok {
		held = r.readOf(origin)
	}
	held.written = true
	r.files[name] = held
}

// copiedPair is [shellRun.copied] of a command whose flags name both files: the one it reads and the one it writes.
func (r *shellRun) copiedPair(u *use) {
	var from, to field
	for _, g := range u.flags {
		for _, e := range g.option.impacts {
			switch {
			case e.target != "value":
			case e.kind == interlock.ImpactRead:
				from = g.value
			case e.kind == interlock.ImpactWrite:
				to = g.value
			}
		}
	}
	if from.text != "" && to.text != "" {
		r.copied(from, to)
	}
}
