package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// packaged is the description of a program that is called by the name of its package, as runners of packages are given it
// (@scope/name, npm:name, name@version, name==version), or nothing.
func (r *shellRun) packaged(word string) *know.Command {
	name := strings.TrimPrefix(word, "npm:")
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	} else if version := strings.Index(name, "=="); version > 0 {
		name, _, _ = strings.Cut(name[:version], "[")
	}
	if name == word && !strings.HasPrefix(name, "@") || strings.ContainsAny(name, "$`") {
		return nil
	}
	return r.S.Know.Lookup(name)
}

// installedPackage is the description of a program of a package that is run by the path of its file, where it is what its
// name says wherever it lies: node_modules/.bin/NAME, node_modules/@scope/NAME/cli.js.
func (r *shellRun) installedPackage(path string) *know.Command {
	const folder = "node_modules/"
	at := strings.LastIndex(path, folder)
	if at < 0 {
		return nil
	}
	name := strings.TrimPrefix(path[at+len(folder):], ".bin/")
	scope, rest, _ := strings.Cut(name, "/")
	if strings.HasPrefix(scope, "@") {
		base, _, _ := strings.Cut(rest, "/")
		scope += "/" + base
	}
	if spec := r.S.Know.Lookup(scope); spec != nil && spec.Anywhere {
		return spec
	}
	return nil
}

// conditionsOf are the conditions of a use that hold for its operands and for its flags.
func conditionsOf(u *flow.Use) []*know.Option { return conditions(u.Spec, words(u), u.Flags...) }

// flagIs reports whether a flag was given with a value that a pattern says, or with a list that holds one: --mode=careless*,
// however the two were written.
func flagIs(pattern string, flags []flow.Given) bool {
	name, value, named := strings.Cut(pattern, "=")
	if !named || !strings.HasPrefix(name, "-") {
		return false
	}
	for _, g := range flags {
		if g.Name != name || len(g.Value.Text) > lex.MaxText {
			continue
		}
		if know.MatchGlob(value, g.Value.Text) {
			return true
		}
		for one := range strings.FieldsFuncSeq(g.Value.Text, func(c rune) bool { return c == ',' || c == ' ' }) {
			if know.MatchGlob(value, one) {
				return true
			}
		}
	}
	return false
}

// landing is where what is fetched under its own name lies then: the file that an address' last part names, in the folder that a
// flag names, or here.
func landing(u *flow.Use, address flow.Field) flow.Field {
	address.Text, address.Lead = path.Base(strings.TrimRight(know.CleanURL(address.Text), "/")), false
	for _, g := range u.Flags {
		if g.Option.Into && g.Value.Text != "" {
			return flow.Join(flow.Join(g.Value, flow.Literal("/")), address)
		}
	}
	return address
}

// foundFirst runs a program of a name that is known where this action has said that programs are looked for first in a folder
// of the workspace, and one of that name lies there: that is what runs. It reports whether there is one.
func (r *shellRun) foundFirst(name string, args []flow.Field, io flow.Streams) (flow.Flow, bool) {
	search, set := r.vars["PATH"]
	if !set || search.Gone || len(search.Text) > lex.MaxText || strings.ContainsAny(name, "/$`*?") {
		return flow.Flow{}, false
	}
	n := 0
	for dir := range strings.SplitSeq(search.Text, ":") {
		if strings.HasPrefix(dir, "$PATH") || strings.HasPrefix(dir, "${PATH") || n >= maxSearched || !r.S.Spend(4) {
			break
		}
		n++
		if dir == "" {
			dir = "."
		}
		if strings.ContainsAny(dir, "$`*?") || r.S.Place(dir).Reach != interlock.ReachWorkspace {
			continue
		}
		at := flow.Literal(strings.TrimSuffix(dir, "/") + "/" + name)
		p := r.PlaceOf(at, true)
		_, made := r.madeHere(p)
		if !made {
			_, made = r.S.ScriptAt(p)
		}
		if made {
			return r.Program(append([]flow.Field{at}, args[1:]...), io), true
		}
	}
	return flow.Flow{}, false
}

// maxSearched is how many folders of a search path are looked at.
const maxSearched = 8
