package foreign

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// A Host is what a program of another language can reach: shells, files, networks, and other readers.
type Host interface {
	Spend(n int) bool
	// shell runs a text as a command line, words one word by word.
	Shell(v Value)
	// Obeys reports whether programs obey a variable of the environment.
	Obeys(name string) bool
	Words(list []Value)
	// touch does something to a path and reports whether that gave a secret away.
	Touch(kind interlock.ImpactKind, v Value, via string, traits []string) bool
	Code(language string, v Value)
	File(v Value)
	Request(method string, v Value, upload, secret bool)
	Impact(i interlock.Impact)
	Unknown(name string)
	TooDeep()
}

// perform records what a call does, and returns its value.
func (r *Run) perform(name string, e *know.LanguageEffect, self *Value, args []Value, out Value) Value {
	target, ok := effectTarget(e, self, args)
	out.Class = ""
	switch e.What {
	case "path":
		if !ok {
			return out // without an argument it does something else
		}
		r.onPath(name, e.Kind, target, r.traitsOf(e, args))
		out.Sent = out.Sent || strings.Contains(target.Text, "://")
		out.secret = out.secret || e.Kind == interlock.ImpactRead && r.secret
	case "paths":
		if self != nil && len(args) == 0 {
			args = []Value{*self}
		}
		for _, a := range withoutOptions(args) {
			r.onPath(name, e.Kind, a, r.traitsOf(e, args))
		}
		if len(args) == 0 {
			r.onPath(name, e.Kind, r.value("$_"), e.Traits)
		}
	case "copy", "move":
		r.transfers(name, e, self, args)
	case "open":
		return r.opens(name, e, self, args, out)
	case "shell":
		if ok {
			r.host.Shell(joinedIfList(target))
		}
	case "argv", "words":
		r.runs(e, self, args)
	case "code":
		if ok {
			r.evaluates(e, target)
		}
	case "file":
		if ok {
			r.host.File(target)
		}
	case "request":
		r.requests(e, target, args)
		out.Sent = true
	default:
		if e.Kind == interlock.ImpactExecute {
			r.unknownCall(name)
			return out
		}
		i := interlock.Impact{Kind: e.Kind, Target: name, Reach: e.Reach, Via: r.lang.Name,
			Traits:     append([]string{fact.TraitInline}, e.Traits...),
			Confidence: interlock.Inferred, Reversibility: place.UsualReversibility(e.Kind)}
		if e.What == "host" && target.Known() {
			i.Target, i.Reach = target.Text, ""
		}
		r.host.Impact(i)
	}
	return out
}

// effectTarget is the argument an effect is done to.
func effectTarget(e *know.LanguageEffect, self *Value, args []Value) (Value, bool) {
	if e.Arg == know.SelfArgument {
		if self == nil {
			return UnknownValue(), false
		}
		return *self, true
	}
	for _, a := range args { // file = "x"
		switch a.Class {
		case "option:file", "option:path", "option:con", "option:filename", "option:destfile":
			return a, true
		}
	}
	plain := withoutOptions(args)
	if e.Arg < len(plain) {
		return plain[e.Arg], true
	}
	for _, a := range args { // all by name: file = "x"
		if strings.HasPrefix(a.Class, "option:") && e.Arg == 0 && a.Some() {
			return a, true
		}
	}
	return UnknownValue(), false
}

func joinedIfList(v Value) Value {
	if v.listed {
		return Value{Text: v.String(), Quoted: true, secret: v.secret}
	}
	return v
}

// traitsOf are the traits of an effect in one use: recursive = TRUE makes it so.
func (r *Run) traitsOf(e *know.LanguageEffect, args []Value) []string {
	traits := e.Traits
	for _, a := range args {
		name, ok := strings.CutPrefix(a.Class, "option:")
		if ok && (name == "recursive" || name == "force") && !strings.EqualFold(a.String(), "false") &&
			!strings.EqualFold(a.Name, "false") && a.Text != "F" {
			traits = append(traits[:len(traits):len(traits)], name)
		}
	}
	return traits
}

// onPath does something to every path a value represents.
func (r *Run) onPath(name string, kind interlock.ImpactKind, v Value, traits []string) {
	if v.Class == "handle" {
		return
	}
	v.Class = ""
	if v.listed {
		for i := range v.list[:min(len(v.list), 64)] {
			r.onPath(name, kind, v.list[i], traits)
		}
		if len(v.list) > 0 {
			return
		}
		v.Text = "\x00"
	}
	if strings.Contains(v.Text, "://") && !strings.HasPrefix(v.Text, "file:") && kind == interlock.ImpactRead {
		if !strings.HasPrefix(v.Text, "php:") && !strings.HasPrefix(v.Text, "data:") && !strings.HasPrefix(v.Text, "compress.") {
			r.requests(&know.LanguageEffect{Method: "GET"}, v, nil)
		}
		return
	}
	if r.host.Touch(kind, v, name, traits) {
		r.secret = true
	}
}

