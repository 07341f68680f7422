package windows

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// variableName reads the name after a $, as lower-case text without a scope; drives stay: env:temp.
func (p *psRun) variableName() string {
	var name string
	switch c := p.peek(); {
	case c == '{':
		end := strings.IndexByte(p.text[p.at:], '}')
		if end < 0 {
			p.broken, p.at = true, len(p.text)
			return ""
		}
		name = strings.ReplaceAll(p.text[p.at+1:p.at+end], "`", "")
		p.at += end + 1
	case c == '?' || c == '^' || c == '$' || c == '_' && !isVariableByte(p.peekAt(1)):
		p.at++
		return string(c)
	default:
		end := p.at
		for end < len(p.text) && (isVariableByte(p.text[end]) ||
			p.text[end] == ':' && end > p.at && end+1 < len(p.text) && isVariableByte(p.text[end+1]) &&
				!strings.Contains(p.text[p.at:end], ":")) {
			end++
		}
		name = p.text[p.at:end]
		p.at = end
	}
	name = strings.ToLower(name)
	for _, scope := range [...]string{"script:", "global:", "local:", "private:", "using:", "variable:", "function:"} {
		name = strings.TrimPrefix(name, scope)
	}
	return name
}

func isVariableByte(c byte) bool { return lex.IsNameStart(c) || c >= '0' && c <= '9' || c >= 0x80 }

// variable is what a name holds. Names every PowerShell has are known; others are what the script put there.
func (p *psRun) variable(name string) psValue {
	if v, ok := p.vars[name]; ok {
		return v
	}
	switch name {
	case "null":
		return psValue{}
	case "true", "false":
		return psText(name)
	case "home":
		return psText(p.r.S.Home())
	case "pwd":
		if p.r.S.Dir != "" {
			return psText(p.r.S.Dir)
		}
		return psText(".")
	case "psscriptroot":
		return psText(".")
	case "profile":
		return psText(p.r.S.Home() + "/Documents/PowerShell/Microsoft.PowerShell_profile.ps1")
	case "shellid":
		return psText("Microsoft.PowerShell")
	case "pshome", "env:psmodulepath":
		return psText("C:/Windows/System32/WindowsPowerShell/v1.0")
	case "ofs":
		return psText(" ")
	}
	if rest, ok := strings.CutPrefix(name, "env:"); ok {
		if known, ok := windowsVariable(p.r.S, rest); ok {
			return psText(known)
		}
	}
	v := psUnknown("$"+name, flow.Flow{})
	v.items[0].Unset = true
	return v
}

// windowsVariable is what a variable of the environment holds on every Windows machine.
func windowsVariable(s *flow.Scan, name string) (string, bool) {
	home := s.Home()
	switch strings.ToLower(name) {
	case "interlock_home":
		return s.SelfHome()
	case "userprofile", "home", "homepath":
		return home, true
	case "appdata":
		return home + "/AppData/Roaming", true
	case "localappdata":
		return home + "/AppData/Local", true
	case "temp", "tmp", "tmpdir":
		return "/tmp", true
	case "systemroot", "windir":
		return "C:/Windows", true
	case "systemdrive", "homedrive":
		return "C:", true
	case "programfiles", "programw6432", "programfiles(x86)":
		return "C:/Program Files", true
	case "programdata", "allusersprofile":
		return "C:/ProgramData", true
	case "public":
		return "C:/Users/Public", true
	case "comspec":
		return "C:/Windows/System32/cmd.exe", true
	}
	return "", false
}

// doubleQuoted reads an expandable string from its opening quote.
func (p *psRun) doubleQuoted() psValue {
	p.at++
	var out flow.Field
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = flow.Join(out, flow.Literal(b.String()))
			b.Reset()
		}
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"' && p.peekAt(1) == '"':
			b.WriteByte('"')
			p.at += 2
		case c == '"':
			p.at++
			flush()
			return psField(out)
		case c == '`':
			p.escape(&b)
		case c == '$' && (p.peekAt(1) == '(' || p.peekAt(1) == '{' || isVariableByte(p.peekAt(1))):
			flush()
			p.at++
			p.r.S.SpendBytes(len(out.Text))
			out = flow.Join(out, p.interpolated())
		default:
			b.WriteByte(c)
			p.at++
		}
		if !p.r.S.Spend(b.Len() / 4096) {
			break
		}
	}
	p.broken = true
	flush()
	return psField(out)
}

