package impact

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what a variable holds.
type value struct {
	field
	list []field // an array's elements
}

func varValue(f field) value { return value{field: f} }

// subshell runs f with variables and directory that do not outlive it.
func (r *shellRun) subshell(f func() flow) flow {
	dir, vars, shared := r.s.dir, r.vars, r.shared
	r.shared = true
	out := f()
	r.s.dir, r.vars, r.shared = dir, vars, shared
	return out
}

// set gives a variable a value, in this subshell only.
func (r *shellRun) set(name string, v value) {
	r.own()
	r.vars[name] = v
}

// forget unsets a variable, in this subshell only.
func (r *shellRun) forget(name string) {
	if _, known := r.vars[name]; known {
		r.own()
		delete(r.vars, name)
	}
}

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
func (r *shellRun) assign(a *syntax.Assign, only bool) flow {
	if a.Name == nil {
		return flow{}
	}
	v := value{}
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				v.list = append(v.list, r.fields(e.Value)...)
			}
		}
		if len(v.list) > 0 {
			v.field = v.list[0]
		}
	case a.Value != nil:
		v.field = r.word(a.Value)
	}
	name := a.Name.Value
	if old, ok := r.vars[name]; ok && a.Append {
		if a.Array != nil {
			v.list = append(append([]field(nil), old.list...), v.list...)
			v.field = old.field
		} else {
			v.field = join(old.field, v.field)
		}
	}
	if len(v.list) > maxList {
		v.list = append(v.list[:maxList:maxList], field{text: "$" + name, dynamic: true, lead: true})
	}
	r.variable(name, v.field)
	if a.Index != nil {
		r.substitutions(a.Index)
		old := r.vars[name]
		v.list = append(append([]field(nil), old.list...), v.field)
	}
	if !only {
		r.set(name, v)
	}
	return v.flow
}

func (r *shellRun) declare(c *syntax.DeclClause) flow {
	var out flow
	reference := false
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			text := a.Value.Lit()
			reference = reference || strings.HasPrefix(text, "-") && strings.Contains(text, "n")
		}
		if a.Name == nil || a.Naked && a.Value == nil && a.Array == nil {
			continue
		}
		out.taint(r.assign(a, false))
		if held, known := r.vars[r.vars[a.Name.Value].text]; reference && known { // another name of a variable
			r.set(a.Name.Value, held)
		}
		if a.Value != nil && hasBrace(a.Value) { // declare x={a,b} is declare x=a x=b
			if list := r.fields(a.Value); len(list) > 1 {
				r.set(a.Name.Value, varValue(list[len(list)-1]))
			}
		}
	}
	return out
}
