package impact

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
