package shell

import (
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// fields expands a word into arguments: braces, variables, substitutions, field splitting.
func (r *shellRun) fields(w *syntax.Word) []flow.Field {
	if lit, ok := plainLiteral(w); ok {
		return []flow.Field{sealed(r.literal(lit))}
	}
	if hasBrace(w) {
		clone := *w
		clone.Parts = append([]syntax.WordPart(nil), w.Parts...)
		if r.S.Spend(splitSteps(w)) && syntax.SplitBraces(&clone) {
			var out []flow.Field
			for _, one := range r.braces(&clone) {
				out = append(out, r.split(one)...)
			}
			for i := range out {
				out[i].Odd = out[i].Odd || i == 0
			}
			return out
		}
	}
	return r.split(w)
}

// plainLiteral returns the one literal a word consists of, if nothing in it is expanded.
func plainLiteral(w *syntax.Word) (*syntax.Lit, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	return lit, ok && strings.IndexByte(lit.Value, '{') < 0
}

// splitSteps is what splitting the braces of a word costs: each that is not closed is gone through again by those around it.
func splitSteps(w *syntax.Word) int {
	open := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
	}
	return open * open / 128
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

const MaxBraces = 64

// braces expands brace expressions into words, at most maxBraces of them; sequences give their first and last element,
// which bound what they name.
func (r *shellRun) braces(w *syntax.Word) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, part := range w.Parts {
		exp, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, one := range words {
				one.Parts = append(one.Parts, part)
			}
			continue
		}
		elems := exp.Elems
		if exp.Sequence && len(elems) >= 2 {
			from, errFrom := strconv.Atoi(elems[0].Lit())
			to, errTo := strconv.Atoi(elems[1].Lit())
			r.Many = r.Many || errFrom == nil && errTo == nil && (to-from >= fact.ManyTimes || from-to >= fact.ManyTimes)
		}
		if exp.Sequence && len(elems) > 2 {
			elems = elems[:2]
		}
		if len(words) >= MaxBraces { // enough of them: the rest only makes each longer
			if !r.S.Spend(len(words)) {
				break
			}
			for _, one := range words {
				one.Parts = append(one.Parts, elems[0].Parts...)
			}
			continue
		}
		var next []*syntax.Word
		for _, one := range words {
			for _, elem := range elems {
				for _, inner := range r.braces(elem) {
					if len(next) >= MaxBraces || !r.S.Spend(1) {
						break
					}
					next = append(next, &syntax.Word{Parts: append(append([]syntax.WordPart(nil), one.Parts...), inner.Parts...)})
				}
			}
		}
		words = next
	}
	return words
}

// split expands one brace-free word and splits what came unquoted out of variables and substitutions.
func (r *shellRun) split(w *syntax.Word) []flow.Field {
	out := append(r.S.Room.Fields.Room(1), flow.Field{})
	started := len(w.Parts) > 0 && !isExpansion(w.Parts[0])
	for i, part := range w.Parts {
		if list, ok := r.list(part); ok {
			for i, f := range list {
				if i > 0 {
					out = append(out, flow.Field{})
				}
				f.Glob = f.Glob || isExpansion(part) && know.IsGlob(f.Text)
				out[len(out)-1] = flow.Join(out[len(out)-1], f)
			}
			started = started || len(list) > 0
			continue
		}
		if i > 0 && r.beyond(part) {
			continue
		}
		f := r.part(part, false)
		if !r.S.Spend((len(f.Text) + len(out[len(out)-1].Text)) / 64) {
			return out
		}
		f.Glob = f.Glob || isExpansion(part) && know.IsGlob(f.Text)
		if !isExpansion(part) || !strings.ContainsAny(f.Text, r.separators()) || f.Dynamic {
			started = started || f.Text != "" || f.Dynamic || !isExpansion(part)
			out[len(out)-1] = flow.Join(out[len(out)-1], f)
			continue
		}
		pieces := strings.FieldsFunc(f.Text, func(c rune) bool { return strings.ContainsRune(r.separators(), c) })
		if !r.S.Spend(len(pieces)) {
			return out
		}
		out = joinPieces(out, f, pieces)
		started = started || len(pieces) > 0
		if last := out[len(out)-1]; lex.IsBlank(f.Text[len(f.Text)-1]) && part != w.Parts[len(w.Parts)-1] &&
			(last.Text != "" || last.Dynamic) {
			out = append(out, flow.Field{})
		}
	}
	for i := range out {
		out[i] = mended(out[i])
		out[i].Quoted = false
	}
	if len(out) == 1 && isStatic(w) {
		out[0] = sealed(out[0])
	}
	if !started && len(out) == 1 && out[0].Text == "" && !out[0].Dynamic {
		return nil
	}
	return out
}

