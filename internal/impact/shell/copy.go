package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
)

// copies notes that the files a command copies or moves stand somewhere else from now on: under the last operand's name, or
// in the directory it or a flag names. What in holds is the source where standard input is.
func (r *shellRun) copies(u *flow.Use, in flow.Flow) {
	sources, into := u.Operands, flow.Field{}
	for _, g := range u.Flags {
		if g.Name == "-t" || g.Name == "--target-directory" {
			into = g.Value
		}
	}
	if u.Spec.Style == "pairs" {
		r.copiedPair(u, in)
		return
	}
	if into.Text == "" && len(sources) > 1 {
		into, sources = sources[len(sources)-1], sources[:len(sources)-1]
		if len(sources) == 1 && standardInput(sources[0].Text) {
			r.copiedInput(in, into)
			return
		}
		if len(sources) == 1 && !strings.HasSuffix(into.Text, "/") {
			r.becomesRepository(u, sources[0], into)
			r.copied(sources[0], into)
		}
	}
	if into.Text == "" || into.Dynamic || into.Glob || len(sources) > fact.MaxItems {
		return
	}
	for _, from := range sources {
		if !from.Dynamic && !from.Glob {
			in := flow.Literal(strings.TrimSuffix(into.Text, "/") + "/" + path.Base(from.Text))
			r.copied(from, in)
		}
	}
}

// copied notes that a file this action made, or one that stood there before, has a copy now.
func (r *shellRun) copied(from, to flow.Field) {
	if from.Dynamic || to.Dynamic || from.Glob {
		return
	}
	name, origin := r.S.Place(to.Text).Path, r.S.Place(from.Text)
	held, ok := r.files[origin.Path]
	if _, have := r.files[name]; have && !ok {
		return
	}
	if !ok {
		held = r.readOf(origin)
		held.Taint(r.treeAt(origin.Path))
	}
	if held.Network && held.Fetched {
		r.files[fetchedTree+name] = flow.Flow{Network: true, Fetched: true, Source: name}
	}
	held.Written = true
	r.files[name] = held
}

// copiedPair is [shellRun.copied] of a command whose flags name both files: the one it reads and the one it writes.
func (r *shellRun) copiedPair(u *flow.Use, in flow.Flow) {
	var from, to flow.Field
	for _, g := range u.Flags {
		for _, e := range g.Option.Impacts {
			switch {
			case e.Target != "value":
			case e.Kind == interlock.ImpactRead:
				from = g.Value
			case e.Kind == interlock.ImpactWrite:
				to = g.Value
			}
		}
	}
	switch {
	case to.Text == "":
	case from.Text == "" || standardInput(from.Text):
		r.copiedInput(in, to)
	default:
		r.copied(from, to)
	}
}

// standardInput reports whether a path is where a program finds its standard input.
func standardInput(text string) bool {
	return text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0"
}

// copiedInput notes that a file holds from now on what a command was given as its standard input.
func (r *shellRun) copiedInput(in flow.Flow, to flow.Field) {
	if to.Dynamic || to.Glob || !in.Known {
		return
	}
	in.Written, in.Items, in.Piped = true, nil, false
	r.files[r.S.Place(to.Text).Path] = in
}
