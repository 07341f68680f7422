package shell

import (
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// maxFamily bounds the variables of one family that a command is judged by.
const maxFamily = 16

// variable judges setting a variable that programs obey: one that names a command, a library or a startup file. The
// knowledge describes them under "=".
func (r *shellRun) variable(name string, f flow.Field) {
	if function, ok := exportedFunction(name); ok && f.Text != "" {
		if strings.HasPrefix(f.Text, "()") {
			function += " " + f.Text
		} else {
			function = f.Text // no function as far as can be told, or one that is computed
		}
		r.hooked("shell", function)
		return
	}
	if isPrompt(name) { // expanded before each command that is traced, or each line that is read
		r.expands(f)
	}
	spec := r.S.Know.Lookup("=")
	if spec == nil {
		return
	}
	r.carriesOptions(spec, name, f)
	o := spec.Flags[name]
	if set := spec.Flags[name+"="+f.Text]; set != nil {
		o = set
	}
	if family := strings.IndexByte(name, '_'); o == nil && family > 0 {
		o = spec.Flags[name[:family]+"_*"]
	}
	if o == nil {
		return
	}
	u := &flow.Use{Spec: spec, Via: name + "="}
	if strings.HasPrefix(f.Text, "/dev/fd/") && len(o.Impacts) > 0 { // a start-up file that is written on the spot
		if !f.Flow.Known {
			r.unread(u.Via, "shell", f, f.Flow)
			return
		}
		r.hooked("shell", f.Flow.Text)
	}
	var found []interlock.Impact
	for _, e := range o.Impacts {
		found = append(found, r.S.Capture(func() { r.effect(u, e, f, flow.Streams{}) })...)
	}
	if o.Folder != "" {
		r.repository(u, o.Folder, f)
	}
	if o.Search && r.searchesCommonPlace(f) {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: f.Text, Reach: interlock.ReachWorkspace, Via: u.Via,
			Reversibility: interlock.Reversible, Traits: []string{fact.TraitHooked}})
	}
	if o.Setting != "" && r.settingsOf(u, o.Setting, f, found) {
		return
	}
	for _, i := range found {
		o.Adds.Apply(&i)
		r.S.Add(i)
	}
	if o.Nested != "" && f.Text != "" {
		r.hooked(o.Nested, f.Text)
	}
}

// obeyed gives a use, as flags, the variables its command obeys and this action has set or taken away, whichever way it did:
// HOME=/x program, export, env, read, a loop. The knowledge describes them beside the flags, as "$NAME" or "$FAMILY_*". That
// a variable was exported is not asked: most that programs obey are, before anybody gives them another value.
func (r *shellRun) obeyed(u *flow.Use) {
	for n := u.Spec; n != nil; n = n.Parent {
		for _, name := range n.Variables {
			if o := n.Flags[name]; o.Setting != "" {
				r.settingsIn(u, name[1:], o)
				continue
			}
			for _, set := range r.given(name[1:]) {
				u.Flags = append(u.Flags, flow.Given{Option: n.Flags[name], Name: "$" + set, Value: r.vars[set].Field})
			}
		}
	}
}

// given returns the variable of that name, or those of that family, which this action has set or taken away.
func (r *shellRun) given(name string) []string {
	family, some := strings.CutSuffix(name, "*")
	if !some {
		if _, ok := r.vars[name]; !ok {
			return nil
		}
		return []string{name}
	}
	var set []string
	if r.S.Spend(len(r.vars) / 8) {
		for name := range r.vars {
			if strings.HasPrefix(name, family) {
				set = append(set, name)
			}
		}
	}
	sort.Strings(set)
	return set[:min(len(set), maxFamily)]
}

// hooked judges a command that a variable or setting makes a program run.
func (r *shellRun) hooked(kind, text string) {
	r.S.Within++
	defer func() { r.S.Within-- }()
	first := lex.FirstWord(text)
	spec := r.S.Know.Lookup(first)
	// a file by its path, or given to a shell or another interpreter
	ofFile := strings.Contains(first, "/") || spec != nil && spec.Script != ""
	for _, i := range r.S.Capture(func() { r.subshell(func() flow.Flow { return r.code(kind, text, flow.Flow{}) }) }) {
		if i.Kind == interlock.ImpactExecute && ofFile && !r.installedEditor(text) {
			i.Traits = append(i.Traits, fact.TraitHooked)
		}
		r.S.Add(i)
	}
}

