package windows

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// words splits a command into arguments: carets and quotes resolved, redirections taken out.
func (c *cmdRun) words(text string, io flow.Streams) ([]flow.Field, flow.Streams) {
	var out []flow.Field
	for at := 0; at < len(text); {
		at = lex.SkipAny(text, at, " \t\r\n,;")
		if at < len(text) && text[at] == '=' && len(out) < 2 {
			at++
			continue
		}
		if at >= len(text) || !c.r.S.Spend(1) {
			break
		}
		number := ""
		if at+1 < len(text) && text[at] >= '0' && text[at] <= '9' && (text[at+1] == '>' || text[at+1] == '<') {
			number = text[at : at+1]
			at++
		}
		if text[at] == '>' || text[at] == '<' {
			op := text[at : at+1]
			if at++; at < len(text) && op == ">" && text[at] == '>' {
				op = ">>"
				at++
			}
			if at < len(text) && text[at] == '&' {
				at = min(at+2, len(text))
				continue
			}
			at = lex.SkipAny(text, at, " \t")
			var to flow.Field
			to, at = c.word(text, at)
			c.redirect(&io, op, number, to)
			continue
		}
		start := at
		var f flow.Field
		f, at = c.word(text, at)
		if at == start {
			at++
			continue
		}
		out = append(out, f)
		if len(out) > fact.MaxList {
			break
		}
	}
	return out, io
}

// word reads one word: quotes group, a caret takes the next character as it is.
func (c *cmdRun) word(text string, at int) (flow.Field, int) {
	var out flow.Field
	var b strings.Builder
	quoted, carets, glob := false, 0, false
	flush := func() {
		if b.Len() > 0 {
			out = flow.Join(out, flow.Literal(b.String()))
			b.Reset()
		}
	}
	start := at
scan:
	for at < len(text) {
		switch ch := text[at]; {
		case ch == '"':
			quoted = !quoted
			at++
		case ch == '^' && !quoted:
			if at++; at < len(text) && text[at] != '\r' && text[at] != '\n' {
				if lex.IsNameStart(text[at]) && at > start {
					carets++
				}
				b.WriteByte(text[at])
				at++
			} else {
				at = lex.SkipAny(text, at, "\r\n")
			}
		case ch == '%' || ch == '!':
			f, next, ok := c.reference(text, at)
			if !ok {
				b.WriteByte(ch)
				at++
				continue
			}
			flush()
			c.r.S.SpendBytes(len(out.Text) + len(f.Text))
			out, at = flow.Join(out, f), next
		case !quoted && strings.IndexByte(" \t\r\n<>;", ch) >= 0, !quoted && ch == ',' && start > 0:
			break scan
		case !quoted && (ch == '(' || ch == ')') && at == start:
			at++
		default:
			glob = glob || ch == '*' || ch == '?'
			b.WriteByte(ch)
			at++
		}
		if len(out.Text)+b.Len() > lex.MaxText {
			break
		}
	}
	flush()
	out.Glob, out.Odd = glob, out.Odd || carets > 0
	return out, at
}

// reference reads %NAME%, %NAME:~1,2%, %NAME:a=b%, !NAME!, %1, %~1 or a variable of for at the current place.
func (c *cmdRun) reference(text string, at int) (flow.Field, int, bool) {
	mark := text[at]
	rest := text[at+1:]
	if mark == '%' {
		if strings.HasPrefix(rest, "%") || len(c.loop) > 0 {
			for n := 0; n < min(len(rest), 12); n++ {
				if v, ok := c.loop[strings.ToLower(rest[n:n+1])]; ok && strings.Trim(rest[:n], "%~fdpnxsatz") == "" &&
					!isReference(rest) {
					return v, at + 1 + n + 1, true
				}
			}
		}
		if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '*' || rest[0] == '~') &&
			!isReference(rest) {
			used := len(rest) - len(strings.TrimLeft(rest, "~fdpnxsatz*0123456789"))
			return flow.Field{Text: text[at : at+1+used], Dynamic: true, Lead: true}, at + 1 + used, true
		}
	}
	end := strings.IndexByte(rest, mark)
	if end < 1 || end > 128 {
		return flow.Field{}, 0, false
	}
	name, change, _ := strings.Cut(rest[:end], ":")
	if strings.ContainsAny(name, " \t\n\"'\\/|&<>=") {
		return flow.Field{}, 0, false
	}
	return c.value(name, change), at + end + 2, true
}

// isReference reports whether NAME% is here and not a variable of for.
func isReference(rest string) bool {
	end := strings.IndexByte(rest, '%')
	return end > 1 && strings.Trim(strings.ToLower(rest[:end]), "abcdefghijklmnopqrstuvwxyz0123456789_()") == "" &&
		(rest[0] < '0' || rest[0] > '9')
}

