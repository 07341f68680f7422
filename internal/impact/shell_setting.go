package impact

import (
	"slices"
	"sort"
	"strings"

	"interlock"
)

// variable judges setting a variable that programs obey: one that names a command, a library or a startup file. The
// knowledge describes them under "=".
func (r *shellRun) variable(name string, f field) {
	if function, ok := exportedFunction(name); ok && f.text != "" {
		if strings.HasPrefix(f.text, "()") {
			function += " " + f.text
		} else {
			function = f.text // no function as far as can be told, or one that is computed
		}
		r.hooked("shell", function)
		return
	}
	if isPrompt(name) { // expanded before each command that is traced, or each line that is read
		r.expands(f)
	}
	spec := r.s.know.lookup("=")
	if spec == nil {
		return
	}
	r.carriesOptions(spec, name, f)
	o := spec.flags[name]
	if set := spec.flags[name+"="+f.text]; set != nil {
		o = set
	}
	if family := strings.IndexByte(name, '_'); o == nil && family > 0 {
		o = spec.flags[name[:family]+"_*"]
	}
	if o == nil {
		return
	}
	u := &use{spec: spec, via: name + "="}
	if strings.HasPrefix(f.text, "/dev/fd/") && len(o.impacts) > 0 { // a start-up file that is written on the spot
		if !f.flow.known {
			r.unread(u.via, "shell", f, f.flow)
			return
		}
		r.hooked("shell", f.flow.text)
	}
	for _, e := range o.impacts {
		for _, i := range r.s.capture(func() { r.effect(u, e, f, streams{}) }) {
			o.adds.apply(&i)
			r.s.add(i)
		}
	}
	if o.nested != "" && f.text != "" {
		r.hooked(o.nested, f.text)
	}
}

// obeyed gives a use, as flags, the variables its command obeys and this action has set or taken away, whichever way it did:
// HOME=/x program, export, env, read, a loop. The knowledge describes them beside the flags, as "$NAME" or "$FAMILY_*". That
// a variable was exported is not asked: most that programs obey are, before anybody gives them another value.
func (r *shellRun) obeyed(u *use) {
	for n := u.spec; n != nil; n = n.parent {
		for _, name := range n.variables {
			if o := n.flags[name]; o.setting != "" {
				r.settingsIn(u, name[1:], o)
				continue
			}
			if set, ok := r.given(name[1:]); ok {
				u.flags = append(u.flags, given{option: n.flags[name], name: "$" + set, value: r.vars[set].field})
			}
		}
	}
}

// given returns the variable of that name, or the first of that family, which this action has set or taken away.
func (r *shellRun) given(name string) (string, bool) {
	family, some := strings.CutSuffix(name, "*")
	if !some {
		_, ok := r.vars[name]
		return name, ok
	}
	var set []string
	if r.s.spend(len(r.vars) / 8) {
		for name := range r.vars {
			if strings.HasPrefix(name, family) {
				set = append(set, name)
			}
		}
	}
	sort.Strings(set)
	return append(set, "")[0], len(set) > 0
}

// obeys reports whether setting a variable does something by itself.
func (k *Knowledge) obeys(name string) bool {
	spec := k.lookup("=")
	if spec == nil {
		return false
	}
	family, _, _ := strings.Cut(name, "_")
	return spec.flags[name] != nil || spec.flags[family+"_*"] != nil
}

// hooked judges a command that a variable or setting makes a program run.
func (r *shellRun) hooked(kind, text string) {
	r.s.within++
	defer func() { r.s.within-- }()
	for _, i := range r.s.capture(func() { r.subshell(func() flow { return r.code(kind, text, flow{}) }) }) {
		if i.Kind == interlock.ImpactExecute && strings.Contains(firstWord(text), "/") {
			i.Traits = append(i.Traits, TraitHooked)
		}
		r.s.add(i)
	}
}

