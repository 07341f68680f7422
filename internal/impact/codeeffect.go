package impact

import (
	"strings"

	"interlock"
)

// argument returns the argument at a position, skipping keyword arguments, or under one of the keywords.
func (r *codeRun) argument(arguments [][]codeToken, at int, keywords ...string) codeValue {
	position := 0
	for _, a := range arguments {
		if len(a) > 2 && a[0].kind == codeName && a[1].is("=") {
			for _, k := range keywords {
				if a[0].text == k {
					return r.value(a[2:], 0)
				}
			}
			continue
		}
		if position == at {
			if len(a) > 1 && a[0].is("*") {
				a = a[1:]
			}
			return r.value(a, 0)
		}
		position++
	}
	return codeValue{dynamic: true}
}

func hasKeyword(arguments [][]codeToken, keywords ...string) bool {
	for _, a := range arguments {
		if len(a) > 2 && a[0].kind == codeName && (a[1].is("=") || a[1].is(":")) {
			for _, k := range keywords {
				if a[0].text == k {
					return true
				}
			}
		}
	}
	return false
}

// effect records what a call of the table does.
func (r *codeRun) effect(name string, e callEffect, arguments [][]codeToken) {
	target := r.argument(arguments, e.arg, "path", "url", "args", "file", "name", "src", "dst", "filename", "command", "cmd")
	r.s.executes(r.kind, name+"("+visible(target.text())+")")
	switch e.what {
	case "path":
		if e.copying {
			r.onPath(name, interlock.ImpactRead, target, e.traits)
			r.onPath(name, interlock.ImpactWrite, r.argument(arguments, e.arg+1, "dst"), e.traits)
			return
		}
		if e.arg == 1 && e.kind == interlock.ImpactWrite { // a move
			source := r.argument(arguments, 0, "src")
			for _, text := range pathsOf(source) {
				r.s.touch(text, interlock.Impact{Kind: interlock.ImpactDelete, Via: name, Reversibility: interlock.Reversible})
			}
		}
		r.modes(name, target, arguments)
		r.onPath(name, e.kind, target, e.traits)
	case "shell":
		r.shell(name, target, arguments)
	case "sql":
		for _, text := range target.texts {
			if !r.inMemory && looksLikeSQL(text) {
				r.s.nested(interlock.KindSQL, strings.ReplaceAll(text, "\x00", "x"))
			}
		}
	case "code", "maybe-code":
		r.code(name, target, arguments, e.what == "maybe-code")
	case "request":
		r.request(name, e, target, arguments)
	case "host":
		r.host(name, e, target)
	default:
		i := interlock.Impact{Kind: e.kind, Reach: e.reach, Via: name, Traits: append([]string(nil), e.traits...), Reversibility: usualReversibility(e.kind)}
		if i.Reach == "" {
			i.Reach = interlock.ReachWorkspace
		}
		r.killed(name, arguments)
		if e.kind == interlock.ImpactSpawn && (strings.HasSuffix(name, "kill") || strings.HasSuffix(name, "terminate") || strings.HasSuffix(name, "killpg")) {
			i.Reversibility = interlock.Irreversible
		}
		r.s.add(i)
	}
}

// visible shortens a text for the normalised form.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\x00", "…")
	if len(text) > 512 {
		text = text[:512]
	}
	return "'" + strings.ToValidUTF8(text, "") + "'"
}

// pathsOf returns the paths a value may be; computed parts become a pattern.
func pathsOf(v codeValue) (out []string) {
	for _, t := range v.texts {
		if !strings.HasPrefix(t, "\x00") && t != "" {
			out = append(out, strings.ReplaceAll(t, "\x00", "*"))
		}
	}
	return out
}

// onPath records something done to a path. A path that is computed is in the workspace as far as is known.
func (r *codeRun) onPath(name string, kind interlock.ImpactKind, target codeValue, traits []string) {
	paths := pathsOf(target)
	if len(paths) == 0 {
		r.rewrites = r.rewrites || kind == interlock.ImpactDelete || kind == interlock.ImpactWrite && hasTrait(traits, TraitOverwrite)
		i := interlock.Impact{Kind: kind, Reach: interlock.ReachWorkspace, Via: name, Reversibility: usualReversibility(kind),
			Confidence: interlock.Inferred, Traits: append(append([]string(nil), traits...), TraitDynamic)}
		if kind == interlock.ImpactDelete && !hasTrait(traits, TraitRecursive) {
			i.Reversibility = interlock.Window // one file of a program's own choosing
		}
		r.s.add(i)
		return
	}
	for _, path := range paths {
		switch path {
		case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "nul", "NUL", ":memory:":
			continue // holds nothing
		}
		before := len(r.s.impacts)
		p := r.s.place(path)
		given := append([]string(nil), traits...)
		if climbs(path) {
			given = append(given, TraitClimbing)
		}
		r.s.touchPlace(p, interlock.Impact{Kind: kind, Via: name, Traits: given})
		if kind == interlock.ImpactRead || kind == interlock.ImpactCredential {
			r.outside = r.outside || r.s.foreign(p)
			for _, i := range r.s.impacts[before:] {
				r.secretIn = r.secretIn || i.Has(TraitSecret)
			}
		}
	}
}

