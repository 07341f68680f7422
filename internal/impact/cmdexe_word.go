package impact

import "strings"

// words splits a command into arguments: carets and quotes resolved, redirections taken out.
func (c *cmdRun) words(text string, io streams) ([]field, streams) {
	var out []field
	for at := 0; at < len(text); {
		at = skipAny(text, at, " \t\r\n,;")
		if at < len(text) && text[at] == '=' && len(out) < 2 {
			at++
			continue
		}
		if at >= len(text) || !c.r.s.spend(1) {
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
			at = skipAny(text, at, " \t")
			var to field
			to, at = c.word(text, at)
			c.redirect(&io, op, number, to)
			continue
		}
		start := at
		var f field
		f, at = c.word(text, at)
		if at == start {
			at++
			continue
		}
		out = append(out, f)
		if len(out) > maxList {
			break
		}
	}
	return out, io
}

// word reads one word: quotes group, a caret takes the next character as it is.
func (c *cmdRun) word(text string, at int) (field, int) {
	var out field
	var b strings.Builder
	quoted, carets, glob := false, 0, false
	flush := func() {
		if b.Len() > 0 {
			out = join(out, literal(b.String()))
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
				if isNameStart(text[at]) && at > start {
					carets++
				}
				b.WriteByte(text[at])
				at++
			} else {
				at = skipAny(text, at, "\r\n")
			}
		case ch == '%' || ch == '!':
			f, next, ok := c.reference(text, at)
			if !ok {
				b.WriteByte(ch)
				at++
				continue
			}
			flush()
			out, at = join(out, f), next
		case !quoted && strings.IndexByte(" \t\r\n<>;", ch) >= 0, !quoted && ch == ',' && start > 0:
			break scan
		case !quoted && (ch == '(' || ch == ')') && at == start:
			at++
		default:
			glob = glob || ch == '*' || ch == '?'
			b.WriteByte(ch)
			at++
		}
		if len(out.text)+b.Len() > maxText {
			break
		}
	}
	flush()
	out.glob, out.odd = glob, out.odd || carets > 0
	return out, at
}

// reference reads %NAME%, %NAME:~1,2%, %NAME:a=b%, !NAME!, %1, %~1 or a variable of for at the current place.
func (c *cmdRun) reference(text string, at int) (field, int, bool) {
	mark := text[at]
	rest := text[at+1:]
	if mark == '%' {
		letters := strings.TrimLeft(rest, "%~fdpnxsatz0123456789")
		if strings.HasPrefix(rest, "%") || len(c.loop) > 0 {
			for n := 0; n < min(len(rest), 12); n++ {
				if v, ok := c.loop[strings.ToLower(rest[n:n+1])]; ok && strings.Trim(rest[:n], "%~fdpnxsatz") == "" && !isReference(rest) {
					return v, at + 1 + n + 1, true
				}
			}
		}
		if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '*' || rest[0] == '~' && letters != rest) && !isReference(rest) {
			used := len(rest) - len(strings.TrimLeft(rest, "~fdpnxsatz*0123456789"))
			return field{text: text[at : at+1+used], dynamic: true, lead: true}, at + 1 + used, true
		}
	}
	end := strings.IndexByte(rest, mark)
	if end < 1 || end > 128 {
		return field{}, 0, false
	}
	name, change, _ := strings.Cut(rest[:end], ":")
	if strings.ContainsAny(name, " \t\n\"'\\/|&<>=") {
		return field{}, 0, false
	}
	return c.value(name, change), at + end + 2, true
}

// isReference reports whether NAME% stands here and not a variable of for.
func isReference(rest string) bool {
	end := strings.IndexByte(rest, '%')
	return end > 1 && strings.Trim(strings.ToLower(rest[:end]), "abcdefghijklmnopqrstuvwxyz0123456789_()") == "" && (rest[0] < '0' || rest[0] > '9')
}

