package impact

import (
	"sort"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what a variable holds.
type value struct {
	field
	gone bool     // it was unset
	ref  bool     // it is another name of the variable it holds the name of
	list []field  // an array's elements
	keys []string // of the elements, if it is a table or has been given elements one by one

	grown *elements // where list and keys lie, if they were added one by one
}

// elements are an array's, with those that later values of it have added: a value is the first so many of them.
type elements struct {
	list []field
	keys []string
}

func varValue(f field) value { return value{field: f} }

// subshell runs f with variables and directory that do not outlive it.
func (r *shellRun) subshell(f func() flow) flow {
	dir, vars, shared, locals := r.s.dir, r.vars, r.shared, len(r.locals)
	r.shared = true
	out := f()
	r.s.dir, r.vars, r.shared, r.locals = dir, vars, shared, r.locals[:locals]
	return out
}

// set gives a variable a value, in this subshell only.
func (r *shellRun) set(name string, v value) {
	r.own()
	r.vars[name] = v
}

// forget unsets a variable, in this subshell only.
func (r *shellRun) forget(name string) { r.set(name, value{gone: true}) }

// own copies variables that belong to the shell around, before the first of them changes.
func (r *shellRun) own() {
	if !r.shared {
		return
	}
	r.s.spend(len(r.vars) / 8)
	vars := make(map[string]value, len(r.vars)+1)
	for name, v := range r.vars {
		vars[name] = v
	}
	r.vars, r.shared = vars, false
}

// assign sets a variable, or judges one set for a single command.
func (r *shellRun) assign(a *syntax.Assign, only bool) value {
	if a.Name == nil {
		return value{}
	}
	v := value{}
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			v = r.member(v, e)
		}
		if len(v.list) > 0 {
			v.field = v.list[0]
		}
	case a.Value != nil:
		v.field = r.word(a.Value)
	}
	name := r.meant(a.Name.Value)
	if old, ok := r.vars[name]; ok && a.Append {
		if a.Array != nil {
			v.list = append(append([]field(nil), old.list...), v.list...)
			v.field = old.field
		} else {
			r.s.spend(len(old.field.text) / 64)
			v.field = join(old.field, v.field)
		}
	}
	if len(v.list) > maxList {
		v.list = append(v.list[:maxList:maxList], field{text: "$" + name, dynamic: true, lead: true})
	}
	r.variable(name, v.field)
	if a.Index != nil {
		r.substitutions(a.Index)
		v = r.vars[name].with(r.key(a.Index), v.field)
	}
	if !only {
		r.set(name, v)
	}
	return v
}

func (r *shellRun) declare(c *syntax.DeclClause) flow {
	var out flow
	reference := false
	own := r.inside && (c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset")
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			text := a.Value.Lit()
			reference = reference || strings.HasPrefix(text, "-") && strings.Contains(text, "n")
			own = own && !(strings.HasPrefix(text, "-") && strings.Contains(text, "g"))
			out.taint(r.declared(a.Value))
		}
		if a.Name != nil && own {
			r.makeLocal(a.Name.Value, a.Naked)
		}
		if a.Name == nil || a.Naked && a.Value == nil && a.Array == nil {
			continue
		}
		out.taint(r.assign(a, false).flow)
		if v := r.vars[a.Name.Value]; reference && !v.dynamic && v.text != a.Name.Value { // another name of a variable
			v.ref = true
			r.set(a.Name.Value, v)
		}
		if a.Value != nil && hasBrace(a.Value) { // declare x={a,b} is declare x=a x=b
			if list := r.fields(a.Value); len(list) > 1 {
				r.set(a.Name.Value, varValue(list[len(list)-1]))
			}
		}
	}
	return out
}

// declared sets what a word gives that is no assignment as it is written, but is one when it is read: export "NAME=value".
func (r *shellRun) declared(word *syntax.Word) (out flow) {
	if _, plain := plainLiteral(word); plain {
		return flow{} // a flag, or a name
	}
	for _, f := range r.fields(word) {
		if !isAssignment(f.text) {
			continue
		}
		name, _, _ := strings.Cut(f.text, "=")
		v := cut(f, len(name)+1)
		r.variable(name, v)
		r.set(name, varValue(v))
		out.taint(f.flow)
	}
	return out
}

// member adds an element of an array as it is written: a word, or [key]=word.
func (r *shellRun) member(v value, e *syntax.ArrayElem) value {
	if e.Value == nil {
		return v
	}
	if e.Index != nil {
		return v.with(r.key(e.Index), r.word(e.Value))
	}
	v.list = append(v.list, r.fields(e.Value)...)
	return v
}

// key is the text of an index.
func (r *shellRun) key(index syntax.ArithmExpr) string {
	if w, ok := index.(*syntax.Word); ok {
		return r.word(w).text
	}
	if n, ok := number(index); ok {
		return strconv.Itoa(n)
	}
	return "?"
}

// with is the array with one more element under a key. Elements are added and never replaced: the last one under a key counts.
func (v value) with(key string, f field) value {
	if len(v.list) >= maxList {
		return v
	}
	n := len(v.list)
	e := v.grown
	if e == nil || n == 0 || len(e.list) != n || &e.list[0] != &v.list[0] { // another value went on from here, or these are no such elements
		e = &elements{list: append(make([]field, 0, n+8), v.list...), keys: make([]string, n, n+8)}
		for i := range e.keys {
			e.keys[i] = strconv.Itoa(i)
		}
		copy(e.keys, v.keys)
	}
	e.list, e.keys = append(e.list, f), append(e.keys, key)
	out := value{field: v.field, list: e.list[: n+1 : n+1], keys: e.keys[: n+1 : n+1], grown: e}
	if n == 0 {
		out.field = f
	}
	return out
}

// element is the element under a key, which may count from the end.
func (v value) element(key string) (field, bool) {
	for i := len(v.keys) - 1; i >= 0; i-- {
		if v.keys[i] == key {
			return v.list[i], true
		}
	}
	i, err := strconv.Atoi(key)
	if err == nil && i < 0 {
		i += len(v.list)
	}
	if err != nil || i < 0 || i >= len(v.list) || v.keys != nil && key[0] != '-' {
		return field{}, false
	}
	return v.list[i], true
}

// heldBy is what this action wrote to a place, which may be given as a pattern.
func (r *shellRun) heldBy(p place) (flow, bool) {
	held, ok := r.files[p.Path]
	if ok || !isGlob(p.Path) || !r.s.spend(len(r.files)) {
		return held, ok
	}
	var names []string
	for name := range r.files {
		if matchGlob(p.Path, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return flow{}, false
	}
	sort.Strings(names)
	return r.files[names[0]], true
}
