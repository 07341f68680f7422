package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxBroken = 1 << 12 // bytes of text with a syntax error that is read loosely
	maxLoose  = 1 << 9  // words of it
	maxSwept  = 1 << 12 // words of the commands found in it, one inside the other
	// Broken texts of one action that are read, counting those inside one another each time they are come upon.
	maxReadings = 6
)

// broken judges text that no dialect of the shell parses. A shell runs what comes before the error, one command after
// the other, and some go on after it; another shell may have no objection at all. So whatever in the text any shell could
// take for a command is judged as one, in every reading of its quotes. If all of it is known and harmless, the text is
// understood well enough; otherwise it is unknown, and what is plain in it is named beside that.
func (r *shellRun) broken(text string) {
	s := r.S
	if s.Loose >= maxReadings || !s.Spend(len(text)/4) {
		s.Unknown("sh", fact.TraitUnparsable)
		return
	}
	s.Loose++
	texts := len(s.Texts)
	calm := len(text) <= maxBroken && !continues(text)
	var found []interlock.Impact
	found = append(found, s.Capture(func() { r.beforeError(text) })...)
	if calm {
		reading := &looseRun{shellRun: r.fresh(), calm: true}
		dir := s.Dir
		found = append(found, s.Capture(func() { reading.read(text) })...)
		s.Dir = dir
		calm = reading.calm
		for i := range found {
			calm = calm && harmless(&found[i]) && !(reading.away && anywhere(&found[i]))
		}
	}
	if calm && s.Spend(len(text)/16) {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "sh", Reach: interlock.ReachWorkspace, Via: "sh",
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitUnparsable}})
	} else {
		s.Unknown("sh", fact.TraitUnparsable)
		if !calm && texts < len(s.Texts) && len(found) == 0 {
			s.Texts = s.Texts[:texts]
		}
	}
	for _, i := range found {
		if i.Confidence != interlock.Unknown {
			i.Confidence = interlock.Inferred
		}
		s.Add(i)
	}
}

// continues reports whether text begins as the rest of something: made to follow a command or a quoted argument that
// somebody else has begun, as what is put into a web form to break out of it.
func continues(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text == "" || strings.IndexByte(";|&)}'\"<>", text[0]) >= 0 || strings.HasPrefix(text, "()")
}

// fresh is a run that knows what this one knows and whose discoveries stay its own.
func (r *shellRun) fresh() *shellRun {
	q := &shellRun{Walk: flow.Walk{S: r.S}, vars: make(map[string]flow.Value, len(r.vars)), funcs: map[string]*function{},
		files: map[string]flow.Flow{}, params: r.params, closed: r.closed}
	for name, v := range r.vars {
		q.vars[name] = v
	}
	for name, f := range r.files {
		q.files[name] = f
	}
	return q
}

// beforeError walks the commands a shell runs before it finds the error, all of them if it is zsh and finds none, and
// every later line that parses by itself.
func (r *shellRun) beforeError(text string) {
	if !nesting(text) {
		r.S.Unknown("sh", fact.TraitNested)
		return
	}
	r.S.SpendBytes(2 * len(text))
	parser := parserFor(r.S, syntax.LangZsh)
	outer := r.Src
	r.Src = text
	if file, err := parser.Parse(strings.NewReader(text), ""); err == nil {
		r.stmts(file.Stmts, flow.Flow{})
	}
	parser = parserFor(r.S, syntax.LangBash)
	_ = parser.Stmts(strings.NewReader(text), func(st *syntax.Stmt) bool {
		r.stmt(st, flow.Flow{})
		return r.S.Spend(1)
	})
	release(r.S, syntax.LangBash, parser)
	r.Src = outer
	if !strings.ContainsRune(text, '\n') || len(text) > lex.MaxText {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		if !r.S.Spend(10) {
			return
		}
		if file := r.parse(line); file != nil {
			r.Src = line
			r.stmts(file.Stmts, flow.Flow{})
		}
	}
	r.Src = outer
}

