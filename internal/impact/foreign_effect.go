package impact

import (
	"strings"

	"interlock"
)

// A foreignHost is what a program of another language can reach: shells, files, networks, and other readers.
type foreignHost interface {
	spend(n int) bool
	// shell runs a text as a command line, words one word by word.
	shell(v foreignValue)
	words(list []foreignValue)
	// touch does something to a path and reports whether that gave a secret away.
	touch(kind interlock.ImpactKind, v foreignValue, via string, traits []string) bool
	code(language string, v foreignValue)
	file(v foreignValue)
	request(method string, v foreignValue, upload, secret bool)
	impact(i interlock.Impact)
	unknown(name string)
	tooDeep()
}

// perform records what a call does, and returns its value.
func (r *foreignRun) perform(name string, e *foreignEffect, self *foreignValue, args []foreignValue, out foreignValue) foreignValue {
	target, ok := effectTarget(e, self, args)
	out.class = ""
	switch e.what {
	case "path":
		if !ok {
			return out // without an argument it does something else
		}
		r.onPath(name, e.kind, target, r.traitsOf(e, args))
		out.sent = out.sent || strings.Contains(target.text, "://")
		out.secret = out.secret || e.kind == interlock.ImpactRead && r.secret
	case "paths":
		if self != nil && len(args) == 0 {
			args = []foreignValue{*self}
		}
		for _, a := range withoutOptions(args) {
			r.onPath(name, e.kind, a, r.traitsOf(e, args))
		}
		if len(args) == 0 {
			r.onPath(name, e.kind, r.value("$_"), e.traits)
		}
	case "copy", "move":
		r.transfers(name, e, self, args)
	case "open":
		return r.opens(name, e, self, args, out)
	case "shell":
		if ok {
			r.host.shell(joinedIfList(target))
		}
	case "argv", "words":
		r.runs(e, self, args)
	case "code":
		if ok {
			r.evaluates(e, target)
		}
	case "file":
		if ok {
			r.host.file(target)
		}
	case "request":
		r.requests(e, target, args)
		out.sent = true
	default:
		if e.kind == interlock.ImpactExecute {
			r.unknownCall(name)
			return out
		}
		i := interlock.Impact{Kind: e.kind, Target: name, Reach: e.reach, Via: r.lang.name, Traits: append([]string{TraitInline}, e.traits...),
			Confidence: interlock.Inferred, Reversibility: usualReversibility(e.kind)}
		if e.what == "host" && target.known() {
			i.Target, i.Reach = target.text, ""
		}
		r.host.impact(i)
	}
	return out
}

// effectTarget is the argument an effect is done to.
func effectTarget(e *foreignEffect, self *foreignValue, args []foreignValue) (foreignValue, bool) {
	if e.arg == selfArgument {
		if self == nil {
			return unknownForeign(), false
		}
		return *self, true
	}
	for _, a := range args { // file = "x"
		switch a.class {
		case "option:file", "option:path", "option:con", "option:filename", "option:destfile":
			return a, true
		}
	}
	plain := withoutOptions(args)
	if e.arg < len(plain) {
		return plain[e.arg], true
	}
	for _, a := range args { // all by name: file = "x"
		if strings.HasPrefix(a.class, "option:") && e.arg == 0 && a.some() {
			return a, true
		}
	}
	return unknownForeign(), false
}

func joinedIfList(v foreignValue) foreignValue {
	if v.listed {
		return foreignValue{text: v.string(), quoted: true, secret: v.secret}
	}
	return v
}

// traitsOf are the traits of an effect in one use: recursive = TRUE makes it so.
func (r *foreignRun) traitsOf(e *foreignEffect, args []foreignValue) []string {
	traits := e.traits
	for _, a := range args {
		name, ok := strings.CutPrefix(a.class, "option:")
		if ok && (name == "recursive" || name == "force") && !strings.EqualFold(a.string(), "false") && !strings.EqualFold(a.name, "false") && a.text != "F" {
			traits = append(traits[:len(traits):len(traits)], name)
		}
	}
	return traits
}

// onPath does something to every path a value stands for.
func (r *foreignRun) onPath(name string, kind interlock.ImpactKind, v foreignValue, traits []string) {
	if v.class == "handle" {
		return
	}
	v.class = ""
	if v.listed {
		for i := range v.list[:min(len(v.list), 64)] {
			r.onPath(name, kind, v.list[i], traits)
		}
		if len(v.list) > 0 {
			return
		}
		v.text = "\x00"
	}
	if strings.Contains(v.text, "://") && !strings.HasPrefix(v.text, "file:") && kind == interlock.ImpactRead {
		if !strings.HasPrefix(v.text, "php:") && !strings.HasPrefix(v.text, "data:") && !strings.HasPrefix(v.text, "compress.") {
			r.requests(&foreignEffect{method: "GET"}, v, nil)
		}
		return
	}
	if r.host.touch(kind, v, name, traits) {
		r.secret = true
	}
}

