package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// Command lines inside what nobody reads: a text in a program of an unread language, an argument of a program that no table
// describes. Whether they run is not known, so only those count that would do what a person wants to be asked about.

// maxSuspects bounds the arguments of one command that are tried as the beginning of a command line.
const maxSuspects = 12

// suspects judges the arguments of a program that nothing describes as command lines: a text that reads as one, and words
// from some position on.
func (r *shellRun) suspects(args []flow.Field, io flow.Streams) {
	if r.S.Within > fact.MaxSteps || len(args) < 2 {
		return
	}
	if len(args) == 2 && r.isShell(args[1].Text) || len(args) == 3 && startsProgram(args[1].Text) && r.isShell(args[2].Text) {
		r.inlineImpact(interlock.ImpactExecute, args[len(args)-1].Text, args[0].Text, fact.TraitHooked)
		return
	}
	for i, a := range args[1:] {
		switch {
		case i >= maxSuspects || !r.S.Spend(1+len(a.Text)/16):
			return
		case a.Dynamic || saysSomething(args[i].Text):
		case strings.IndexByte(a.Text, ' ') > 0:
			r.harmIn(valueOrAll(a.Text))
		case i > 0 && i+2 < len(args) && r.namesProgram(a.Text): // the first argument and what follows are tried elsewhere
			rest := args[i+1:]
			r.onlyHarm(func() { r.subshell(func() flow.Flow { return r.command(rest, io) }) })
		}
	}
}

// isShell reports whether a word is the name of a shell.
func (r *shellRun) isShell(text string) bool {
	name, isPath := lex.BaseName(text)
	if spec := r.S.Know.Lookup(name); spec == nil || spec.Stdin != "shell" || spec.Wraps != "" {
		return false
	}
	return !isPath || lex.SystemProgram(text)
}

// startsProgram reports whether a flag is one that names what is started, in the way programs agree on.
func startsProgram(flag string) bool {
	switch strings.TrimLeft(flag, "-") {
	case "e", "x", "exec", "execute", "cmd", "command", "run", "program", "spawn", "shell-command":
		return strings.HasPrefix(flag, "-")
	}
	return false
}

// saysSomething reports whether the value of a flag is prose, which may well speak of commands.
func saysSomething(flag string) bool {
	if !strings.HasPrefix(flag, "-") {
		return false
	}
	switch strings.TrimLeft(flag, "-") {
	case "m", "message", "t", "title", "b", "body", "d", "description", "summary", "comment", "note", "notes",
		"prompt", "p", "text",
		"pattern", "grep", "query", "q", "search", "filter", "label", "reason", "subject", "data", "content", "format", "regexp":
		return true
	}
	return false
}

// valueOrAll is what follows --flag= or name=, or the whole argument.
func valueOrAll(text string) string {
	if at := strings.IndexByte(text, '='); at > 0 && strings.IndexAny(text[:at], " \t'\"/$(;|&") < 0 {
		return text[at+1:]
	}
	return text
}

// namesProgram reports whether a word is a program that a table describes and that is no everyday word.
func (r *shellRun) namesProgram(text string) bool {
	name, isPath := lex.BaseName(text)
	if text == "" || isPath && !lex.SystemProgram(text) {
		return false
	}
	spec := r.S.Know.Lookup(name)
	return spec != nil && !spec.Verb
}

// harmIn reads a text that may be a command line.
func (r *shellRun) harmIn(text string) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, " ")
	if rest == "" || len(text) > 1<<12 || !r.namesProgram(first) || !r.S.Spend(8+len(text)/8) {
		return
	}
	r.onlyHarm(func() { r.subshell(func() flow.Flow { return r.script(text, flow.Flow{}) }) })
}

// onlyHarm reads something that may not run at all, and keeps what it would do if that is serious. It counts as a guess.
func (r *shellRun) onlyHarm(read func()) {
	texts, wanted := len(r.S.Texts), len(r.S.Wanted)
	found := r.S.Capture(read)
	r.S.Texts, r.S.Wanted = r.S.Texts[:min(texts, len(r.S.Texts))], r.S.Wanted[:min(wanted, len(r.S.Wanted))]
	serious := false
	for i := range found {
		serious = serious || isSerious(&found[i])
	}
	if !serious {
		return
	}
	for _, i := range found {
		if i.Confidence == interlock.Parsed {
			i.Confidence = interlock.Inferred
		}
		i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitWrapper)
		r.S.Add(i)
	}
}

// isSerious reports whether an impact is one that even its possibility is asked about.
func isSerious(i *interlock.Impact) bool {
	if i.Has(fact.TraitDryRun) || i.Confidence == interlock.Unknown {
		return false
	}
	switch i.Kind {
	case interlock.ImpactDelete, interlock.ImpactWrite:
		return i.Has(fact.TraitRoot) || i.Has(fact.TraitStartup) || i.Has(fact.TraitSecret) || i.Has(fact.TraitDevice) ||
			i.Kind == interlock.ImpactDelete && (i.Reach == interlock.ReachHome || i.Reach == interlock.ReachSystem)
	case interlock.ImpactSpawn:
		return i.Has(fact.TraitBomb)
	case interlock.ImpactExecute, interlock.ImpactNetwork:
		return i.Has(fact.TraitDownloadRun) || i.Has(fact.TraitReverseShell) || i.Has(fact.TraitSecretSend)
	}
	return false
}
