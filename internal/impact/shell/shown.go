package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"

	"mvdan.cc/sh/v3/syntax"
)

// maxMasked is how many characters of a secret may be shown: enough to tell one key from another, too few to use it.
const maxMasked = 8

// shows records that what a script prints, and nothing takes up, is the value of a variable named as what holds a secret. It
// ends in the transcript, which is kept and sent to a model.
func (r *shellRun) shows(out flow.Flow) {
	if out.Named == "" || r.S.Within > 0 {
		return
	}
	r.S.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "$" + out.Named, Reach: interlock.ReachHome, Via: "echo",
		Reversibility: interlock.Readonly, Traits: []string{fact.TraitSecret}})
}

// printedByCode is what a program that was read prints.
func (r *shellRun) printedByCode() flow.Flow {
	out := flow.Flow{Named: r.S.Shown}
	r.S.Shown = ""
	return out
}

// secretName is the name of a variable if it says that the value is a secret, as printenv's description knows them.
func (r *shellRun) secretName(name string) string {
	spec := r.S.Know.Lookup("printenv")
	if spec == nil || !strings.ContainsAny(name, "DEFMNRSTY") || len(conditions(spec, []flow.Field{flow.Literal(name)})) == 0 {
		return ""
	}
	return name
}

// showing is the output of a builtin without what it was given, where it prints nothing of that.
func showing(name string, out flow.Flow) flow.Flow {
	switch name {
	case "echo", "printf", "eval", "exec", "command", "builtin", "source", ".":
	default:
		out.Named = ""
	}
	return out
}

// listed is the output of declare -p NAME and its kind, which show what variables hold.
func (r *shellRun) listed(c *syntax.DeclClause, out flow.Flow) flow.Flow {
	prints := false
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			text := a.Value.Lit()
			prints = prints || strings.HasPrefix(text, "-") && strings.Contains(text, "p")
		}
		if _, known := r.lookup(nameOf(a)); prints && a.Naked && a.Name != nil && !known && out.Named == "" {
			out.Named = r.secretName(a.Name.Value)
		}
	}
	return out
}

// nameOf is the variable an argument of declare names, if it names one.
func nameOf(a *syntax.Assign) string {
	if a.Name == nil {
		return ""
	}
	return a.Name.Value
}

// masked reports whether an expansion shows a few characters of a value at most, or others in their place: ${X:0:4}, ${X: -4},
// ${X//?/x}, ${X//[a-z]/x}.
func masked(p *syntax.ParamExp) bool {
	switch {
	case p.Slice != nil:
		offset, sure := number(p.Slice.Offset)
		if p.Slice.Length == nil {
			return sure && offset < 0 && offset >= -maxMasked
		}
		length, ok := number(p.Slice.Length)
		return ok && length >= 0 && length <= maxMasked
	case p.Repl != nil && p.Repl.All && p.Repl.Orig != nil:
		orig := p.Repl.Orig.Lit()
		return orig == "?" || strings.HasPrefix(orig, "[")
	}
	return false
}