// interpolated is the value of a variable or subexpression inside a string.
func (p *psRun) interpolated() flow.Field {
	var v psValue
	if p.peek() == '(' {
		p.at++
		v = p.statements(')')
	} else {
		v = p.variable(p.variableName())
	}
	f := v.one()
	f.Glob = false
	if v.block || v.class != "" && len(v.items) == 0 {
		f = flow.Field{Text: "$(" + v.class + ")", Dynamic: true, Lead: true, Flow: v.taint()}
	}
	return f
}

// escape reads a backtick and what it escapes.
func (p *psRun) escape(b *strings.Builder) {
	p.at++
	if p.at >= len(p.text) {
		return
	}
	switch c := p.text[p.at]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '0':
		b.WriteByte(' ')
	default:
		b.WriteByte(c)
	}
	p.at++
}

// singleQuoted reads a literal string from its opening quote.
func (p *psRun) singleQuoted() psValue {
	start := p.at + 1
	p.skipString('\'')
	end := max(start, p.at-1)
	if p.broken {
		end = p.at
	}
	return psText(strings.ReplaceAll(p.text[start:end], "''", "'"))
}

// hereString reads a here-string whose quote is given.
func (p *psRun) hereString(quote byte) (psValue, bool) {
	body, end, ok := p.here(quote)
	if !ok {
		return psValue{}, false
	}
	p.at = end
	if quote == '\'' || !strings.ContainsAny(body, "$`") {
		return psText(body), true
	}
	if !p.deeper() {
		return psUnknown("@\"...\"@", flow.Flow{}), true
	}
	outer, at := p.text, p.at
	p.text, p.at = "\""+strings.ReplaceAll(body, "\"", "\"\"")+"\"", 0
	v := p.doubleQuoted()
	p.text, p.at = outer, at
	p.r.Steps--
	return v, true
}

// argument reads one word of a command line: text, strings, variables and subexpressions that stand together.
func (p *psRun) argument() psValue {
	switch c := p.peek(); {
	case c == '(' || c == '@' && (p.peekAt(1) == '(' || p.peekAt(1) == '{') || c == '{':
		return p.postfix(p.primary(), true)
	case c == '@' && (p.peekAt(1) == '\'' || p.peekAt(1) == '"'):
		if v, ok := p.hereString(p.peekAt(1)); ok {
			return v
		}
	case c == '$' && p.peekAt(1) != '(':
		v := p.primary()
		if next := p.peek(); next == '.' && lex.IsNameStart(p.peekAt(1)) || next == '[' {
			v = p.postfix(v, true)
		}
		if wordEnds(p.peek()) {
			return v
		}
		f := v.one()
		if v.class != "" && f.Text == "" {
			f = flow.Field{Text: "$" + v.class, Dynamic: true, Lead: true}
		}
		return psField(flow.Join(f, p.rest(true).one()))
	}
	return p.rest(false)
}

func wordEnds(c byte) bool { return c == 0 || strings.IndexByte(" \t\r\n;|&(){},<>", c) >= 0 }

// rest reads the pieces of a word up to its end; more says that a part of it has been read already.
func (p *psRun) rest(more bool) psValue {
	var out flow.Field
	var b strings.Builder
	glob, odd := false, false
	flush := func() {
		if b.Len() > 0 {
			f := flow.Literal(b.String())
			f.Glob = glob
			out = flow.Join(out, f)
			b.Reset()
		}
	}
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '`' && p.at+1 < len(p.text) && p.peekAt(1) != '\n' && p.peekAt(1) != '\r':
			p.at++
			odd = odd || lex.IsNameStart(p.peek())
			b.WriteByte(p.peek())
			p.at++
		case c == '\'' || c == '"':
			flush()
			p.r.S.SpendBytes(len(out.Text)) // which is copied, with the piece behind it
			odd = odd || p.at > start
			var v psValue
			if c == '"' {
				v = p.doubleQuoted()
			} else {
				v = p.singleQuoted()
			}
			out = flow.Join(out, v.one())
		case c == '$' && (isVariableByte(p.peekAt(1)) || p.peekAt(1) == '{' || p.peekAt(1) == '('):
			flush()
			p.r.S.SpendBytes(len(out.Text))
			p.at++
			out = flow.Join(out, p.interpolated())
		case c == '`' || wordEnds(c):
			flush()
			out.Glob = out.Glob || glob
			out.Odd = odd
			return psField(out)
		default:
			glob = glob || c == '*' || c == '?'
			b.WriteByte(c)
			p.at++
		}
		if !p.r.S.Spend(0) {
			break
		}
	}
	flush()
	out.Glob, out.Odd = out.Glob || glob, odd
	if out.Text == "" && more {
		return psValue{}
	}
	return psField(out)
}
