package shell

import (
	"errors"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// script parses text and walks it with the given standard input.
func (r *shellRun) script(text string, in flow.Flow) flow.Flow {
	s := r.S
	if reason := s.Enter(text); reason != "" {
		s.Unknown("sh", reason)
		return flow.Flow{}
	}
	defer s.Leave()
	if s.Trace != nil {
		s.Trace.Enter("shell", text)
		defer s.Trace.Leave()
	}
	if strings.IndexByte(text, 0) >= 0 {
		s.Unknown("sh", fact.TraitEncoding)
		return flow.Flow{}
	}
	if !nesting(text) {
		s.Unknown("sh", fact.TraitNested)
		return flow.Flow{}
	}
	file := r.parse(text)
	if file == nil {
		r.broken(text)
		return flow.Flow{}
	}
	outer := r.Src
	r.Src = text
	out := r.stmts(file.Stmts, in)
	r.Src = outer
	return out
}

func (r *shellRun) parse(text string) *syntax.File {
	for _, dialect := range []syntax.LangVariant{syntax.LangBash, syntax.LangMirBSDKorn, syntax.LangPOSIX} {
		r.S.Spend(4 + len(text)/64)
		parser := parserFor(r.S, dialect)
		file, err := parser.Parse(strings.NewReader(text), "")
		release(r.S, dialect, parser)
		if err == nil {
			return file
		}
		if end := openDocument(err); end != "" && dialect == syntax.LangBash && r.closed < 8 && r.S.Spend(len(text)/16) {
			r.closed++
			return r.parse(text + "\n" + end)
		}
	}
	if plain := withoutTemplates(text); plain != text {
		return r.parse(plain)
	}
	if plain := withoutPlaceholders(text); plain != text {
		return r.parse(plain)
	}
	if before, cut := withoutDangling(text); cut {
		return r.parse(before)
	}
	return nil
}

// withoutDangling takes an operator away that nothing but a comment follows, as where one step is cut out of a longer script.
// A shell waits for the rest, so what comes before is at most what runs.
func withoutDangling(text string) (before string, cut bool) {
	rest := strings.TrimRight(text, " \t\r\n\\")
	line := rest[strings.LastIndexByte(rest, '\n')+1:]
	for _, sign := range [...]string{"&&", "||"} {
		at := strings.LastIndex(line, sign)
		if at < 0 {
			continue
		}
		after := strings.TrimLeft(line[at+len(sign):], " \t")
		if after != "" && (after[0] != '#' || strings.ContainsAny(after, "`$;&|<>")) {
			continue
		}
		before = strings.TrimRight(rest[:len(rest)-len(line)+at], " \t")
		return before, before != "" && strings.IndexByte("&|", before[len(before)-1]) < 0
	}
	return text, false
}

// withoutPlaceholders puts variables of the same length where documentation writes <name>, and a word for its file(s), in text
// that no shell can read as it is: the person who runs it fills in something not known. A shell runs nothing of a line with a
// syntax error, but it does run the lines before. So in text of several lines only what is an error by itself is replaced: a >
// with nothing to write to.
func withoutPlaceholders(text string) string {
	lines := strings.Contains(strings.Trim(text, "\n"), "\n")
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		if b[i] == '(' && i > 0 && b[i-1]|0x20 >= 'a' && b[i-1]|0x20 <= 'z' && strings.HasPrefix(text[i:], "(s)") &&
			ends(text, i+3) {
			b[i], b[i+2] = '_', '_' // file(s)
		}
		if b[i] != '<' || i+2 >= len(b) || b[i+1]|0x20 < 'a' || b[i+1]|0x20 > 'z' || i > 0 && (b[i-1] == '<' || b[i-1] == '&') {
			continue
		}
		end := i + 1
		for end < len(b) && end < i+48 &&
			(lex.IsNameStart(b[end]) || b[end] >= '0' && b[end] <= '9' || strings.IndexByte(" -.:/", b[end]) >= 0) {
			end++
		}
		if end >= len(b) || b[end] != '>' || lines && !ends(text, end+1) {
			continue
		}
		b[i] = '$'
		for j := i + 1; j <= end; j++ {
			b[j] = '_'
		}
		i = end
	}
	return string(b)
}

// ends reports whether nothing that could be a word follows.
func ends(text string, i int) bool {
	i = lex.SkipAny(text, i, " \t")
	return i >= len(text) || strings.IndexByte("\r\n;|&)<>", text[i]) >= 0
}

// openDocument returns the word that would end a here-document which the input's end ends as well: a shell warns and runs it.
func openDocument(err error) string {
	var problem syntax.ParseError
	if !errors.As(err, &problem) {
		return ""
	}
	_, word, found := strings.Cut(problem.Text, "unclosed here-document `")
	word, closed := strings.CutSuffix(word, "`")
	if !found || !closed || word == "" || len(word) > 64 || strings.ContainsAny(word, "\n\r `'\"\\$") {
		return ""
	}
	return word
}

// withoutTemplates puts variables of the same length where a template has ${{ … }}, which no shell can read: whatever
// fills the template in decides what runs, so it reads as something not known.
func withoutTemplates(text string) string {
	from := strings.Index(text, "${{")
	if from < 0 {
		return text
	}
	b := []byte(text)
	for from >= 0 {
		end := strings.Index(text[from:], "}}")
		if end < 0 {
			break
		}
		end += from + 2
		b[from+2] = 'T'
		for i := from + 3; i < end-1; i++ {
			b[i] = '_'
		}
		next := strings.Index(text[end:], "${{")
		if next < 0 {
			break
		}
		from = end + next
	}
	return string(b)
}

// parserFor takes a bash parser from the pool, or makes one for the dialects tried only in need.
func parserFor(s *flow.Scan, dialect syntax.LangVariant) *syntax.Parser {
	if dialect == syntax.LangBash && s.Know != nil {
		if p, ok := s.Know.Parsers.Get().(*syntax.Parser); ok {
			return p
		}
	}
	return syntax.NewParser(syntax.Variant(dialect))
}

func release(s *flow.Scan, dialect syntax.LangVariant, p *syntax.Parser) {
	if dialect == syntax.LangBash && s.Know != nil {
		s.Know.Parsers.Put(p)
	}
}
