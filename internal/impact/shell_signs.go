package impact

import (
	"path"
	"slices"
	"strings"

	"interlock"

	"mvdan.cc/sh/v3/syntax"
)

// What a command line gives away beside the impacts its program is described with.

// partly judges a path that begins with something not known: by the variables every system sets, where it climbs out of
// what they hold, and otherwise by what its end says wherever it stands.
func (r *shellRun) partly(f field) place {
	if strings.Contains(f.text, "/..") {
		if known := r.s.expandLead(f.text); known != f.text && !strings.ContainsAny(known, "$`") {
			p := r.s.place(known)
			p.Confidence = interlock.Inferred
			if climbs(known) {
				p.Traits = append(p.Traits, TraitClimbing)
			}
			return p
		}
	}
	p := place{Path: f.text, Reach: interlock.ReachWorkspace, Confidence: interlock.Inferred, Traits: []string{TraitDynamic}}
	if f.unset && emptyMeansRoot(f.text) {
		p.Reach, p.Traits = interlock.ReachSystem, append(p.Traits, TraitRoot)
	}
	if strings.EqualFold(f.text, "$profile") { // what PowerShell reads when it starts
		p.Traits = append(p.Traits, TraitStartup)
	}
	if i := strings.LastIndexAny(f.text, "$`)}"); i >= 0 {
		if _, end, ok := strings.Cut(f.text[i:], "/"); ok && end != "" && !strings.HasPrefix(end, "..") {
			for _, trait := range r.s.named(end) {
				if trait == TraitSecret || trait == TraitStartup {
					p.Traits = append(p.Traits, trait)
				}
			}
		}
	}
	return p
}

func firstWord(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	return text
}

// named returns the traits a path's last components have wherever it stands.
func (w *world) named(end string) []string {
	p := place{Path: "x/" + end}
	w.know.pathTable().match(&p, "", false)
	return p.Traits
}

// hunts records a search outside the workspace for files with the names that secrets have.
func (r *shellRun) hunts(u *use) {
	negated := false
	for _, g := range u.flags {
		if g.option.naming && !negated && strings.Trim(g.value.text, "*?.") != "" && (slices.Contains(r.s.named(g.value.text), TraitSecret) || r.inStore(u, g.value.text)) {
			for _, t := range u.operands {
				if !r.s.spend(100) {
					return
				}
				p := r.placeOf(t, true)
				if p.Reach == interlock.ReachWorkspace {
					continue
				}
				r.s.add(interlock.Impact{Kind: interlock.ImpactRead, Target: strings.TrimSuffix(p.Path, "/") + "/" + g.value.text, Reach: p.Reach,
					Reversibility: interlock.Readonly, Confidence: interlock.Inferred, Via: u.via, Traits: []string{TraitGlob, TraitSecret}})
			}
		}
		negated = g.name == "!" || g.name == "-not"
	}
}

// seeks records a search of everything that somebody, or the system, has for words beside which secrets stand.
func (r *shellRun) seeks(u *use) {
	if !u.spec.seeks || len(u.operands) < 2 {
		return
	}
	sought := strings.ToLower(u.operands[0].text)
	if !slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(sought, word) }) {
		return
	}
	for _, t := range u.operands[1:] {
		if !r.s.spend(100) {
			return
		}
		p := r.placeOf(t, true)
		all := slices.Contains(p.Traits, TraitRoot) || t.glob && slices.Contains(r.s.place(path.Dir(p.Path)).Traits, TraitRoot) // what find found below it
		if p.Reach != interlock.ReachWorkspace && all {
			r.s.add(interlock.Impact{Kind: interlock.ImpactRead, Target: p.Path, Reach: p.Reach, Reversibility: interlock.Readonly,
				Confidence: interlock.Inferred, Via: u.via, Traits: []string{TraitGlob, TraitSecret}})
		}
	}
}

// secretWords stand beside secrets in files.
var secretWords = []string{"password", "passwd", "secret", "api_key", "apikey", "api-key", "access_key", "private key", "private_key", "credential", "auth_token"}

// inStore reports whether a name is looked for in a place where it would be a secret.
func (r *shellRun) inStore(u *use, name string) bool {
	for _, t := range u.operands {
		if r.s.spend(10) && !t.dynamic && slices.Contains(r.s.place(strings.TrimSuffix(t.text, "/")+"/"+name).Traits, TraitSecret) {
			return true
		}
	}
	return false
}

// disguises records that a shell of the system is copied to another name, under which nobody recognises it.
func (r *shellRun) disguises(u *use) {
	if !u.spec.copies || len(u.operands) != 2 || !systemProgram(u.operands[0].text) {
		return
	}
	name, _ := baseName(u.operands[0].text)
	copied, _ := baseName(u.operands[1].text)
	if isDrive(u.operands[0].text) && windowsSystemProgram(u.operands[0].text) {
		from, _ := programName(strings.ToLower(u.operands[0].text))
		to, _ := programName(strings.ToLower(u.operands[1].text))
		if !strings.HasSuffix(strings.ToLower(u.operands[0].text), ".exe") || from == to || from+".exe" == to || to == "" || !strings.Contains(to+u.operands[1].text, ".") {
			return
		}
	} else if spec := r.s.know.lookup(name); spec == nil || spec.stdin != "shell" || copied == name || strings.HasSuffix(u.operands[1].text, "/") {
		return
	}
	p := r.placeOf(u.operands[1], true)
	r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: p.Reach, Reversibility: interlock.Reversible,
		Confidence: interlock.Inferred, Via: u.via, Traits: []string{TraitHooked, TraitObfuscated}})
}

