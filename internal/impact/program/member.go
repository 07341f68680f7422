package program

import (
	"strings"
)

// nameValue is what a name means.
func (r *codeRun) nameValue(name string) codeValue {
	if v, ok := r.scope.find(name); ok {
		return v
	}
	v := codeValue{dynamic: true, is: name}
	switch name {
	case "globalThis", "window", "global", "self", "__builtins__", "__builtin__", "builtins":
		if r.script || strings.Contains(name, "builtin") {
			v.is = "builtins"
		}
	case "__dirname":
		v.texts = []string{"."}
	case "True", "False", "None", "true", "false", "null", "undefined":
		v = codeValue{}
	}
	return v
}

// canonicalName gives a qualified name the spelling that the table has.
func canonicalName(name string) string {
	for _, prefix := range [...]string{"builtins.", "__builtin__.", "__builtins__.", "six.moves."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name = rest
		}
	}
	name = strings.ReplaceAll(name, ".default.", ".")
	if strings.Contains(name, "__dict__") {
		name = strings.ReplaceAll(name, ".__dict__", "")
	}
	switch {
	case strings.HasPrefix(name, "posix."), strings.HasPrefix(name, "nt."):
		name = "os." + name[strings.IndexByte(name, '.')+1:]
	case strings.HasPrefix(name, "_socket."), strings.HasPrefix(name, "_pickle."):
		name = name[1:]
	case strings.HasPrefix(name, "cPickle."):
		name = "pickle." + name[len("cPickle."):]
	}
	return name
}

// attribute is value.name, as the node spells it.
func (r *codeRun) attribute(base codeValue, n *codeNode) codeValue {
	spelled := ""
	if of := n.of[0]; of.kind == nodeName && base.is == "" {
		spelled = of.text
	}
	return r.member(base, n.text, spelled)
}

// member is a member of a value. spelled is what the value was called, if nothing is known of it.
func (r *codeRun) member(base codeValue, name, spelled string) codeValue {
	if v, ok := r.ownMember(base, name); ok {
		return v
	}
	full := base.is
	if full == "" {
		full = spelled
	}
	v := codeValue{dynamic: true, marks: base.marks}
	switch {
	case name == "__dict__" || name == "prototype" && r.script:
		v.is, v.imported = full, base.imported
		return v
	case full == "builtins" || full == "module" && name == "require":
		return r.nameValue(name)
	case name == "default" && base.imported:
		return base
	case name == "__globals__" || name == "func_globals":
		v.is = "__globals__"
		return v
	case name == "__subclasses__" && (strings.HasSuffix(full, "__base__") || strings.HasSuffix(full, "__bases__") ||
		strings.HasSuffix(full, "__mro__") || full == ".__subclasses__" || full == "object"):
		r.roundabout(name)
	case name == "constructor" && r.script && (base.closure != nil || strings.HasSuffix(full, "constructor")):
		v.is = "Function"
		return v
	case strings.HasSuffix(full, "mainModule") && name == "require", name == "__import__":
		v.is = "require"
		if !r.script {
			v.is = name
		}
		return v
	case full == "os.environ" || full == "process.env":
		if !lookupMethod(name) {
			v.marks &^= markEnviron
			if r.script {
				return r.variable(name)
			}
		}
	}
	if full == "" {
		v.is = "." + name
		return v
	}
	if len(full) > 256 {
		full = full[:256]
	}
	v.is = canonicalName(full + "." + name)
	v.imported = base.imported
	if instead, ok := r.instead[v.is]; ok {
		return instead
	}
	return r.knownMember(base, v, name)
}

// ownMember is what an object has of its own or from its class.
func (r *codeRun) ownMember(base codeValue, name string) (codeValue, bool) {
	if base.object != nil {
		if v, ok := base.object.fields[name]; ok {
			return v, true
		}
		if v, ok := r.inherited(base.object.class, base.object, name, 0); ok {
			return v, true
		}
	}
	if base.class != nil {
		return r.inherited(base.class, nil, name, 0)
	}
	return codeValue{}, false
}