// transfers copies or moves the first path to the second.
func (r *Run) transfers(name string, e *know.LanguageEffect, self *Value, args []Value) {
	plain := withoutOptions(args)
	if e.Arg == know.SelfArgument && self != nil {
		plain = append([]Value{*self}, plain...)
	} else if e.Arg > 0 && e.Arg < len(plain) {
		plain = plain[e.Arg:]
	}
	if len(plain) == 0 {
		return
	}
	if e.What == "move" {
		r.onPath(name, interlock.ImpactDelete, plain[0], append([]string{fact.TraitMoved}, e.Traits...))
	} else {
		r.onPath(name, interlock.ImpactRead, plain[0], e.Traits)
	}
	if len(plain) > 1 {
		r.onPath(name, interlock.ImpactWrite, plain[len(plain)-1], e.Traits)
	}
}

// opens judges what opens a file: its mode says for what, and in some languages it runs a command.
func (r *Run) opens(name string, e *know.LanguageEffect, self *Value, args []Value, out Value) Value {
	plain := withoutOptions(args)
	if e.Arg == know.SelfArgument && self != nil {
		plain = append([]Value{*self}, plain...)
	} else if e.Arg > 0 {
		plain = plain[min(e.Arg, len(plain)):]
	}
	if len(plain) == 0 {
		return out
	}
	mode := ""
	file := plain[0]
	if len(plain) > 1 {
		mode = plain[1].String()
	}
	if r.lang.Syntax == "perl" {
		if file = plain[0]; len(plain) > 1 {
			mode, file = plain[0].String(), plain[1]
		} else if file.Known() || file.Some() {
			text := strings.TrimSpace(file.Text)
			file.Text = strings.TrimLeft(text, "<>+ ")
			mode = text[:len(text)-len(file.Text)]
		}
		if trimmed := strings.TrimSpace(mode); trimmed == "-|" || trimmed == "|-" {
			r.runs(&know.LanguageEffect{What: "argv"}, nil, plain[1:])
			return out
		}
	}
	text := strings.TrimSpace(file.Text)
	if command, ok := strings.CutPrefix(text, "|"); ok && file.Name == "" {
		file.Text = command
		r.host.Shell(file)
		return out
	}
	if command, ok := strings.CutSuffix(text, "|"); ok && file.Name == "" && r.lang.Syntax == "perl" {
		file.Text = command
		r.host.Shell(file)
		return out
	}
	kind, traits := interlock.ImpactRead, e.Traits
	switch {
	case strings.ContainsAny(mode, "wx") || strings.Contains(mode, ">") && !strings.Contains(mode, ">>"):
		kind, traits = interlock.ImpactWrite, append([]string{fact.TraitOverwrite}, traits...)
	case strings.Contains(mode, "a") || strings.Contains(mode, ">>"):
		kind, traits = interlock.ImpactWrite, append([]string{fact.TraitAppend}, traits...)
	case strings.Contains(mode, "+"):
		kind = interlock.ImpactWrite
	}
	r.onPath(name, kind, file, traits)
	return Value{Text: "\x00", secret: r.secret && kind == interlock.ImpactRead}
}

// runs starts a program: one text is a command line, several are its words.
func (r *Run) runs(e *know.LanguageEffect, self *Value, args []Value) {
	plain := withoutOptions(args)
	if e.Arg == know.SelfArgument {
		if self == nil {
			return
		}
		plain = []Value{*self}
	} else if e.Arg > 0 {
		plain = plain[min(e.Arg, len(plain)):]
	}
	listed := e.What == "words"
	for _, a := range plain {
		listed = listed || a.listed && a.Class != "shell"
	}
	var words []Value
	for _, v := range plain {
		if v.listed || v.Name == "" || strings.IndexByte("$@", v.Name[0]) >= 0 || len(words) > 0 || len(plain) == 1 {
			words = append(words, v.elements()...)
		}
	}
	for len(words) > 1 && words[0].Class == "environment" {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		if r.inline && len(plain) > 0 {
			r.unknownCall("a program that is chosen at run time")
		}
	case len(words) == 1 && !listed, e.What == "argv" && len(words) == 2 && !listed && r.secondIsMode(words[1]):
		r.host.Shell(words[0])
	default:
		r.host.Words(words)
	}
}

// secondIsMode reports whether a second argument says how a command's output is read: popen("ls", "r").
func (r *Run) secondIsMode(v Value) bool {
	return len(v.Text) <= 3 && strings.Trim(v.Text, "rwbte+\x00") == ""
}

// evaluates runs a text as code of a language, of this one if none is named.
func (r *Run) evaluates(e *know.LanguageEffect, target Value) {
	if target.Class == "lambda" {
		return // a block, which has been read
	}
	if e.Method == "" && target.Known() {
		if target.Class == "decoded" {
			r.host.Code(r.lang.Name, target)
			return
		}
		r.inside(target.Text)
		return
	}
	r.host.Code(firstOf(e.Method, r.lang.Name), target)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// requests judges a request to an address.
func (r *Run) requests(e *know.LanguageEffect, target Value, args []Value) {
	secret := target.secret
	upload := false
	for i := range args {
		secret = secret || args[i].secret
		for j := range args[i].list {
			secret = secret || args[i].list[j].secret
		}
		upload = upload || i > 0 && e.Method != "GET" && !args[i].Known()
	}
	r.host.Request(e.Method, target, upload, secret || r.secret && (upload || strings.IndexByte(target.String(), 0) >= 0))
}
