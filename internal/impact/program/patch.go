package program

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// setAttribute is target.name = v. What replaces a function that others rely on is noted.
func (r *codeRun) setAttribute(target *codeNode, v codeValue) {
	base := r.eval(target.of[0])
	full := ""
	if base.is != "" {
		full = canonicalName(base.is + "." + target.text)
	}
	if base.object == nil && base.is == "" && base.class == nil && target.of[0].kind == nodeName {
		base.object = &codeObject{fields: map[string]codeValue{}}
		r.bind(target.of[0].text, base)
	}
	if r.script && (target.text == "src" || target.text == "href") &&
		v.marks&(markSecret|markEnviron|markPrivate|markOutside) != 0 {
		r.send(interlock.Impact{Reach: interlock.ReachExternal, Via: target.text}, v.marks, false) // a browser fetches it
	}
	fields := map[string]codeValue(nil)
	switch {
	case base.object != nil:
		fields = base.object.fields
	case base.class != nil:
		fields = base.class.members
	}
	if fields != nil {
		if have, ok := fields[target.text]; ok && len(r.branches) > 0 {
			have.merge(v)
			v = have
		}
		if len(fields) < maxFields {
			fields[target.text] = v
		}
	}
	switch {
	case base.is == "os.environ" || base.is == "process.env":
		r.setVariable(target.text, v)
	case full == "" || base.object != nil && base.object.class != nil:
	case base.is == "builtins":
		r.patched(target.text, v)
	case base.imported || r.script && base.is == "process":
		r.patched(full, v)
	}
}

// roundabout notes a way to functions that nobody takes who may name them.
func (r *codeRun) roundabout(via string) {
	r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Window,
		Confidence:    interlock.Inferred, Traits: []string{fact.TraitDynamic, fact.TraitObfuscated}})
}

// setIndex is target[key] = v.
func (r *codeRun) setIndex(target *codeNode, v codeValue) {
	base := r.eval(target.of[0])
	var key codeValue
	for _, child := range target.of[1:] {
		key = r.eval(child)
	}
	text, ok := key.constant()
	if base.object != nil && ok {
		base.object.set(text, v)
	}
	switch {
	case base.is == "os.environ" || base.is == "process.env":
		if ok {
			r.setVariable(text, v)
		}
	case !ok:
	case base.is == "sys.modules", base.is == "builtins":
		r.patched(text, v)
	case base.imported:
		r.patched(canonicalName(base.is+"."+text), v)
	}
}

// setVariable gives a variable of the environment to the rules as the shell's command would.
func (r *codeRun) setVariable(name string, v codeValue) {
	if !plainVariable(name) {
		return
	}
	text := v.text()
	switch {
	case name == "NODE_TLS_REJECT_UNAUTHORIZED" && text == "0", name == "PYTHONHTTPSVERIFY" && text == "0",
		name == "GIT_SSL_NO_VERIFY" && text != "0" && text != "":
		r.unguarded(name)
		return
	case name == "PATH" || name == "PYTHONPATH" || name == "NODE_PATH":
		for _, dir := range strings.Split(text, ":") {
			r.searched(name, codeValue{texts: []string{dir}})
		}
		return
	case len(v.texts) == 0 || len(text) > 4096:
		return
	}
	if r.environ == nil {
		r.environ = map[string]codeValue{}
	}
	if _, have := r.environ[name]; have || len(r.environ) < maxFields {
		r.environ[name] = v
	}
	r.s.Nested(interlock.KindShell, "export "+lex.CommandLine([]any{name + "=" + Gapped(text)}))
}

func plainVariable(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !(c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// searched notes a place where programs or modules are looked for and which anybody may fill.
func (r *codeRun) searched(via string, v codeValue) {
	for _, dir := range pathsOf(v) {
		for _, open := range [...]string{"/tmp", "/var/tmp", "/dev/shm", "C:/Windows/Temp"} {
			if place.Below(dir, open) {
				r.s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: dir, Reach: interlock.ReachSystem, Via: via,
					Reversibility: interlock.Reversible,
					Confidence:    interlock.Inferred, Traits: []string{fact.TraitStartup}})
				return
			}
		}
	}
}

// unguarded notes that a check is switched off which others rely on.
func (r *codeRun) unguarded(via string) {
	r.s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Window,
		Confidence:    interlock.Inferred, Traits: []string{fact.TraitDefence}})
}

// patched notes that a function is put in the place of one that others rely on: one that runs, opens, deletes or sends
// something, or one that checks.
func (r *codeRun) patched(full string, v codeValue) {
	if v.closure == nil && v.is == "" && len(v.texts) == 0 && v.object == nil || strings.Contains(v.is, "mock") ||
		strings.Contains(v.is, "Mock") {
		return
	}
	if r.instead == nil {
		r.instead = map[string]codeValue{}
	}
	if len(r.instead) < maxFields && v.is != full {
		r.instead[full] = v
	}
	effect, known := r.calls[full]
	switch full {
	case "open", "ssl.create_default_context", "ssl.match_hostname", "hmac.compare_digest",
		"secrets.compare_digest", "socket.socket",
		"crypto.timingSafeEqual", "module._load", "Module._load", "tls.checkServerIdentity", "sys.addaudithook", "os.access",
		"jwt.decode", "jwt.verify", "bcrypt.checkpw",
		"bcrypt.compare", "bcrypt.compareSync", "os.geteuid", "os.getuid", "process.getuid":
		known = true
	case "ssl._create_default_https_context":
		known = strings.Contains(v.is, "unverified") || v.closure != nil
	default:
		known = known && (effect.Kind == interlock.ImpactExecute || effect.Kind == interlock.ImpactDelete ||
			effect.Kind == interlock.ImpactPrivilege)
	}
	if !known {
		return
	}
	r.s.Executes(r.kind, full+" = …")
	r.unguarded(full)
}