// joinPieces adds what a value came apart into: the first piece goes on with the word that was being read, unless a blank
// comes before it.
func joinPieces(out []flow.Field, f flow.Field, pieces []string) []flow.Field {
	if lex.IsBlank(f.Text[0]) && out[len(out)-1].Text != "" {
		out = append(out, flow.Field{})
	}
	for i, piece := range pieces {
		if i > 0 {
			out = append(out, flow.Field{})
		}
		one := f
		one.Text, one.Glob = piece, know.IsGlob(piece)
		out[len(out)-1] = flow.Join(out[len(out)-1], one)
	}
	return out
}

// sealed notes of a path from the root that nothing in it is a pattern, although it looks like one.
func sealed(f flow.Field) flow.Field {
	f.Quoted = !f.Glob && !f.Dynamic && f.Text != "" && f.Text[0] == '/' && know.IsGlob(f.Text)
	return f
}

// isStatic reports whether a word is taken as it is, without anything that is put in its place.
func isStatic(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if _, ok := inner.(*syntax.Lit); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

func isExpansion(p syntax.WordPart) bool {
	switch p.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
		return true
	}
	return false
}

// beyond reports whether a part is a positional parameter beyond those there are: nothing, and put behind something only
// to keep words apart. One that begins a word is more likely what a reader is to fill in.
func (r *shellRun) beyond(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	if !ok || r.params == nil || p.Param == nil || p.Exp != nil {
		return false
	}
	n, err := strconv.Atoi(p.Param.Value)
	return err == nil && n > len(r.params)
}

// list expands "$@", $* and whole arrays.
func (r *shellRun) list(part syntax.WordPart) ([]flow.Field, bool) {
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Exp != nil || p.Repl != nil || p.Length {
		return nil, false
	}
	if name := p.Param.Value; name == "@" || name == "*" {
		if r.params == nil {
			return nil, false
		}
		if !r.S.Spend(2 * len(r.params)) {
			return nil, false
		}
		return window(p.Slice, r.params, 1)
	}
	if p.Index == nil {
		return nil, false
	}
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		v, known := r.vars[r.meant(p.Param.Value)]
		if !known || v.List == nil || !r.S.Spend(2*len(v.List)) {
			return nil, false
		}
		return window(p.Slice, v.List, 0)
	}
	return nil, false
}

// window is what ${list[@]:offset:length} takes of a list whose first element has the given number.
func window(s *syntax.Slice, list []flow.Field, first int) ([]flow.Field, bool) {
	if s == nil {
		return list, true
	}
	from, ok := number(s.Offset)
	if !ok {
		return nil, false
	}
	if from < 0 {
		from += len(list) + first
	}
	from = min(max(from-first, 0), len(list))
	to := len(list)
	if s.Length != nil {
		n, ok := number(s.Length)
		if !ok || n < 0 {
			return nil, false
		}
		to = min(from+n, to)
	}
	return list[from:to], true
}

// word expands a word that is not split: an assignment's value, a redirection's target, a here-document.
func (r *shellRun) word(w *syntax.Word) flow.Field {
	if w == nil {
		return flow.Field{}
	}
	var out flow.Field
	for _, part := range w.Parts {
		if !r.S.Spend(len(out.Text) / 64) {
			break
		}
		out = flow.Join(out, r.part(part, false))
	}
	return out
}