// transfers copies or moves the first path to the second.
func (r *foreignRun) transfers(name string, e *foreignEffect, self *foreignValue, args []foreignValue) {
	plain := withoutOptions(args)
	if e.arg == selfArgument && self != nil {
		plain = append([]foreignValue{*self}, plain...)
	} else if e.arg > 0 && e.arg < len(plain) {
		plain = plain[e.arg:]
	}
	if len(plain) == 0 {
		return
	}
	if e.what == "move" {
		r.onPath(name, interlock.ImpactDelete, plain[0], append([]string{TraitMoved}, e.traits...))
	} else {
		r.onPath(name, interlock.ImpactRead, plain[0], e.traits)
	}
	if len(plain) > 1 {
		r.onPath(name, interlock.ImpactWrite, plain[len(plain)-1], e.traits)
	}
}

// opens judges what opens a file: its mode says for what, and in some languages it runs a command.
func (r *foreignRun) opens(name string, e *foreignEffect, self *foreignValue, args []foreignValue, out foreignValue) foreignValue {
	plain := withoutOptions(args)
	if e.arg == selfArgument && self != nil {
		plain = append([]foreignValue{*self}, plain...)
	} else if e.arg > 0 {
		plain = plain[min(e.arg, len(plain)):]
	}
	if len(plain) == 0 {
		return out
	}
	mode := ""
	file := plain[0]
	if len(plain) > 1 {
		mode = plain[1].string()
	}
	if r.lang.syntax == "perl" {
		if file = plain[0]; len(plain) > 1 {
			mode, file = plain[0].string(), plain[1]
		} else if file.known() || file.some() {
			text := strings.TrimSpace(file.text)
			file.text = strings.TrimLeft(text, "<>+ ")
			mode = text[:len(text)-len(file.text)]
		}
		if trimmed := strings.TrimSpace(mode); trimmed == "-|" || trimmed == "|-" {
			r.runs(&foreignEffect{what: "argv"}, nil, plain[1:])
			return out
		}
	}
	text := strings.TrimSpace(file.text)
	if command, ok := strings.CutPrefix(text, "|"); ok && file.name == "" {
		file.text = command
		r.host.shell(file)
		return out
	}
	if command, ok := strings.CutSuffix(text, "|"); ok && file.name == "" && r.lang.syntax == "perl" {
		file.text = command
		r.host.shell(file)
		return out
	}
	kind, traits := interlock.ImpactRead, e.traits
	switch {
	case strings.ContainsAny(mode, "wx") || strings.Contains(mode, ">") && !strings.Contains(mode, ">>"):
		kind, traits = interlock.ImpactWrite, append([]string{TraitOverwrite}, traits...)
	case strings.Contains(mode, "a") || strings.Contains(mode, ">>"):
		kind, traits = interlock.ImpactWrite, append([]string{TraitAppend}, traits...)
	case strings.Contains(mode, "+"):
		kind = interlock.ImpactWrite
	}
	r.onPath(name, kind, file, traits)
	return foreignValue{text: "\x00", secret: r.secret && kind == interlock.ImpactRead}
}

// runs starts a program: one text is a command line, several are its words.
func (r *foreignRun) runs(e *foreignEffect, self *foreignValue, args []foreignValue) {
	plain := withoutOptions(args)
	if e.arg == selfArgument {
		if self == nil {
			return
		}
		plain = []foreignValue{*self}
	} else if e.arg > 0 {
		plain = plain[min(e.arg, len(plain)):]
	}
	listed := e.what == "words"
	for _, a := range plain {
		listed = listed || a.listed && a.class != "shell"
	}
	var words []foreignValue
	for _, v := range plain {
		if v.listed || v.name == "" || strings.IndexByte("$@", v.name[0]) >= 0 || len(words) > 0 || len(plain) == 1 {
			words = append(words, v.elements()...)
		}
	}
	for len(words) > 1 && words[0].class == "environment" {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		if r.inline && len(plain) > 0 {
			r.unknownCall("a program that is chosen at run time")
		}
	case len(words) == 1 && !listed, e.what == "argv" && len(words) == 2 && !listed && r.secondIsMode(words[1]):
		r.host.shell(words[0])
	default:
		r.host.words(words)
	}
}

// secondIsMode reports whether a second argument says how a command's output is read: popen("ls", "r").
func (r *foreignRun) secondIsMode(v foreignValue) bool {
	return len(v.text) <= 3 && strings.Trim(v.text, "rwbte+\x00") == ""
}

// evaluates runs a text as code of a language, of this one if none is named.
func (r *foreignRun) evaluates(e *foreignEffect, target foreignValue) {
	if target.class == "lambda" {
		return // a block, which has been read
	}
	if e.method == "" && target.known() {
		if target.class == "decoded" {
			r.host.code(r.lang.name, target)
			return
		}
		r.inside(target.text)
		return
	}
	r.host.code(firstOf(e.method, r.lang.name), target)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// requests judges a request to an address.
func (r *foreignRun) requests(e *foreignEffect, target foreignValue, args []foreignValue) {
	secret := target.secret
	upload := false
	for i := range args {
		secret = secret || args[i].secret
		for j := range args[i].list {
			secret = secret || args[i].list[j].secret
		}
		upload = upload || i > 0 && e.method != "GET" && !args[i].known()
	}
	r.host.request(e.method, target, upload, secret || r.secret && (upload || strings.IndexByte(target.string(), 0) >= 0))
}