// setting judges key=value, or a key alone, given to a program whose settings can name commands, as pseudo-command name
// describes them.
func (r *shellRun) setting(u *use, name string, value field) {
	spec := r.s.know.lookup(name)
	key, text, _ := strings.Cut(value.text, "=")
	if spec == nil {
		return
	}
	rest := cut(value, min(len(key)+1, len(value.text)))
	if body, shell := strings.CutPrefix(text, "!"); shell {
		r.subshell(func() flow { return r.script(body, flow{}) })
		return
	}
	if short, alias := strings.CutPrefix(key, "alias."); alias && len(u.operands) > 0 && u.operands[0].text == short && text != short {
		root, _, _ := strings.Cut(u.spec.name, " ")
		r.subshell(func() flow { return r.script(root+" "+text+" "+quoteAll(u.operands[1:]), flow{}) })
		return
	}
	key = strings.ToLower(key)
	o := spec.flags[key]
	if section, _, dotted := strings.Cut(key, "."); o == nil && dotted {
		o = spec.flags[section+".*"]
	}
	if o == nil {
		return
	}
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && strings.IndexByte(text[1:], text[0]) == n-2 { // TOML and the like
		text = text[1 : n-1]
	}
	u = &use{spec: spec, via: spec.name + " " + key, operands: u.operands}
	for _, e := range o.impacts {
		r.effect(u, e, rest, streams{})
	}
	if o.nested != "" && text != "" {
		r.hooked(o.nested, text)
	}
}

// shadowed judges a name that a function or an alias takes, if it is that of Interlock's program: whoever calls that would get
// something else instead, also by its path, which may be such a name too.
func (r *shellRun) shadowed(name, via string) {
	base, _ := baseName(name)
	spec := r.s.know.lookup(strings.ToLower(base))
	if spec != nil && slices.ContainsFunc(spec.impacts, func(e effect) bool { return e.words.reach == interlock.ReachSelf }) {
		r.s.add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: name, Reach: interlock.ReachSelf, Via: via})
	}
}

// exportedFunction returns the name of the function that a variable of the environment hands to every bash that is started with
// it: BASH_FUNC_name%%=() { … }.
func exportedFunction(variable string) (name string, ok bool) {
	rest, begins := strings.CutPrefix(variable, "BASH_FUNC_")
	name, ends := strings.CutSuffix(rest, "%%")
	return name, begins && ends && name != ""
}

// carriesOptions judges a variable whose value holds options for a program, or directories that it searches, where those make
// it load or run something. The knowledge describes them as conditions on NAME=value.
func (r *shellRun) carriesOptions(spec *command, name string, f field) {
	if len(spec.when) == 0 || f.text == "" || len(f.text) > maxText || !r.s.spend(len(f.text)/16+len(spec.when)) {
		return
	}
	u := &use{spec: spec, via: name + "="}
	for _, o := range spec.conditions([]field{literal(name + "=" + f.text)}) {
		for _, e := range o.impacts {
			r.effect(u, e, f, streams{})
		}
	}
}

// settingsIn gives a use the settings that variables of the environment hold: NAME_KEY_0 and NAME_VALUE_0, or 'key=value' in one.
func (r *shellRun) settingsIn(u *use, name string, o *option) {
	family, numbered := strings.CutSuffix(name, "*")
	if !numbered {
		if v, ok := r.vars[name]; ok && !v.gone {
			for i, one := range strings.Split(v.text, "' '") {
				if i < maxItems {
					u.flags = append(u.flags, given{option: o, name: "$" + name, value: literal(strings.ReplaceAll(strings.Trim(one, "' "), "'='", "="))})
				}
			}
		}
		return
	}
	for _, key := range r.variablesOf(family) {
		value := strings.TrimSuffix(family, "KEY_") + "VALUE_" + strings.TrimPrefix(key, family)
		setting := join(join(r.vars[key].field, literal("=")), r.vars[value].field)
		u.flags = append(u.flags, given{option: o, name: "$" + key, value: setting})
	}
}

// variablesOf are the variables set here whose names begin so, in order, a bounded number of them.
func (r *shellRun) variablesOf(family string) []string {
	var set []string
	if r.s.spend(len(r.vars) / 8) {
		for name, v := range r.vars {
			if strings.HasPrefix(name, family) && !v.gone {
				set = append(set, name)
			}
		}
	}
	sort.Strings(set)
	return set[:min(len(set), maxBraces)]
}
