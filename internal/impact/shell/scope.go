package shell

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"

	"mvdan.cc/sh/v3/syntax"
)

// subshell runs f with variables and directory that do not outlive it.
func (r *shellRun) subshell(f func() flow.Flow) flow.Flow {
	dir, vars, shared, locals := r.S.Dir, r.vars, r.shared, len(r.locals)
	r.shared = true
	out := f()
	r.S.Dir, r.vars, r.shared, r.locals = dir, vars, shared, r.locals[:locals]
	return out
}

// set gives a variable a value, in this subshell only.
func (r *shellRun) set(name string, v flow.Value) {
	r.own()
	r.vars[name] = v
}

// forget unsets a variable, in this subshell only.
func (r *shellRun) forget(name string) { r.set(name, flow.Value{Gone: true}) }

// own copies variables that belong to the shell around, before the first of them changes.
func (r *shellRun) own() {
	if !r.shared {
		return
	}
	r.S.Spend(len(r.vars) / 8)
	vars := make(map[string]flow.Value, len(r.vars)+1)
	for name, v := range r.vars {
		vars[name] = v
	}
	r.vars, r.shared = vars, false
}

// assign sets a variable, or judges one set for a single command.
func (r *shellRun) assign(a *syntax.Assign, only bool) flow.Value {
	if a.Name == nil {
		return flow.Value{}
	}
	v := flow.Value{}
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			v = r.member(v, e)
		}
		if len(v.List) > 0 {
			v.Field = v.List[0]
		}
	case a.Value != nil:
		v.Field = r.word(a.Value)
	}
	name := r.meant(a.Name.Value)
	if old, ok := r.vars[name]; ok && a.Append {
		if a.Array != nil {
			v.List = r.appendedTo(old.List, v.List)
			v.Field = old.Field
		} else {
			r.S.Spend(len(old.Field.Text) / 64)
			v.Field = flow.Join(old.Field, v.Field)
		}
	}
	if n := len(v.List); n > fact.MaxList+1 || n > fact.MaxList && !v.List[fact.MaxList].Lead {
		v.List = append(v.List[:fact.MaxList:fact.MaxList], flow.Field{Text: "$" + name, Dynamic: true, Lead: true})
	}
	r.variable(name, v.Field)
	if a.Index != nil {
		r.substitutions(a.Index)
		v = with(r.vars[name], r.key(a.Index), v.Field)
	}
	if !only {
		r.set(name, v)
	}
	return v
}

// appendedTo is a list with more at its end. One that is as long as lists get, and not known beyond, stays as it is.
func (r *shellRun) appendedTo(list, more []flow.Field) []flow.Field {
	if len(list) > fact.MaxList || !r.S.Spend(len(list)/4) {
		return list
	}
	return slices.Concat(list, more)
}

func (r *shellRun) declare(c *syntax.DeclClause) flow.Flow {
	var out flow.Flow
	reference := false
	own := r.inside && (c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset")
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			text := a.Value.Lit()
			reference = reference || strings.HasPrefix(text, "-") && strings.Contains(text, "n")
			own = own && !(strings.HasPrefix(text, "-") && strings.Contains(text, "g"))
			out.Taint(r.declared(a.Value))
		}
		if a.Name != nil && own {
			r.makeLocal(a.Name.Value, a.Naked)
		}
		if a.Name == nil || a.Naked && a.Value == nil && a.Array == nil {
			continue
		}
		out.Taint(r.assign(a, false).Flow)
		if v := r.vars[a.Name.Value]; reference && !v.Dynamic && v.Text != a.Name.Value { // another name of a variable
			v.Ref = true
			r.set(a.Name.Value, v)
		}
		if a.Value != nil && hasBrace(a.Value) { // declare x={a,b} is declare x=a x=b
			if list := r.fields(a.Value); len(list) > 1 {
				r.set(a.Name.Value, flow.VarValue(list[len(list)-1]))
			}
		}
	}
	return out
}

// declared sets what a word gives that is no assignment as it is written, but is one when it is read: export "NAME=value".
func (r *shellRun) declared(word *syntax.Word) (out flow.Flow) {
	if _, plain := plainLiteral(word); plain {
		return flow.Flow{} // a flag, or a name
	}
	for _, f := range r.fields(word) {
		if !isAssignment(f.Text) {
			continue
		}
		name, _, _ := strings.Cut(f.Text, "=")
		v := cut(f, len(name)+1)
		r.variable(name, v)
		r.set(name, flow.VarValue(v))
		out.Taint(f.Flow)
	}
	return out
}

// member adds an element of an array as it is written: a word, or [key]=word.
func (r *shellRun) member(v flow.Value, e *syntax.ArrayElem) flow.Value {
	if e.Value == nil {
		return v
	}
	if e.Index != nil {
		return with(v, r.key(e.Index), r.word(e.Value))
	}
	v.List = append(v.List, r.fields(e.Value)...)
	return v
}

// key is the text of an index.
func (r *shellRun) key(index syntax.ArithmExpr) string {
	if w, ok := index.(*syntax.Word); ok {
		return r.word(w).Text
	}
	if n, ok := number(index); ok {
		return strconv.Itoa(n)
	}
	return "?"
}

// with is the array with one more element under a key. Elements are added and never replaced: the last one under a key counts.
func with(v flow.Value, key string, f flow.Field) flow.Value {
	if len(v.List) >= fact.MaxList {
		return v
	}
	n := len(v.List)
	e := v.Grown
	// another value went on from here, or these are no such elements
	if e == nil || n == 0 || len(e.List) != n || &e.List[0] != &v.List[0] {
		e = &flow.Elements{List: append(make([]flow.Field, 0, n+8), v.List...), Keys: make([]string, n, n+8)}
		for i := range e.Keys {
			e.Keys[i] = strconv.Itoa(i)
		}
		copy(e.Keys, v.Keys)
	}
	e.List, e.Keys = append(e.List, f), append(e.Keys, key)
	out := flow.Value{Field: v.Field, List: e.List[: n+1 : n+1], Keys: e.Keys[: n+1 : n+1], Grown: e}
	if n == 0 {
		out.Field = f
	}
	return out
}

// element is the element under a key, which may count from the end.
func element(v flow.Value, key string) (flow.Field, bool) {
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if v.Keys[i] == key {
			return v.List[i], true
		}
	}
	i, err := strconv.Atoi(key)
	if err == nil && i < 0 {
		i += len(v.List)
	}
	if err != nil || i < 0 || i >= len(v.List) || v.Keys != nil && key[0] != '-' {
		return flow.Field{}, false
	}
	return v.List[i], true
}

// heldBy is what this action wrote to a place, which may be given as a pattern.
func (r *shellRun) heldBy(p know.Place) (flow.Flow, bool) {
	held, ok := r.files[p.Path]
	if ok || !know.IsGlob(p.Path) || !r.S.Spend(len(r.files)) {
		return held, ok
	}
	var names []string
	for name := range r.files {
		if know.MatchGlob(p.Path, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return flow.Flow{}, false
	}
	sort.Strings(names)
	return r.files[names[0]], true
}