// value is what a variable holds, cut or changed as the reference says.
func (c *cmdRun) value(name, change string) field {
	f, ok := c.vars[strings.ToLower(name)]
	if !ok {
		known, ok := c.r.s.windowsVariable(name)
		switch {
		case strings.EqualFold(name, "cd") && c.r.s.dir != "":
			known, ok = c.r.s.dir, true
		case strings.EqualFold(name, "cd"):
			known, ok = ".", true
		}
		if !ok {
			return field{text: "%" + name + "%", dynamic: true, lead: true, unset: true}
		}
		f = literal(known)
	}
	if change == "" || f.dynamic {
		return f
	}
	f.odd = true
	if spec, ok := strings.CutPrefix(change, "~"); ok {
		f.text = sliceOf(strings.ReplaceAll(f.text, "/", `\`), spec)
		return f
	}
	if old, with, ok := strings.Cut(change, "="); ok && old != "" && len(with) <= 64 {
		f.text = replaceFold(f.text, strings.TrimPrefix(old, "*"), with)
	}
	return f
}

// sliceOf is the part start,length of a text, either of which may count from the end.
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
		if i < 0 || b.Len() > maxText {
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
			if f, next, ok := c.reference(text, at); ok && !f.dynamic && len(f.text)+b.Len() < maxText && c.r.s.spend(1) {
				if f.odd && isNameStart(firstByte(f.text)) && b.Len() > 0 {
					b.WriteByte('^') // so that the word it builds is seen to be built
				}
				b.WriteString(f.text)
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
func joinWindows(args []field) string {
	if len(args) == 1 {
		return args[0].text
	}
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(a.text, " \t&|<>") {
			b.WriteString(`"` + a.text + `"`)
			continue
		}
		b.WriteString(a.text)
	}
	return b.String()
}

// splitLine splits a command line as programs of Windows do: quotes group, \" is a quote.
func splitLine(line field) []field {
	var out []field
	var b strings.Builder
	quoted, started := false, false
	put := func() {
		if started && len(out) < maxList {
			f := line
			f.text = b.String()
			f.lead = line.lead && len(out) == 0
			out = append(out, f)
		}
		b.Reset()
		started = false
	}
	text := line.text
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
			started = true
		case c == '"':
			quoted, started = !quoted, true
		case isBlank(c) && !quoted:
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
func (r *winRun) windowsLine(base string, line field, io streams) flow {
	if base == "cmd" {
		return r.cmdArguments([]field{line}, io)
	}
	spec := r.s.know.lookup(base)
	if spec == nil {
		return flow{}
	}
	return r.described(spec, append([]field{literal(base)}, splitLine(line)...), io)
}

// cmdArguments runs what cmd.exe is given: the text behind /c or /k.
func (r *winRun) cmdArguments(args []field, io streams) flow {
	line := joinWindows(args)
	var from flow
	dynamic := false
	for _, a := range args {
		from.taint(a.flow)
		dynamic = dynamic || a.dynamic && a.lead
	}
	for {
		line = strings.TrimSpace(line)
		if len(line) < 2 || line[0] != '/' && line[0] != '-' {
			break
		}
		letter := line[1] | 0x20
		if letter == 'c' || letter == 'k' || letter == 'r' {
			line = strings.TrimSpace(line[2:])
			if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && len(line) > 1 && !strings.Contains(line[1:len(line)-1], `" "`) {
				line = line[1 : len(line)-1]
				if first, _, _ := strings.Cut(line, " "); len(line) > 1 && strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && !strings.ContainsAny(first, `\./`) {
					line = line[1 : len(line)-1]
				}
			}
			if from.network {
				r.opaque("cmd", from, "")
			}
			return r.cmdexe(line, io.in)
		}
		if letter == '?' {
			return flow{}
		}
		end := strings.IndexAny(line[1:], " \t/")
		if end < 0 {
			return flow{}
		}
		line = line[end+1:]
	}
	if io.in.network || io.in.known && io.in.piped {
		u := &use{spec: &command{name: "cmd", stdin: "cmd"}, via: "cmd"}
		return r.fromStdin(u, io)
	}
	if dynamic {
		r.opaque("cmd", from, line)
	}
	return flow{}
}
