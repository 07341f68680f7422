package program

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/impact/web"
)

// maxNamed bounds how many variables that hold secrets are remembered of one program.
const maxNamed = 16

// isNamed says of a value that it is what such a variable holds, and nothing made of it.
const isNamed = "a secret of the environment"

// variable is what a variable of the environment holds, marked as such where that is not known.
func (r *codeRun) variable(name string) codeValue {
	if dir, known := r.s.SelfHome(); known && name == "INTERLOCK_HOME" {
		return codeValue{texts: []string{dir}}
	}
	v := environmentValue(name)
	if len(v.texts) > 0 {
		return v
	}
	v.marks |= markVariable
	if web.NamesSecret(name) && !namesPlace(name) {
		v.marks |= markNamed
		v.is = isNamed
		if len(r.named) < maxNamed && !slices.Contains(r.named, name) {
			r.named = append(r.named, name)
		}
	}
	return v
}

// namesPlace reports whether a variable says where something is and not what it is: TOKEN_URL, SECRET_PATH.
func namesPlace(name string) bool {
	last := strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:])
	return slices.Contains([]string{"URL", "URI", "ENDPOINT", "HOST", "PORT", "PATH", "FILE", "DIR", "NAME", "TYPE", "TTL"}, last)
}

// tellsNamed records a request that tells a host outside what a variable holds whose name says that it is a secret, where
// it is not the secret of that host's own service: in the address or the body, or by its name somebody else's in a header.
func (r *codeRun) tellsNamed(c *codeCall, target, body codeValue) {
	headers, _ := c.option("headers", "auth")
	said, shown := (target.marks|body.marks)&markNamed != 0, headers.marks&markNamed != 0
	if given, ok := c.option("params"); ok {
		said = said || given.marks&markNamed != 0
	}
	if !said && !shown {
		return
	}
	address := strings.ReplaceAll(target.text(), "\x00", "x")
	if !strings.Contains(address, "://") {
		return // where it goes is the program's own affair
	}
	reach, traits := r.s.Host(address)
	if reach == interlock.ReachWorkspace || fact.HasTrait(traits, fact.TraitInside) {
		return
	}
	for _, name := range r.named {
		if web.OthersSecret(name, place.HostOf(address), !said) {
			r.tells(c, "$"+name)
			return
		}
	}
}

// tellsName records the look-up of a name below somebody else's that is made of a variable or a file: the server of that
// domain reads what was asked for.
func (r *codeRun) tellsName(c *codeCall, target codeValue) {
	const private = markVariable | markNamed | markSecret | markEnviron | markOutside | markPrivate
	for _, text := range target.texts {
		if first, domain, ok := strings.Cut(text, "."); ok && target.marks&private != 0 && strings.Contains(first, "\x00") &&
			strings.Contains(domain, ".") && !strings.Contains(domain, "\x00") {
			r.tells(c, "what a name below "+domain+" is made of")
			return
		}
	}
}

// tells records that a secret leaves this machine in a call.
func (r *codeRun) tells(c *codeCall, what string) {
	r.s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: what, Reach: interlock.ReachExternal, Via: c.name,
		Reversibility: interlock.Irreversible, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitSecret, fact.TraitUpload}})
}

// shows notes that the program prints what a variable holds whose name says that it is a secret. The caller of the program
// knows where that goes.
func (r *codeRun) shows(c *codeCall) {
	switch c.name {
	case "print", "console.log", "console.error", "console.info", "console.warn", "sys.stdout.write", "sys.stderr.write",
		"process.stdout.write", "process.stderr.write", "pprint.pprint":
	default:
		return
	}
	if file, ok := c.option("file"); ok && !strings.HasPrefix(file.is, "sys.std") || len(r.named) == 0 {
		return
	}
	for _, v := range c.positional() {
		if v.is == isNamed && r.s.Shown == "" { // itself, and not its length, its first letters or whether it is there
			r.s.Shown = r.named[0]
		}
	}
}