// A looseRun judges the clauses of broken text. It stays calm while every command in it is one that is known.
type looseRun struct {
	*shellRun
	calm  bool
	words int // of commands judged
	// It is one line in which a quote or a statement is never closed, whatever a backslash means: no shell begins to run it.
	unrunnable bool
	away       bool // some path in the text lies outside the workspace
}

// read judges text with its quotes honoured from the start and from each line, and with its quotes taken away.
func (l *looseRun) read(text string) {
	text = withoutFences(text)
	list, plain, open := clauses(text, true)
	l.calm = l.calm && plain
	l.unrunnable = !strings.ContainsAny(strings.TrimSpace(text), "\n\\") &&
		(open || l.unfinished(text) || slices.ContainsFunc(list, sentence))
	l.judge(list, true)
	for rest := text; l.calm; {
		_, after, more := strings.Cut(rest, "\n")
		if !more {
			break
		}
		rest = after
		list, plain, _ = clauses(rest, true)
		l.calm = l.calm && plain && l.S.Spend(len(rest))
		l.judge(list, true)
	}
	list, _, _ = clauses(text, false)
	l.judge(list, false)
	var whole clause // what looks like an operator may stand in an argument
	for _, one := range list {
		whole = append(whole, one...)
	}
	if l.calm {
		l.commands(whole, -1)
	}
}

// unfinished reports whether one line is the beginning of a statement whose rest every dialect waits for: an if
// without its fi, a loop without its done. What looks like a call of another language is none.
func (l *looseRun) unfinished(line string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	if keywords[first] != passes && keywords[first] != opens || strings.Contains(line, "()") || !l.S.Spend(len(line)/16) {
		return false
	}
	for _, dialect := range []syntax.LangVariant{syntax.LangBash, syntax.LangMirBSDKorn, syntax.LangPOSIX, syntax.LangZsh} {
		l.S.SpendBytes(len(line))
		parser := parserFor(l.S, dialect)
		_, err := parser.Parse(strings.NewReader(line), "")
		release(l.S, dialect, parser)
		if err == nil || !syntax.IsIncomplete(err) {
			return false
		}
	}
	return true
}

// withoutFences puts line ends where documentation fences code with three backticks and may name its language.
func withoutFences(text string) string {
	before, rest, found := strings.Cut(text, "```")
	for found {
		for _, language := range [...]string{"bash", "shell", "sh", "zsh", "console"} {
			if after, ok := strings.CutPrefix(rest, language); ok && (after == "" || lex.IsBlank(after[0])) {
				rest = after
				break
			}
		}
		before += "\n"
		var more string
		more, rest, found = strings.Cut(rest, "```")
		before += more
	}
	return before
}

// judge walks clauses. Where quotes are honoured, each must begin with something known.
func (l *looseRun) judge(list []clause, quotes bool) {
	words := 0
	for _, one := range list {
		words += len(one)
	}
	if words > maxLoose {
		l.calm = false
		return
	}
	for _, one := range list {
		for _, w := range one {
			l.place(w)
		}
	}
	for _, one := range list {
		start := 0
		if quotes {
			start = l.begins(one)
		}
		l.commands(one, start)
	}
}

// place looks at a word as a path, whatever it is: broken text that names a place worth guarding is never calm.
func (l *looseRun) place(w looseWord) {
	if w.writes {
		l.redirected(w)
	}
	if w.Lead || !l.S.Spend(4) {
		return
	}
	where := w.Field
	// a command that reads what the pattern matches is judged as such
	if strings.ContainsAny(w.Text, "*?[") && !w.writes && !w.reads {
		where.Text = where.Text[:strings.LastIndexByte(where.Text[:strings.IndexAny(where.Text, "*?[")], '/')+1]
	}
	p := l.PlaceOf(where, true)
	if p.Reach != interlock.ReachWorkspace && strings.ContainsAny(w.Text, "/~") {
		l.away = true
	}
	for _, trait := range p.Traits {
		l.away = l.away || !slices.Contains(quietTraits, trait)
		l.calm = l.calm && trait != fact.TraitSecret && trait != fact.TraitEnvironment && trait != fact.TraitDevice
	}
	if w.reads && !place.QuietDevice(p.Path) {
		l.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "<"})
	}
}

