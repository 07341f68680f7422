package program

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// A codeScope holds the names of a module, a function or a class.
type codeScope struct {
	names   map[string]codeValue
	up      *codeScope
	globals map[string]bool
	class   bool
}

func (c *codeScope) find(name string) (codeValue, bool) {
	for at := c; at != nil; at = at.up {
		if at.class && at != c {
			continue
		}
		if v, ok := at.names[name]; ok {
			return v, true
		}
	}
	return codeValue{}, false
}

// A codeBranch is code that may or may not be run. Names keep in it the values that they had before.
type codeBranch struct {
	scope *codeScope
	names []string
	had   []codeValue
}

func (r *codeRun) branch() { r.branches = append(r.branches, codeBranch{scope: r.scope}) }

// join ends a branch: what was bound in it may also still have its value from before.
func (r *codeRun) join() {
	last := len(r.branches) - 1
	b := r.branches[last]
	r.branches = r.branches[:last]
	for i, name := range b.names {
		v := b.scope.names[name]
		v.merge(b.had[i])
		b.scope.names[name] = v
	}
}

// save remembers in every branch around what a name had before it is bound.
func (r *codeRun) save(scope *codeScope, name string, had codeValue) {
	for i := len(r.branches) - 1; i >= 0 && r.branches[i].scope == scope; i-- {
		b := &r.branches[i]
		if fact.HasTrait(b.names, name) {
			continue
		}
		if len(b.names) < 256 {
			b.names, b.had = append(b.names, name), append(b.had, had)
		}
	}
}

// importNames binds what an import brings.
func (r *codeRun) importNames(n *codeNode) {
	if r.script {
		r.importModule(n.text)
		for _, name := range n.names {
			switch name.full {
			case "", "default":
				r.bind(name.local, codeValue{is: n.text, imported: true})
			default:
				r.bind(name.local, codeValue{is: n.text + "." + name.full, imported: true})
			}
		}
		return
	}
	if n.text != "" {
		r.importModule(n.text)
		for _, name := range n.names {
			if name.full == "*" {
				r.star(n.text)
				continue
			}
			v := codeValue{is: canonicalName(n.text + "." + name.full), imported: true}
			if served(v.is) {
				v.marks = markNetwork
			}
			r.bind(name.local, v)
		}
		return
	}
	for _, name := range n.names {
		r.importModule(name.full)
		if name.local != "" {
			r.bind(name.local, codeValue{is: name.full, imported: true})
			continue
		}
		root, _, _ := strings.Cut(name.full, ".")
		r.bind(root, codeValue{is: root, imported: true})
	}
}

func (r *codeRun) importModule(module string) {
	root, _, _ := strings.Cut(module, ".")
	r.imports[root], r.imports[module] = true, true
}

// star binds every name of a module that the table knows.
func (r *codeRun) star(module string) {
	for _, name := range lex.SortedNames(r.calls) {
		if rest, ok := strings.CutPrefix(name, module+"."); ok && !strings.Contains(rest, ".") {
			r.bind(rest, codeValue{is: name, imported: true})
		}
	}
}

// bind gives a name a value; in a branch it may still have the one it had.
func (r *codeRun) bind(name string, v codeValue) {
	scope := r.scope
	if scope.globals[name] {
		scope = r.root
	} else if r.script {
		for at := scope; at != nil; at = at.up {
			if _, ok := at.names[name]; ok {
				scope = at
				break
			}
		}
	}
	have, known := scope.names[name]
	switch {
	case known && scope != r.scope:
		have.merge(v)
		v = have
	case known:
		r.save(scope, name, have)
	}
	if !known && len(scope.names) >= 4096 {
		return
	}
	scope.names[name] = v
}