// posts reports whether a request is one that changes something: by its method or because it has a body.
func (u *use) posts() bool {
	for n := u.spec; n != nil; n = n.parent {
		if n.posting == "always" || n.posting == "items" && len(u.items()) > 0 && u.spec == n {
			return true
		}
	}
	for _, g := range u.flags {
		if g.option.body {
			return true
		}
		if g.option.method && !strings.EqualFold(g.value.text, "GET") && !strings.EqualFold(g.value.text, "HEAD") {
			return true
		}
		for _, e := range g.option.impacts {
			if e.what == "data" && e.words.empty() && !strings.Contains(strings.ToLower(g.name), "h") {
				return true
			}
		}
	}
	return false
}

// mutates reports whether a request's body is a GraphQL mutation that deletes something.
func (u *use) mutates() bool {
	for _, g := range u.flags {
		if text := strings.ToLower(g.value.text); strings.Contains(text, "mutation") {
			for _, word := range [...]string{"delete", "destroy", "remove", "purge"} {
				if strings.Contains(text, word) {
					return true
				}
			}
		}
	}
	return false
}

// destructiveURL reports whether the path of a URL says that what is sent to it destroys something.
func destructiveURL(url string) bool {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	_, path, _ := strings.Cut(url, "/")
	for _, word := range strings.FieldsFunc(strings.ToLower(path), func(c rune) bool { return strings.ContainsRune("/_-.:", c) }) {
		switch strings.TrimPrefix(word, "do") {
		case "delete", "destroy", "purge", "remove", "drop", "truncate", "wipe", "flush", "terminate", "uninstall", "deleteall":
			return true
		}
	}
	return false
}

// administers reports whether the path of a URL is one by which services that follow the common interface of search engines
// are closed, shut down or set up anew, rather than asked or fed.
func administers(url string) bool {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(strings.ToLower(path), "?")
	path = "/" + strings.TrimSuffix(path, "/")
	for _, end := range [...]string{"/_close", "/_shutdown", "/_cluster/settings", "/_cluster/reroute", "/_restore", "/_rollover", "/_shrink", "/_freeze", "/_unfollow", "/_plugins/_security/api/internalusers"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// spelledGlob reports whether a pattern is a name in disguise: one letter in brackets, or single wildcards all over an
// absolute path.
func spelledGlob(text string) bool {
	for i := strings.IndexByte(text, '['); i >= 0 && i+2 < len(text); i++ {
		if text[i] == '[' && text[i+2] == ']' && isNameStart(text[i+1]) {
			return true
		}
	}
	return strings.HasPrefix(text, "/") && strings.Count(text, "?") >= 4 && strings.IndexByte(text, '*') < 0
}

// percentEncoded reports whether a command's name holds what separates commands or words, written as URLs write it.
func percentEncoded(name string) bool {
	for i := strings.IndexByte(name, '%'); i >= 0 && i+2 < len(name); i++ {
		if name[i] == '%' {
			switch strings.ToLower(name[i+1 : i+3]) {
			case "0a", "0d", "20", "3b", "26", "7c", "09", "2f", "60", "24":
				return true
			}
		}
	}
	return false
}

// windowsProgram reports whether a word is a Windows path of a program.
func windowsProgram(word string) bool {
	n := len(word) - len(".exe")
	return n > 0 && strings.EqualFold(word[n:], ".exe") && strings.IndexByte(word, '\\') >= 0
}

// cmdlet returns what is known of a PowerShell cmdlet by its verb: Verb-Noun, both with a capital.
func (r *shellRun) cmdlet(name string) *command {
	verb, noun, ok := strings.Cut(name, "-")
	if !ok || len(verb) < 2 || noun == "" || verb[0] < 'A' || verb[0] > 'Z' || noun[0] < 'A' || noun[0] > 'Z' {
		return nil
	}
	return r.s.know.lookup(strings.ToLower(verb) + "-")
}

// mentionsShell reports whether code that nothing here reads names a shell by its path or calls one by name, and records
// that it is handed out.
func (r *shellRun) mentionsShell(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		at := strings.Index(text[i:], "sh")
		if at < 0 {
			return false
		}
		i += at
		end := i + len("sh")
		if end < len(text) && (isNameStart(text[end]) || strings.IndexByte("0123456789./-", text[end]) >= 0) {
			continue
		}
		start := i
		for start > 0 && isNameStart(text[start-1]) {
			start--
		}
		spec := r.s.know.lookup(text[start:end])
		if spec == nil || spec.stdin != "shell" {
			continue
		}
		path := start > 4 && strings.HasSuffix(text[:start], "bin/")
		called := strings.HasSuffix(text[:start], "(\"") || strings.HasSuffix(text[:start], "('")
		if path || called || start > 0 && (text[start-1] == '!' || strings.HasSuffix(text[:start], "exec ") || strings.HasSuffix(text[:start], "spawn ")) {
			r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: text[start:end], Reach: interlock.ReachWorkspace, Via: text[start:end],
				Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitHooked, TraitInline}})
			return true
		}
	}
	return false
}

// fills reports whether a loop's body does nothing but print, and adds to a file on each round: as fast as it can, for ever.
func fills(body []*syntax.Stmt) bool {
	grows, only := false, true
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.Redirect:
				grows = grows || (x.Op == syntax.AppOut || x.Op == syntax.AppAll) && x.Word != nil && !strings.HasPrefix(x.Word.Lit(), "/dev/")
			case *syntax.CallExpr:
				if len(x.Args) > 0 {
					name := x.Args[0].Lit()
					only = only && (name == "echo" || name == "printf" || name == ":" || name == "true")
				}
			}
			return only
		})
	}
	return grows && only
}