func (l *looseRun) redirected(w looseWord) {
	if strings.HasPrefix(w.Text, "&") && strings.Trim(w.Text, "&0123456789-") == "" {
		return
	}
	trait := fact.TraitOverwrite
	if w.append {
		trait = fact.TraitAppend
	}
	l.pathTarget(interlock.Impact{Kind: interlock.ImpactWrite, Via: ">", Traits: []string{trait}}, w.Field)
}

// begins steps over what may stand before a command and returns where the command begins, which must be known to be.
func (l *looseRun) begins(one clause) int {
	for i, w := range one {
		switch {
		case w.writes || w.reads || w.Text == "":
		case w.bare && keywords[w.Text] == opens:
			l.items(one[i:]) // words follow, and no command
			return len(one)
		case w.bare && keywords[w.Text] != 0:
		case isAssignment(w.Text) && !w.Lead:
			name, _, _ := strings.Cut(w.Text, "=")
			v := cut(w.Field, len(name)+1)
			v.Lead = v.Dynamic
			l.variable(name, v)
			l.vars[name] = flow.VarValue(v)
			l.calm = l.calm && (v.Dynamic || !strings.HasPrefix(v.Text, "-"))
		default:
			name, isPath := lex.BaseName(w.Text)
			l.calm = l.calm && !w.Dynamic &&
				(l.unrunnable || (!w.Glob || name == "[") && (!isPath || lex.SystemProgram(w.Text)) && l.known(name))
			return i
		}
	}
	return len(one)
}

// sentence reports whether a clause is talk, as in a note behind a command: at least four words of letters, the first one
// no command. Shells take it for the name of a program that nobody has.
func sentence(one clause) bool {
	const least = 4
	if len(one) < least {
		return false
	}
	for i, w := range one[:least] {
		word := strings.TrimRight(w.Text, ",.:;!?")
		if w.Dynamic || w.writes || w.reads || word == "" {
			return false
		}
		for j := 0; j < len(word); j++ {
			if c := word[j] | 0x20; c < 'a' || c > 'z' {
				return false
			}
		}
		if first := word[0]; i == 0 && (first < 'A' || first > 'Z' || strings.ToUpper(word) == word && len(word) > 1) {
			return false // a sentence begins with one capital, a statement of a database with many
		}
	}
	return true
}

// items looks at the words a loop goes through; any of them may become a flag.
func (l *looseRun) items(one clause) {
	for _, w := range one {
		if w.Text == "do" || w.Text == "[[" {
			return
		}
		l.calm = l.calm && !strings.HasPrefix(w.Text, "-")
	}
}

// known reports whether a name is a command whose effects are known and that changes nothing in how later text reads.
func (l *looseRun) known(name string) bool {
	switch name {
	case "", "eval", "exec", "source", ".", "trap", "alias", "set", "mapfile", "readarray", "hash", "bind", "complete", "enable":
		return false
	}
	if builtinFor(name) != nil {
		return true
	}
	return lex.IsNameStart(name[0]) && (l.S.Know.Lookup(name) != nil || l.S.Know.Lookup(strings.ToLower(name)) != nil ||
		l.cmdlet(name) != nil)
}