func (r *shellRun) part(part syntax.WordPart, quoted bool) flow.Field {
	if !r.S.Spend(1) {
		return flow.Field{Text: "?", Dynamic: true}
	}
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return flow.Literal(unescapeQuoted(p.Value))
		}
		return r.literal(p)
	case *syntax.SglQuoted:
		if p.Dollar {
			text := lex.AnsiC(p.Value)
			return flow.Field{Text: text, Odd: text != p.Value && strings.Contains(p.Value, `\`) && printable(text)}
		}
		return flow.Literal(p.Value)
	case *syntax.DblQuoted:
		var out flow.Field
		for _, inner := range p.Parts {
			if !r.S.Spend(len(out.Text) / 64) {
				break
			}
			f := r.part(inner, true)
			f.Glob = false
			out = flow.Join(out, f)
		}
		return out
	case *syntax.ParamExp:
		return r.param(p)
	case *syntax.CmdSubst:
		return r.substitute(p)
	case *syntax.ArithmExp:
		f := flow.Field{Text: "0", Dynamic: true}
		f.Flow.Taint(r.substitutions(p))
		return f
	case *syntax.ProcSubst:
		if p.Op == syntax.CmdOut { // what is written to it runs later
			r.sinks = append(r.sinks, p)
			return flow.Field{Text: "/dev/fd/63"}
		}
		out := r.subshell(func() flow.Flow { return r.stmts(p.Stmts, flow.Flow{}) })
		return flow.Field{Text: "/dev/fd/63", Flow: out}
	case *syntax.ExtGlob:
		r.qualifiers(p)
		return flow.Field{Text: "*", Glob: true}
	case *syntax.BraceExp:
		return flow.Field{Text: "{}", Dynamic: true}
	}
	return flow.Field{Text: "?", Dynamic: true}
}

// qualifiers walks the code that zsh runs for each name a pattern matches: *(e:'code':) and *(+command).
func (r *shellRun) qualifiers(p *syntax.ExtGlob) {
	if p.Op != syntax.GlobZeroOrMore || p.Pattern == nil || len(p.Pattern.Value) < 2 {
		return
	}
	code := p.Pattern.Value[1:]
	switch c := code[0]; p.Pattern.Value[0] {
	case '+':
	case 'e':
		if c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("|.-_", c) >= 0 {
			return // a word of a list
		}
		code, _, _ = strings.Cut(code[1:], code[:1])
		code = strings.Trim(code, `'"`)
	default:
		return
	}
	r.S.Modified(know.Words{Confidence: interlock.Inferred},
		func() { r.subshell(func() flow.Flow { return r.script(code, flow.Flow{}) }) })
}

// literal reads an unquoted literal: backslashes go, except in what is a Windows path.
func (r *shellRun) literal(lit *syntax.Lit) flow.Field {
	text := lit.Value
	if strings.IndexByte(text, '\\') < 0 {
		return flow.Field{Text: text, Glob: know.IsGlob(text)}
	}
	if lex.IsDrive(text) || strings.HasPrefix(text, `\\\\`) {
		return flow.Field{Text: text, Glob: know.IsGlob(text)}
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		default:
			glob = glob || c == '*' || c == '?' || c == '['
			b.WriteByte(c)
		}
	}
	return flow.Field{Text: b.String(), Glob: glob}
}

func unescapeQuoted(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isOdd reports whether a command's word is spelled to hide the name: quotes or escapes inside it, a substitution.
func isOdd(w *syntax.Word) bool {
	if len(w.Parts) > 1 {
		plain := 0
		for _, p := range w.Parts {
			switch x := p.(type) {
			case *syntax.Lit:
				plain++
			case *syntax.SglQuoted, *syntax.DblQuoted:
			case *syntax.ParamExp:
				if x.Param != nil && len(w.Parts) > 1 {
					switch x.Param.Value {
					case "IFS", "@", "*", "!", "_", "-": // nothing, or a blank: there only to break the name up
						return true
					}
				}
				return false
			case *syntax.CmdSubst:
				return true
			}
		}
		return plain > 0 || len(w.Parts) > 2
	}
	if lit, ok := w.Parts[0].(*syntax.Lit); ok {
		return strings.IndexByte(lit.Value, '\\') > 0 && !lex.IsDrive(lit.Value)
	}
	return false // what a substitution prints was judged when it was expanded
}

// source is a node as it was written, shortened.
func (r *shellRun) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from >= to || to > len(r.Src) {
		return "?"
	}
	if to-from > 60 {
		to = from + 57
		for to > from && r.Src[to]&0xC0 == 0x80 {
			to--
		}
		return r.Src[from:to] + "..."
	}
	return r.Src[from:to]
}