// openFile reads the mode of an open call.
func (r *codeRun) openFile(name string, arguments [][]codeToken) {
	mode := r.argument(arguments, 1, "mode", "flags").text()
	kind, traits := interlock.ImpactRead, []string(nil)
	switch {
	case strings.ContainsAny(mode, "wx"):
		kind, traits = interlock.ImpactWrite, []string{TraitOverwrite}
	case strings.Contains(mode, "a"):
		kind, traits = interlock.ImpactWrite, []string{TraitAppend}
	case strings.Contains(mode, "+"):
		kind = interlock.ImpactWrite
	}
	target := r.argument(arguments, 0, "file", "path")
	if len(pathsOf(target)) == 0 && kind == interlock.ImpactRead {
		return // reads what it is given
	}
	if kind == interlock.ImpactWrite {
		r.s.executes(r.kind, name+"("+visible(target.text())+", '"+mode+"')")
	}
	r.onPath(name, kind, target, traits)
}

// method handles methods of paths: Path("x").unlink(), p.write_text(…).
func (r *codeRun) method(callee []codeToken, last string, arguments [][]codeToken) bool {
	var kind interlock.ImpactKind
	switch last {
	case "unlink", "rmdir":
		kind = interlock.ImpactDelete
	case "write_text", "write_bytes", "touch", "mkdir", "symlink_to":
		kind = interlock.ImpactWrite
	case "read_text", "read_bytes", "iterdir", "rglob":
		kind = interlock.ImpactRead
	case "chmod":
		kind = interlock.ImpactPrivilege
	case "rename", "replace":
		kind = interlock.ImpactWrite
	default:
		return false
	}
	target := r.receiver(callee)
	if target.is != "pathlib.Path" {
		return false
	}
	if last == "rename" || last == "replace" {
		target = r.argument(arguments, 0)
	}
	r.s.executes(r.kind, "pathlib.Path."+last+"("+visible(target.text())+")")
	r.onPath("pathlib.Path."+last, kind, target, nil)
	return true
}

// receiver evaluates what a method is called on.
func (r *codeRun) receiver(callee []codeToken) codeValue {
	if len(callee) >= 3 {
		if callee[len(callee)-2].is(".") {
			return r.value(callee[:len(callee)-2], 0)
		}
	}
	if len(callee) == 1 && callee[0].kind == codeName {
		return r.vars[callee[0].text]
	}
	return codeValue{}
}

// shell reads a command given as text or as a list. A command that is computed in part is read with the gap in it.
func (r *codeRun) shell(name string, target codeValue, arguments [][]codeToken) {
	if strings.HasPrefix(name, "child_process.") && len(arguments) > 1 && (strings.Contains(name, "File") || strings.Contains(name, "spawn")) {
		if list := r.value(arguments[1], 0).list; list != nil {
			target.list = append([]string{target.text()}, list...)
		}
	}
	if name == "asyncio.create_subprocess_exec" || strings.HasPrefix(name, "os.execl") || strings.HasPrefix(name, "os.spawnl") {
		target.list = nil
		for _, a := range arguments {
			target.list = append(target.list, r.value(a, 0).text())
		}
	}
	r.noteShell(target)
	if len(target.list) > 0 {
		words := make([]any, len(target.list))
		for i, w := range target.list {
			words[i] = strings.ReplaceAll(w, "\x00", "*")
		}
		r.s.nested(interlock.KindShell, commandLine(words))
		return
	}
	known := false
	for _, text := range target.texts {
		if strings.Trim(text, "\x00 ") != "" {
			known = true
			r.s.nested(interlock.KindShell, gapped(text))
		}
	}
	if known && !target.dynamic {
		return
	}
	r.dynamic = true
	if !known {
		i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: name, Reversibility: interlock.Window,
			Confidence: interlock.Inferred, Traits: []string{TraitDynamic}}
		if target.decoded {
			i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
		}
		r.s.add(i)
	}
}

// gapped puts a variable where a command is computed.
func gapped(text string) string { return strings.ReplaceAll(text, "\x00", "${computed}") }

// noteShell notes a shell that is started on its own, as one handed to a socket would be.
func (r *codeRun) noteShell(target codeValue) {
	words := append([]string(nil), target.list...)
	words = append(words, target.texts...)
	for _, w := range words {
		switch strings.TrimPrefix(strings.TrimSpace(w), "/bin/") {
		case "sh", "bash", "zsh", "/usr/bin/bash", "cmd.exe", "cmd", "powershell", "sh -i", "bash -i":
			if r.imports["socket"] || r.imports["net"] {
				r.dynamic, r.received = true, true
			}
		}
	}
}

