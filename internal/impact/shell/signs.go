package shell

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/program"
	"interlock/internal/impact/windows"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// What a command line gives away beside the impacts its program is described with.

// partly judges a path that begins with something not known: by the variables every system sets, where it climbs out of
// what they hold, and otherwise by what its end says wherever it is.
func (r *shellRun) partly(f flow.Field) know.Place {
	if strings.Contains(f.Text, "/..") {
		if known := r.S.ExpandLead(f.Text); known != f.Text && !strings.ContainsAny(known, "$`") {
			p := r.S.Place(known)
			p.Confidence = interlock.Inferred
			if program.Climbs(known) {
				p.Traits = append(p.Traits, fact.TraitClimbing)
			}
			return p
		}
	}
	p := know.Place{Path: f.Text, Reach: interlock.ReachWorkspace, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitDynamic}}
	if f.Unset && emptyMeansRoot(f.Text) {
		p.Reach, p.Traits = interlock.ReachSystem, append(p.Traits, fact.TraitRoot)
	}
	if strings.EqualFold(f.Text, "$profile") { // what PowerShell reads when it starts
		p.Traits = append(p.Traits, fact.TraitStartup)
	}
	if i := strings.LastIndexAny(f.Text, "$`)}"); i >= 0 {
		if _, end, ok := strings.Cut(f.Text[i:], "/"); ok && end != "" && !strings.HasPrefix(end, "..") {
			for _, trait := range r.S.Named(end) {
				if trait == fact.TraitSecret || trait == fact.TraitStartup {
					p.Traits = append(p.Traits, trait)
				}
			}
		}
	}
	return p
}

// hunts records a search outside the workspace for files with the names that secrets have.
func (r *shellRun) hunts(u *flow.Use) {
	negated := false
	for _, g := range u.Flags {
		if g.Option.Naming && !negated && strings.Trim(g.Value.Text, "*?.") != "" &&
			(slices.Contains(r.S.Named(g.Value.Text), fact.TraitSecret) || r.inStore(u, g.Value.Text)) {
			for _, t := range u.Operands {
				if !r.S.Spend(100) {
					return
				}
				p := r.PlaceOf(t, true)
				if p.Reach == interlock.ReachWorkspace {
					continue
				}
				r.S.Add(interlock.Impact{Kind: interlock.ImpactRead,
					Target: strings.TrimSuffix(p.Path, "/") + "/" + g.Value.Text, Reach: p.Reach,
					Reversibility: interlock.Readonly, Confidence: interlock.Inferred, Via: u.Via,
					Traits: []string{fact.TraitGlob, fact.TraitSecret}})
			}
		}
		negated = g.Name == "!" || g.Name == "-not"
	}
}

// seeks records a search of everything that somebody, or the system, has for words beside which secrets stand.
func (r *shellRun) seeks(u *flow.Use) {
	if !u.Spec.Seeks || len(u.Operands) < 2 {
		return
	}
	sought := strings.ToLower(u.Operands[0].Text)
	if !slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(sought, word) }) {
		return
	}
	for _, t := range u.Operands[1:] {
		if !r.S.Spend(100) {
			return
		}
		p := r.PlaceOf(t, true)
		// what find found below it
		all := slices.Contains(p.Traits, fact.TraitRoot) || t.Glob &&
			slices.Contains(r.S.Place(path.Dir(p.Path)).Traits, fact.TraitRoot)
		if p.Reach != interlock.ReachWorkspace && all {
			r.S.Add(interlock.Impact{Kind: interlock.ImpactRead, Target: p.Path, Reach: p.Reach,
				Reversibility: interlock.Readonly,
				Confidence:    interlock.Inferred, Via: u.Via, Traits: []string{fact.TraitGlob, fact.TraitSecret}})
		}
	}
}

// secretWords stand beside secrets in files.
var secretWords = []string{"password", "passwd", "secret", "api_key", "apikey", "api-key", "access_key", "private key",
	"private_key", "credential", "auth_token"}

// inStore reports whether a name is looked for in a place where it would be a secret.
func (r *shellRun) inStore(u *flow.Use, name string) bool {
	for _, t := range u.Operands {
		if r.S.Spend(10) && !t.Dynamic &&
			slices.Contains(r.S.Place(strings.TrimSuffix(t.Text, "/")+"/"+name).Traits, fact.TraitSecret) {
			return true
		}
	}
	return false
}