// commands judges every known command of a clause from its name to the clause's end.
func (l *looseRun) commands(one clause, start int) {
	for i := range one {
		w := one[i]
		name, isPath := lex.BaseName(w.Text)
		if w.Dynamic || isPath && !lex.SystemProgram(w.Text) || len(name) < 2 && i != start ||
			strings.ContainsAny(name, " \t\n") || w.writes || w.reads {
			continue
		}
		if !l.known(name) {
			l.calm = l.calm && builtinFor(name) == nil
			continue
		}
		if l.everyday(name, one[i+1:]) {
			continue
		}
		args := make([]flow.Field, 0, len(one)-i)
		for _, a := range one[i:] {
			if !a.writes && !a.reads {
				args = append(args, a.Field)
			}
		}
		if l.words += len(args); l.words > maxSwept || !l.S.Spend(len(args)) {
			l.calm = false
			return
		}
		if i == start { // in the place of a command
			l.command(args, flow.Streams{In: flow.Flow{Piped: true}})
			continue
		}
		if !l.calm {
			continue // it stays unknown
		}
		dir := l.S.Dir
		for _, one := range l.S.Capture(func() { l.command(args, flow.Streams{In: flow.Flow{Piped: true}}) }) {
			looks := one.Kind == interlock.ImpactRead || one.Kind == interlock.ImpactCredential
			l.calm = l.calm && (harmless(&one) || start < 0 && looks) // what words lie about was judged as a place
		}
		l.S.Dir = dir
	}
}

// everyday reports whether a name that is also an everyday word comes before words that are no command it could run.
func (l *looseRun) everyday(name string, rest []looseWord) bool {
	spec := l.S.Know.Lookup(name)
	if spec == nil || !spec.Verb || spec.Wraps == "" {
		return false
	}
	if len(rest) == 0 {
		return false
	}
	next, isPath := lex.BaseName(rest[0].Text)
	return next != "" && !rest[0].Dynamic && !isPath && lex.IsNameStart(next[0]) && builtinFor(next) == nil &&
		l.S.Know.Lookup(strings.ToLower(next)) == nil && l.cmdlet(next) == nil
}

// Words at the beginning of a command that are not it, in any shell.
const (
	passes = 1 + iota // a command may follow
	opens             // a list of words follows
)

var keywords = map[string]int{"if": passes, "then": passes, "else": passes, "elif": passes, "fi": passes, "while": passes,
	"until": passes, "do": passes, "done": passes, "esac": passes, "end": passes, "begin": passes, "!": passes,
	"time": passes, "coproc": passes, "function": passes, "and": passes, "or": passes, "not": passes, "{": passes, "}": passes,
	"in": opens, "for": opens, "foreach": opens, "select": opens, "case": opens, "[[": opens}

// Traits that harmless commands have.
var quietTraits = []string{fact.TraitOverwrite, fact.TraitAppend, fact.TraitRecursive, fact.TraitForce, fact.TraitGlob,
	fact.TraitDynamic, fact.TraitContent, fact.TraitMoved,
	fact.TraitUnparsable, fact.TraitWrapper, fact.TraitDryRun}

// anywhere reports whether an impact writes to a path whose beginning is not known: it may be any that the text names.
func anywhere(i *interlock.Impact) bool {
	return i.Kind == interlock.ImpactWrite && i.Has(fact.TraitDynamic) &&
		(i.Target == "" || strings.IndexByte("$`{", i.Target[0]) >= 0)
}

// harmless reports whether an impact is one that broken text may have: it looks, it writes in the workspace or the home
// directory, or it runs a program of the project that is known.
func harmless(i *interlock.Impact) bool {
	if i.Confidence == interlock.Unknown {
		return false
	}
	if i.Kind == interlock.ImpactRead {
		return !i.Has(fact.TraitSecret) && !i.Has(fact.TraitEnvironment) && !i.Has(fact.TraitDevice) && !i.Has(fact.TraitElevated)
	}
	for _, trait := range i.Traits {
		if !slices.Contains(quietTraits, trait) {
			return false
		}
	}
	switch i.Kind {
	case interlock.ImpactWrite:
		return (i.Reach == interlock.ReachWorkspace || i.Reach == interlock.ReachHome) && i.Reversibility == interlock.Reversible
	case interlock.ImpactExecute:
		return i.Reach == interlock.ReachWorkspace && i.Reversibility == interlock.Reversible && !i.Has(fact.TraitDynamic)
	}
	return false
}