// code reads code given as text.
func (r *codeRun) code(name string, target codeValue, arguments [][]codeToken, maybe bool) {
	if name == "Function" && len(arguments) > 0 {
		target = r.value(arguments[len(arguments)-1], 0)
	}
	for _, text := range target.texts {
		if text != "" && !strings.HasPrefix(text, "\x00") && (!maybe || strings.IndexByte(text, '(') >= 0) {
			before := len(r.s.impacts)
			r.s.nested(r.kind, strings.ReplaceAll(text, "\x00", "_"))
			if name == "eval" && strings.Contains(text, "__import__") { // an expression that has to import for itself was smuggled in
				r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: name, Reversibility: interlock.Window,
					Confidence: interlock.Inferred, Traits: []string{TraitInjection}})
			}
			if target.decoded {
				for i := before; i < len(r.s.impacts); i++ {
					found := &r.s.impacts[i]
					found.Traits = append(found.Traits, TraitDecoded, TraitObfuscated)
				}
			}
		}
	}
	if maybe || len(target.texts) > 0 && !target.dynamic {
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: name, Reversibility: interlock.Window,
		Confidence: interlock.Inferred, Traits: []string{TraitDynamic}}
	if r.hidden(arguments) {
		i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
		i.Reach = interlock.ReachSystem
	}
	if r.fetched(arguments) {
		i.Traits = append(i.Traits, TraitDownloadRun)
		i.Reach = interlock.ReachSystem
	}
	if target.decoded {
		i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
	}
	r.dynamic = true
	r.s.add(i)
}

// request records an HTTP request of a library call.
func (r *codeRun) request(name string, e callEffect, target codeValue, arguments [][]codeToken) {
	r.network = true
	method := e.method
	if method == "*" {
		method = strings.ToUpper(r.argument(arguments, 0, "method").text())
	}
	if hasKeyword(arguments, "data", "json", "files", "body") && (method == "GET" || method == "") {
		method = "POST"
	}
	if options := arguments; method == "GET" && len(options) > 0 {
		if r.kind == interlock.KindPython || options[0][0].kind == codeString {
			options = options[1:]
		}
		for _, a := range options {
			for i := 0; i+2 < len(a); i++ {
				if a[i].text == "method" && a[i+2].kind == codeString {
					method = strings.ToUpper(a[i+2].text)
				}
			}
		}
	}
	if method == "" {
		method = "GET"
	}
	urls := pathsOf(target)
	if len(urls) == 0 {
		kind, reversibility := interlock.ImpactRead, interlock.Readonly
		if method != "GET" && method != "HEAD" {
			kind, reversibility = interlock.ImpactNetwork, interlock.Window
		}
		r.s.add(interlock.Impact{Kind: kind, Reach: interlock.ReachExternal, Via: name, Reversibility: reversibility,
			Confidence: interlock.Inferred, Traits: []string{TraitDynamic}})
		if method != "GET" {
			r.sent = append(r.sent, interlock.Impact{Reach: interlock.ReachExternal, Via: name})
		}
		return
	}
	for _, url := range urls {
		if !strings.Contains(url, "://") {
			continue
		}
		body := ""
		if method == "POST" || method == "PUT" || method == "PATCH" {
			body = "…"
		}
		r.s.request(method, url, nil, body)
		reach, _ := r.s.host(url)
		if method != "GET" || strings.Contains(url, "*") {
			r.sent = append(r.sent, interlock.Impact{Reach: reach, Target: cleanURL(url), Via: name})
		}
	}
}

// host records a connection to a host.
func (r *codeRun) host(name string, e callEffect, target codeValue) {
	if strings.HasSuffix(name, ".connect") && (strings.Contains(name, "sqlite3") || strings.Contains(name, "psycopg") || strings.Contains(name, "mysql") || strings.Contains(name, "pymysql")) {
		return
	}
	r.network = true
	i := interlock.Impact{Kind: e.kind, Reach: e.reach, Via: name, Reversibility: interlock.Window, Traits: append([]string(nil), e.traits...)}
	if host := target.text(); host != "" && !strings.HasPrefix(host, "\x00") {
		i.Target = hostOf(host)
		reach, traits := r.s.host(host)
		i.Reach, i.Traits = reach, append(i.Traits, traits...)
	} else {
		i.Confidence = interlock.Inferred
		i.Traits = append(i.Traits, TraitDynamic)
	}
	if i.Reach == interlock.ReachWorkspace {
		i.Reversibility = interlock.Reversible
	}
	r.s.add(i)
	r.sent = append(r.sent, interlock.Impact{Reach: i.Reach, Target: i.Target, Via: name})
}