// value is what a variable holds, cut or changed as the reference says.
func (c *cmdRun) value(name, change string) flow.Field {
	f, ok := c.vars[strings.ToLower(name)]
	if !ok {
		known, ok := windowsVariable(c.r.S, name)
		switch {
		case strings.EqualFold(name, "cd") && c.r.S.Dir != "":
			known, ok = c.r.S.Dir, true
		case strings.EqualFold(name, "cd"):
			known, ok = ".", true
		}
		if !ok {
			return flow.Field{Text: "%" + name + "%", Dynamic: true, Lead: true, Unset: true}
		}
		f = flow.Literal(known)
	}
	if change == "" || f.Dynamic {
		return f
	}
	f.Odd = true
	if spec, ok := strings.CutPrefix(change, "~"); ok {
		f.Text = sliceOf(strings.ReplaceAll(f.Text, "/", `\`), spec)
		return f
	}
	if old, with, ok := strings.Cut(change, "="); ok && old != "" && len(with) <= 64 {
		f.Text = replaceFold(f.Text, strings.TrimPrefix(old, "*"), with)
	}
	return f
}

// sliceOf is the part start,length of a text, and either may count from the end.
func sliceOf(text, spec string) string {
	from, count, counted := strings.Cut(spec, ",")
	n, _ := psNumber(strings.TrimSpace(from))
	if n < 0 {
		n += len(text)
	}
	n = max(0, min(n, len(text)))
	text = text[n:]
	if counted {
		m, _ := psNumber(strings.TrimSpace(count))
		if m < 0 {
			m += len(text)
		}
		text = text[:max(0, min(m, len(text)))]
	}
	return text
}

// replaceFold replaces text whatever its case.
func replaceFold(text, old, with string) string {
	var b strings.Builder
	low, old := strings.ToLower(text), strings.ToLower(old)
	if len(low) != len(text) || old == "" {
		return text
	}
	for {
		i := strings.Index(low, old)
		if i < 0 || b.Len() > lex.MaxText {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		b.WriteString(with)
		text, low = text[i+len(old):], low[i+len(old):]
	}
}

// expand puts in what variables of the script hold before a line is split, as cmd.exe does, where that is known text.
func (c *cmdRun) expand(text string) string {
	if strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '!') < 0 || len(c.vars) == 0 {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		if ch := text[at]; ch == '%' || ch == '!' {
			if f, next, ok := c.reference(text, at); ok && !f.Dynamic && len(f.Text)+b.Len() < lex.MaxText &&
				c.r.S.Spend(1+len(f.Text)/64) {
				if f.Odd && lex.IsNameStart(firstByte(f.Text)) && b.Len() > 0 {
					b.WriteByte('^') // so that the word it builds is seen to be built
				}
				b.WriteString(f.Text)
				at = next
				continue
			}
		}
		b.WriteByte(text[at])
		at++
	}
	return b.String()
}

func firstByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[0]
}

// joinWindows writes arguments as a command line of Windows.
func joinWindows(args []flow.Field) string {
	if len(args) == 1 {
		return args[0].Text
	}
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(a.Text, " \t&|<>") {
			b.WriteString(`"` + a.Text + `"`)
			continue
		}
		b.WriteString(a.Text)
	}
	return b.String()
}

// splitLine splits a command line as programs of Windows do: quotes group, \" is a quote.
func splitLine(line flow.Field) []flow.Field {
	var out []flow.Field
	var b strings.Builder
	quoted, started := false, false
	put := func() {
		if started && len(out) < fact.MaxList {
			f := line
			f.Text = b.String()
			f.Lead = line.Lead && len(out) == 0
			out = append(out, f)
		}
		b.Reset()
		started = false
	}
	text := line.Text
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
			started = true
		case c == '"':
			quoted, started = !quoted, true
		case lex.IsBlank(c) && !quoted:
			put()
		default:
			b.WriteByte(c)
			started = true
		}
	}
	put()
	return out
}

// windowsLine runs a program with its command line as one text.
func (r *Run) windowsLine(base string, line flow.Field, io flow.Streams) flow.Flow {
	if base == "cmd" {
		return r.CmdArguments([]flow.Field{line}, io)
	}
	spec := r.S.Know.Lookup(base)
	if spec == nil {
		return flow.Flow{}
	}
	return r.Described(spec, append([]flow.Field{flow.Literal(base)}, splitLine(line)...), io)
}

// CmdArguments runs what cmd.exe is given: the text behind /c or /k.
func (r *Run) CmdArguments(args []flow.Field, io flow.Streams) flow.Flow {
	line := joinWindows(args)
	var from flow.Flow
	dynamic := false
	for _, a := range args {
		from.Taint(a.Flow)
		dynamic = dynamic || a.Dynamic && a.Lead
	}
	for {
		line = strings.TrimSpace(line)
		if len(line) < 2 || line[0] != '/' && line[0] != '-' {
			break
		}
		letter := line[1] | 0x20
		if letter == 'c' || letter == 'k' || letter == 'r' {
			line = strings.TrimSpace(line[2:])
			if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && len(line) > 1 &&
				!strings.Contains(line[1:len(line)-1], `" "`) {
				line = line[1 : len(line)-1]
				if first, _, _ := strings.Cut(line, " "); len(line) > 1 && strings.HasPrefix(line, `"`) &&
					strings.HasSuffix(line, `"`) && !strings.ContainsAny(first, `\./`) {
					line = line[1 : len(line)-1]
				}
			}
			if from.Network {
				r.Opaque("cmd", from, "")
			}
			return r.CmdExe(line, io.In)
		}
		if letter == '?' {
			return flow.Flow{}
		}
		end := strings.IndexAny(line[1:], " \t/")
		if end < 0 {
			return flow.Flow{}
		}
		line = line[end+1:]
	}
	if io.In.Network || io.In.Known && io.In.Piped {
		u := &flow.Use{Spec: &know.Command{Name: "cmd", Stdin: "cmd"}, Via: "cmd"}
		return r.FromStdin(u, io)
	}
	if dynamic {
		r.Opaque("cmd", from, line)
	}
	return flow.Flow{}
}