// setting judges key=value, or a key alone, given to a program whose settings can name commands, as pseudo-command name
// describes them.
func (r *shellRun) setting(u *flow.Use, name string, value flow.Field) {
	spec := r.S.Know.Lookup(name)
	key, text, _ := strings.Cut(value.Text, "=")
	if spec == nil {
		return
	}
	rest := cut(value, min(len(key)+1, len(value.Text)))
	if body, shell := strings.CutPrefix(text, "!"); shell {
		r.subshell(func() flow.Flow { return r.script(body, flow.Flow{}) })
		return
	}
	if short, alias := strings.CutPrefix(key, "alias."); alias && len(u.Operands) > 0 &&
		u.Operands[0].Text == short && text != short {
		root, _, _ := strings.Cut(u.Spec.Name, " ")
		r.subshell(func() flow.Flow { return r.script(root+" "+text+" "+QuoteAll(u.Operands[1:]), flow.Flow{}) })
		return
	}
	key = strings.ToLower(key)
	o := spec.Flags[key]
	if section, _, dotted := strings.Cut(key, "."); o == nil && dotted {
		if o = spec.Flags[section+".*"]; o == nil { // of a part with a name: filter.NAME.clean
			o = spec.Flags[section+".*."+key[strings.LastIndexByte(key, '.')+1:]]
		}
	}
	if o == nil {
		return
	}
	// TOML and the like
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && strings.IndexByte(text[1:], text[0]) == n-2 {
		text = text[1 : n-1]
		rest.Text = text
	}
	if key == "gc.pruneexpire" && prunesNothing(u) {
		return
	}
	u = &flow.Use{Spec: spec, Via: spec.Name + " " + key, Operands: u.Operands}
	for _, e := range o.Impacts {
		r.effect(u, e, rest, flow.Streams{})
	}
	if o.Nested != "" && text != "" {
		r.hooked(o.Nested, text)
	}
}

// prunesNothing reports whether a command line says, wherever it does, that nothing is pruned.
func prunesNothing(u *flow.Use) bool {
	if has(u, "--no-prune") {
		return true
	}
	for _, f := range append(u.Operands[:len(u.Operands):len(u.Operands)], u.Rest...) {
		if f.Text == "--no-prune" {
			return true
		}
	}
	return false
}

// shadowed judges a name that a function or an alias takes, if it is that of Interlock's program: a caller of that would get
// something else instead, also by its path, which may be such a name too.
func (r *shellRun) shadowed(name, via string) {
	base, _ := lex.BaseName(name)
	spec := r.S.Know.Lookup(strings.ToLower(base))
	if spec != nil && slices.ContainsFunc(spec.Impacts,
		func(e know.Effect) bool { return e.Words.Reach == interlock.ReachSelf }) {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: name, Reach: interlock.ReachSelf, Via: via})
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
func (r *shellRun) carriesOptions(spec *know.Command, name string, f flow.Field) {
	if len(spec.When) == 0 || f.Text == "" || len(f.Text) > lex.MaxText || !r.S.Spend(len(f.Text)/16+len(spec.When)) {
		return
	}
	u := &flow.Use{Spec: spec, Via: name + "="}
	for _, o := range conditions(spec, []flow.Field{flow.Literal(name + "=" + f.Text)}) {
		for _, e := range o.Impacts {
			r.effect(u, e, f, flow.Streams{})
		}
	}
}

// settingsIn gives a use the settings that variables of the environment hold: NAME_KEY_0 and NAME_VALUE_0, or 'key=value' in one.
func (r *shellRun) settingsIn(u *flow.Use, name string, o *know.Option) {
	family, numbered := strings.CutSuffix(name, "*")
	if !numbered {
		if v, ok := r.vars[name]; ok && !v.Gone {
			for i, one := range strings.Split(v.Text, "' '") {
				if i < fact.MaxItems {
					u.Flags = append(u.Flags,
						flow.Given{Option: o, Name: "$" + name,
							Value: flow.Literal(strings.ReplaceAll(strings.Trim(one, "' "), "'='", "="))})
				}
			}
		}
		return
	}
	for _, key := range r.variablesOf(family) {
		value := strings.TrimSuffix(family, "KEY_") + "VALUE_" + strings.TrimPrefix(key, family)
		setting := flow.Join(flow.Join(r.vars[key].Field, flow.Literal("=")), r.vars[value].Field)
		u.Flags = append(u.Flags, flow.Given{Option: o, Name: "$" + key, Value: setting})
	}
}

// variablesOf are the variables set here whose names begin so, in order, a bounded number of them.
func (r *shellRun) variablesOf(family string) []string {
	var set []string
	if r.S.Spend(len(r.vars) / 8) {
		for name, v := range r.vars {
			if strings.HasPrefix(name, family) && !v.Gone {
				set = append(set, name)
			}
		}
	}
	sort.Strings(set)
	return set[:min(len(set), MaxBraces)]
}
