package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
)

// sed finds the commands of a sed script that run a shell or write a file, and judges what it puts into files it edits in place.
func (r *shellRun) sed(text string) flow.Flow {
	var puts []string
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == ';' || c == '{' || c == '}' }) {
		line = strings.TrimSpace(line)
		rest := strings.TrimLeft(line, "0123456789,$!~+ ")
		switch {
		case len(rest) > 1 && strings.IndexByte("aic", rest[0]) >= 0:
			puts = append(puts, strings.TrimLeft(rest[1:], `\ `))
		case rest == "e":
			r.inlineImpact(interlock.ImpactExecute, "sed", "sed", fact.TraitInline, fact.TraitDynamic, fact.TraitHooked)
		case strings.HasPrefix(rest, "e ") && !strings.HasPrefix(line, "s"):
			r.subshell(func() flow.Flow { return r.script(rest[2:], flow.Flow{}) })
		case strings.HasPrefix(rest, "w ") || strings.HasPrefix(rest, "W "):
			r.S.TouchPlace(r.PlaceOf(flow.Literal(strings.TrimSpace(rest[2:])), true),
				interlock.Impact{Kind: interlock.ImpactWrite, Via: "sed"})
		case strings.HasPrefix(rest, "r "):
			r.S.TouchPlace(r.PlaceOf(flow.Literal(strings.TrimSpace(rest[2:])), true),
				interlock.Impact{Kind: interlock.ImpactRead, Via: "sed"})
		case len(rest) > 3 && rest[0] == 's' && strings.Count(rest, rest[1:2]) == 3:
			parts := strings.Split(rest, rest[1:2])
			puts = append(puts, parts[2])
			flags, file, writes := strings.Cut(parts[3], "w ")
			if strings.Contains(flags, "e") {
				if parts[2] != "" && !strings.Contains(parts[2], `\`) && parts[2] != "&" {
					r.subshell(func() flow.Flow { return r.script(parts[2], flow.Flow{}) })
				} else {
					r.inlineImpact(interlock.ImpactExecute, "sed", "sed", fact.TraitInline, fact.TraitDynamic, fact.TraitHooked)
				}
			}
			if writes {
				r.S.TouchPlace(r.PlaceOf(flow.Literal(strings.TrimSpace(file)), true),
					interlock.Impact{Kind: interlock.ImpactWrite, Via: "sed"})
			}
		}
	}
	r.edited(text, puts)
	return flow.Flow{}
}

// edited judges the lines that a sed script puts into the files it edits in place as what is written there by any other means.
func (r *shellRun) edited(script string, puts []string) {
	u := r.inlined
	if u == nil || len(puts) == 0 || !slices.ContainsFunc(u.Flags, func(g flow.Given) bool {
		return g.Name == "-i" || g.Name == "-I" || g.Name == "--in-place"
	}) {
		return
	}
	text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.Join(puts, "\n"))
	for _, file := range u.Operands {
		if !file.Dynamic && file.Text != script && r.S.Spend(8) {
			r.S.Readers.Written(r.S, u.Via, file.Text, text)
		}
	}
}

// applied judges the patch a command is given, as its argument or on its standard input. It alone says which files change,
// so one that nobody can read beforehand may change any.
func (r *shellRun) applied(u *flow.Use, io flow.Streams) flow.Flow {
	text, known := io.In.Text, io.In.Known
	if len(u.Operands) > 0 {
		text, known = u.Operands[0].Text, !u.Operands[0].Dynamic
	}
	switch {
	case known:
		r.S.Readers.Patch(r.S, u.Via, text)
	case io.In.Network:
		r.Opaque(u.Via, io.In, "")
	default:
		r.S.Unknown(u.Via, fact.TraitDynamic)
	}
	return flow.Flow{}
}

// vim finds the commands of an editor, one to a line or between bars, that run a shell, another language or a file.
func (r *shellRun) vim(text string) flow.Flow {
	for _, line := range strings.Split(text, "\n") {
		for line = strings.TrimLeft(line, ":% .,$0123456789"); line != "" && r.S.Spend(1+len(line)/16); {
			line = r.exCommand(strings.TrimLeft(line, ": "))
		}
	}
	return flow.Flow{}
}

// exCommand judges one command and returns what follows a bar after it.
func (r *shellRun) exCommand(line string) string {
	for _, quiet := range []string{"silent!", "silent", "sil!", "noautocmd"} {
		if rest, ok := strings.CutPrefix(line, quiet+" "); ok {
			line = strings.TrimLeft(rest, ": ")
		}
	}
	if i := strings.IndexByte(line, '!'); i >= 0 &&
		(i == 0 || line[:i] == "r " || line[:i] == "w " || line[:i] == "read " || line[:i] == "write " || line[:i] == "%") {
		r.S.Within++
		r.subshell(func() flow.Flow { return r.script(strings.TrimSuffix(line[i+1:], "|q"), flow.Flow{}) })
		r.S.Within--
		return ""
	}
	word := line
	if i := strings.IndexAny(line, " |"); i >= 0 {
		word = line[:i]
	}
	rest := strings.TrimLeft(line[len(word):], " ")
	if r.exScript(word, line) || r.exFile(word, rest) {
		return ""
	}
	switch strings.TrimSuffix(word, "!") {
	case "py", "py3", "python", "python3", "pyx", "pythonx":
		r.code("python", rest, flow.Flow{})
		return ""
	case "lua", "ruby", "rub", "perl", "pe":
		kind := map[string]string{"rub": "ruby", "pe": "perl"}[word]
		if kind == "" {
			kind = word
		}
		r.code(kind, rest, flow.Flow{})
		return ""
	case "sh", "shell", "term", "terminal", "ter":
		r.inlineImpact(interlock.ImpactExecute, "shell", "vim", fact.TraitInline, fact.TraitDynamic, fact.TraitHooked)
		r.mentionsShell(line)
	case "set", "se":
		r.mentionsShell(rest)
	}
	_, after, _ := strings.Cut(line, "|")
	return after
}

// makefile runs the targets asked for of a Makefile that is given as text.
func (r *shellRun) makefile(text string) {
	var asked []flow.Field
	if r.inlined != nil {
		asked = r.inlined.Operands
	}
	if lines := makeRecipe(text, asked); lines != "" {
		r.subshell(func() flow.Flow { return r.script(lines, flow.Flow{}) })
	}
}

// pager runs what a pager does first: !command, |mark command, or a place to go to.
func (r *shellRun) pager(text string) {
	if at := strings.IndexAny(text, "!|"); at >= 0 && at < 2 {
		if text[at] == '|' {
			at++
		}
		r.S.Within++
		r.subshell(func() flow.Flow { return r.script(text[min(at+1, len(text)):], flow.Flow{}) })
		r.S.Within--
	}
}