// disguises records that a shell of the system is copied to another name, under which nobody recognises it.
func (r *shellRun) disguises(u *flow.Use) {
	if !u.Spec.Copies || len(u.Operands) != 2 || !lex.SystemProgram(u.Operands[0].Text) {
		return
	}
	name, _ := lex.BaseName(u.Operands[0].Text)
	copied, _ := lex.BaseName(u.Operands[1].Text)
	if lex.IsDrive(u.Operands[0].Text) && windows.SystemProgram(u.Operands[0].Text) {
		from, _ := windows.ProgramName(strings.ToLower(u.Operands[0].Text))
		to, _ := windows.ProgramName(strings.ToLower(u.Operands[1].Text))
		if !strings.HasSuffix(strings.ToLower(u.Operands[0].Text), ".exe") || from == to || from+".exe" == to || to == "" ||
			!strings.Contains(to+u.Operands[1].Text, ".") {
			return
		}
	} else if spec := r.S.Know.Lookup(name); spec == nil || spec.Stdin != "shell" || copied == name ||
		strings.HasSuffix(u.Operands[1].Text, "/") {
		return
	}
	p := r.PlaceOf(u.Operands[1], true)
	r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: p.Reach, Reversibility: interlock.Reversible,
		Confidence: interlock.Inferred, Via: u.Via, Traits: []string{fact.TraitHooked, fact.TraitObfuscated}})
}

// posts reports whether a request is one that changes something: by its method or because it has a body.
func posts(u *flow.Use) bool {
	for n := u.Spec; n != nil; n = n.Parent {
		if n.Posting == "always" || n.Posting == "items" && len(items(u)) > 0 && u.Spec == n {
			return true
		}
	}
	for _, g := range u.Flags {
		if g.Option.Body {
			return true
		}
		if g.Option.Method && !strings.EqualFold(g.Value.Text, "GET") && !strings.EqualFold(g.Value.Text, "HEAD") {
			return true
		}
		for _, e := range g.Option.Impacts {
			if e.What == "data" && e.Words.Empty() && !strings.Contains(strings.ToLower(g.Name), "h") {
				return true
			}
		}
	}
	return false
}

// mutates reports whether a request's body is a GraphQL mutation that deletes something.
func mutates(u *flow.Use) bool {
	for _, g := range u.Flags {
		if text := strings.ToLower(g.Value.Text); strings.Contains(text, "mutation") {
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
	for _, word := range strings.FieldsFunc(strings.ToLower(path),
		func(c rune) bool { return strings.ContainsRune("/_-.:", c) }) {
		switch strings.TrimPrefix(word, "do") {
		case "delete", "destroy", "purge", "remove", "drop", "truncate", "wipe", "flush", "terminate", "uninstall", "deleteall":
			return true
		}
	}
	return false
}

// spelledGlob reports whether a pattern is a name in disguise: one letter in brackets, or single wildcards all over an
// absolute path.
func spelledGlob(text string) bool {
	for i := strings.IndexByte(text, '['); i >= 0 && i+2 < len(text); i++ {
		if text[i] == '[' && text[i+2] == ']' && lex.IsNameStart(text[i+1]) {
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

// cmdlet returns what is known of a PowerShell cmdlet by its verb: Verb-Noun, both with a capital.
func (r *shellRun) cmdlet(name string) *know.Command {
	verb, noun, ok := strings.Cut(name, "-")
	if !ok || len(verb) < 2 || noun == "" || verb[0] < 'A' || verb[0] > 'Z' || noun[0] < 'A' || noun[0] > 'Z' {
		return nil
	}
	return r.S.Know.Lookup(strings.ToLower(verb) + "-")
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
		if end < len(text) && (lex.IsNameStart(text[end]) || strings.IndexByte("0123456789./-", text[end]) >= 0) {
			continue
		}
		start := i
		for start > 0 && lex.IsNameStart(text[start-1]) {
			start--
		}
		spec := r.S.Know.Lookup(text[start:end])
		if spec == nil || spec.Stdin != "shell" {
			continue
		}
		path := start > 4 && strings.HasSuffix(text[:start], "bin/")
		called := strings.HasSuffix(text[:start], "(\"") || strings.HasSuffix(text[:start], "('")
		if path || called || start > 0 &&
			(text[start-1] == '!' || strings.HasSuffix(text[:start], "exec ") || strings.HasSuffix(text[:start], "spawn ")) {
			r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: text[start:end], Reach: interlock.ReachWorkspace,
				Via:           text[start:end],
				Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
				Traits: []string{fact.TraitHooked, fact.TraitInline}})
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
				grows = grows || (x.Op == syntax.AppOut || x.Op == syntax.AppAll) && x.Word != nil &&
					!strings.HasPrefix(x.Word.Lit(), "/dev/")
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