// knownMember fills in what is known of a member by its qualified name.
func (r *codeRun) knownMember(base, v codeValue, name string) codeValue {
	switch {
	case v.is == "os.environ" || v.is == "process.env":
		v.marks |= markEnviron
	case served(v.is):
		v.marks |= markNetwork
	case v.is == "document.cookie":
		v.marks |= markSecret
	case v.is == "sys.argv" || v.is == "process.argv":
		v.list = true
	case v.is == "sys.executable" || v.is == "process.execPath":
		v.texts, v.dynamic = []string{"python3"}, false
		if r.script {
			v.texts = []string{"node"}
		}
	case v.is == "os.sep" || v.is == "os.path.sep" || v.is == "path.sep":
		return codeValue{texts: []string{"/"}}
	case base.is == "pathlib.Path" && len(base.texts) > 0:
		switch name {
		case "parent":
			return codeValue{texts: parents(base.texts), is: base.is, dynamic: base.dynamic}
		case "name", "stem", "suffix":
			return codeValue{dynamic: true}
		}
	}
	return v
}

// served reports whether a name is what somebody else sent to a server of the program.
func served(name string) bool {
	switch name {
	case "flask.request", "bottle.request", "quart.request", "cherrypy.request":
		return true
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 && strings.HasSuffix(name[:i], "RequestHandler") {
		switch name[i+1:] {
		case "request", "rfile", "path", "headers":
			return true
		}
	}
	return false
}

// lookupMethod reports whether a member of the environment is a method that hands on all of it.
func lookupMethod(name string) bool {
	switch name {
	case "items", "copy", "values", "toString", "__str__", "__repr__", "_data", "iteritems":
		return true
	}
	return false
}

// EnvironmentText is what a variable of the environment holds, where everybody knows it.
func EnvironmentText(name string) (text string, known bool) {
	switch name {
	case "HOME", "USERPROFILE":
		return "~", true
	case "TMPDIR", "TEMP", "TMP":
		return "/tmp", true
	}
	return "", false
}

// environmentValue is one variable of the environment.
func environmentValue(name string) codeValue {
	if text, known := EnvironmentText(name); known {
		return codeValue{texts: []string{text}}
	}
	return codeValue{dynamic: true, is: "environment variable"}
}

func parents(paths []string) (out []string) {
	for _, p := range paths {
		if i := strings.LastIndexByte(strings.TrimRight(p, "/"), '/'); i > 0 {
			out = append(out, p[:i])
		} else if strings.HasPrefix(p, "/") {
			out = append(out, "/")
		} else {
			out = append(out, ".")
		}
	}
	return out
}

// inherited finds a member of a class or of what it is derived from, bound to an object.
func (r *codeRun) inherited(class *codeClass, self *codeObject, name string, depth int) (codeValue, bool) {
	if class == nil || depth > 8 {
		return codeValue{}, false
	}
	if v, ok := class.members[name]; ok {
		if v.closure != nil && self != nil && v.closure.class != nil {
			bound := *v.closure
			bound.self = self
			v.closure = &bound
		}
		return v, true
	}
	for _, base := range class.bases {
		if v, ok := r.inherited(base.class, self, name, depth+1); ok {
			return v, true
		}
		if base.is != "" {
			return r.member(codeValue{is: base.is, imported: base.imported, dynamic: true}, name, ""), true
		}
	}
	return codeValue{}, false
}

// index is value[keys].
func (r *codeRun) index(n *codeNode) codeValue {
	base := r.eval(n.of[0])
	var key codeValue
	for _, child := range n.of[1:] {
		if child.kind != nodeOther || child.text != ":" {
			key = r.eval(child)
		}
	}
	if v, ok := r.slice(base, n.of[1:]); ok {
		return v
	}
	if text, ok := key.constant(); ok {
		if v, ok := r.keyed(base, key, text); ok {
			return v
		}
	}
	if base.is == "os.environ" || base.is == "process.env" {
		return codeValue{dynamic: true}
	}
	v := r.element(base)
	v.texts = base.texts // any of them
	if base.list || base.object != nil && base.object.class == nil {
		return v
	}
	v.is = ""
	v.list = base.is == "sys.argv"
	return v
}

// keyed is the element of a value under a known key.
func (r *codeRun) keyed(base, key codeValue, text string) (codeValue, bool) {
	if at, ok := key.whole(); ok {
		if base.items != nil {
			if at < 0 {
				at += len(base.items)
			}
			if at >= 0 && at < len(base.items) {
				return base.items[at], true
			}
		}
		if whole, ok := base.constant(); ok && !base.list && at >= 0 && at < len(whole) {
			return codeValue{texts: []string{whole[at : at+1]}, marks: base.marks}, true
		}
		if base.object != nil {
			v, ok := base.object.fields[text]
			return v, ok
		}
		return codeValue{}, false
	}
	switch {
	case base.object != nil && base.object.class == nil:
		if v, ok := base.object.fields[text]; ok {
			return v, true
		}
		if r.script && base.is == "" {
			return codeValue{}, false
		}
	case base.is == "sys.modules":
		return codeValue{is: text, imported: true, dynamic: true}, true
	case base.is == "os.environ" || base.is == "process.env":
		return r.variable(text), true
	case base.is == "__globals__" && r.calls["os."+text].Kind != "":
		return codeValue{is: "os." + text, imported: true, dynamic: true}, true
	case base.is == "globals" || base.is == "locals" || base.is == "vars" || base.is == "__globals__":
		return r.nameValue(text), true
	}
	if r.script && !key.number || base.imported || base.is == "builtins" {
		return r.member(base, text, ""), true
	}
	return codeValue{}, false
}

// slice is value[a:b:c] where it is known: the other way round, or a part.
func (r *codeRun) slice(base codeValue, parts []*codeNode) (codeValue, bool) {
	bounds, ok := sliceBounds(parts)
	if !ok {
		return codeValue{}, false
	}
	v := codeValue{dynamic: true, marks: base.marks, list: base.list, texts: base.texts}
	number := func(n *codeNode, otherwise int) (int, bool) {
		if n == nil {
			return otherwise, true
		}
		return r.eval(n).whole()
	}
	step, known := number(bounds[2], 1)
	if !known || step == 0 {
		return v, true
	}
	length := len(base.items)
	text, isText := base.constant()
	if base.items == nil && !isText {
		return v, true
	}
	runes := []rune(text)
	if base.items == nil {
		length = len(runes)
	}
	from, to := 0, length
	if step < 0 {
		from, to = length-1, -1
	}
	from, ok1 := number(bounds[0], from)
	to, ok2 := number(bounds[1], to)
	if !ok1 || !ok2 || !r.make(length) {
		return v, true
	}
	if bounds[0] != nil && from < 0 {
		from += length
	}
	if bounds[1] != nil && to < 0 {
		to += length
	}
	return picked(base, runes, length, from, to, step), true
}

// sliceBounds takes a slice's beginning, end and step apart: the parts between its colons.
func sliceBounds(parts []*codeNode) (bounds [3]*codeNode, ok bool) {
	colons := 0
	for _, part := range parts {
		if part.kind == nodeOther && part.text == ":" && len(part.of) == 0 {
			colons++
			continue
		}
		if colons < 3 {
			bounds[colons] = part
		}
	}
	return bounds, colons == 1 || colons == 2
}

// picked is what a slice takes of a list, or of a text given as its letters.
func picked(base codeValue, runes []rune, length, from, to, step int) codeValue {
	out := codeValue{marks: base.marks, list: base.list}
	var letters []rune
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		if i < 0 || i >= length {
			if step > 0 && i < 0 {
				continue
			}
			break
		}
		if base.items != nil {
			out.items = append(out.items, base.items[i])
			if t := base.items[i].text(); t != "" && len(out.texts) < maxTexts {
				out.texts = append(out.texts, t)
			}
		} else {
			letters = append(letters, runes[i])
		}
	}
	if base.items == nil {
		out.texts = []string{string(letters)}
	}
	return out
}
