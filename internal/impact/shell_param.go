package impact

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scratchVariable stands for what TMPDIR holds.
const scratchVariable = "/tmp/TMPDIR"

// substitute runs a command substitution and takes its output if that is constant.
func (r *shellRun) substitute(p *syntax.CmdSubst) field {
	if end := int(p.End().Offset()); len(p.Stmts) == 0 && !(p.Backquotes && end < len(r.src) && r.src[end] == '`') { // ``` begins a block of text
		return field{}
	}
	out := r.subshell(func() flow {
		return r.deeper(func() flow {
			if len(p.Stmts) == 1 && p.Stmts[0].Cmd == nil && len(p.Stmts[0].Redirs) == 1 { // $(< file)
				return r.redirects(p.Stmts[0], flow{}).in
			}
			return r.stmts(p.Stmts, flow{})
		})
	})
	if out.known {
		text := strings.TrimRight(out.text, "\n")
		out.known, out.text = false, ""
		return field{text: text, odd: true, flow: out}
	}
	if len(out.items) > 0 {
		f := out.items[0]
		out.items = nil
		f.flow.taint(out)
		return f
	}
	out.items = nil
	return field{text: r.source(p), dynamic: true, lead: true, flow: out}
}

// param expands a parameter.
func (r *shellRun) param(p *syntax.ParamExp) field {
	unknown := field{text: r.source(p), dynamic: true, lead: true}
	if p.Exp != nil && p.Exp.Word != nil {
		unknown.flow.taint(r.word(p.Exp.Word).flow)
	}
	if p.Param == nil || p.Length || p.Width || p.Names != 0 {
		return unknown
	}
	name := p.Param.Value
	f, known := r.lookup(name)
	if p.Excl && known && !f.dynamic {
		f, known = r.lookup(f.text)
	}
	if p.Index != nil {
		f, known = r.element(name, p.Index)
	}
	switch {
	case p.Exp != nil:
		return r.expansion(p, f, known, unknown)
	case !known && r.noParameter(name):
		return field{}
	case !known:
		unknown.unset = true
		return unknown
	case p.Slice != nil:
		return slice(p.Slice, f, unknown)
	case p.Repl != nil:
		return r.replace(p.Repl, f, unknown)
	}
	return f
}

// noParameter reports whether a name means all positional parameters where it is known that there are none.
func (r *shellRun) noParameter(name string) bool {
	if r.params == nil {
		return false
	}
	return (name == "@" || name == "*") && len(r.params) == 0
}

func (r *shellRun) element(name string, index syntax.ArithmExpr) (field, bool) {
	v := r.vars[r.meant(name)]
	if !r.s.spend(len(v.keys) / 16) {
		return field{}, false
	}
	return v.element(r.key(index))
}

// expansion handles ${x:-word} and its kin.
func (r *shellRun) expansion(p *syntax.ParamExp, f field, known bool, unknown field) field {
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known {
			return f
		}
		def := r.word(p.Exp.Word)
		if def.text == "" {
			unknown.unset = true
			return unknown
		}
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			r.set(p.Param.Value, varValue(def))
		}
		return def
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull: // if it is not set, this is nothing: then less happens
		if r.vars[p.Param.Value].gone || known && f.text == "" && !f.dynamic {
			return field{}
		}
		return r.word(p.Exp.Word)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if known {
			return f
		}
		return unknown // the shell stops if it is empty: not the hazard an unset variable is
	case syntax.UpperAll, syntax.LowerAll:
		if known && !f.dynamic {
			if f.odd = true; p.Exp.Op == syntax.UpperAll {
				f.text = strings.ToUpper(f.text)
			} else {
				f.text = strings.ToLower(f.text)
			}
			return f
		}
	case syntax.OtherParamOps:
		if known {
			return r.transformed(p.Exp.Word, f, unknown)
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if known {
			return r.trim(p.Exp, f, unknown)
		}
	}
	return unknown
}

// trim removes a pattern from an end of a known value, for patterns that are literal or begin or end in one star.
func (r *shellRun) trim(e *syntax.Expansion, f, unknown field) field {
	pattern := r.word(e.Word)
	if pattern.dynamic || f.dynamic {
		f.dynamic = true
		return f
	}
	suffix := e.Op == syntax.RemSmallSuffix || e.Op == syntax.RemLargeSuffix
	long := e.Op == syntax.RemLargeSuffix || e.Op == syntax.RemLargePrefix
	if !r.s.spend(len(f.text) * (len(pattern.text) + 1) / 64) {
		return unknown
	}
	best := -1
	for i := 0; i <= len(f.text); i++ {
		piece := f.text[:i]
		if suffix {
			piece = f.text[i:]
		}
		if matchGlob(pattern.text, piece) && (best < 0 || long != suffix) {
			best = i
			if suffix == long {
				break
			}
		}
		if best >= 0 && !long && !suffix {
			break
		}
	}
	if best < 0 {
		return f
	}
	if suffix {
		f.text = f.text[:best]
	} else {
		f.text = f.text[best:]
	}
	return f
}

func slice(s *syntax.Slice, f, unknown field) field {
	offset, ok := number(s.Offset)
	if !ok || f.dynamic || offset > len(f.text) || offset < -len(f.text) {
		return unknown
	}
	if offset < 0 {
		offset += len(f.text)
	}
	end := len(f.text)
	if s.Length != nil {
		length, ok := number(s.Length)
		if !ok || length < 0 {
			return unknown
		}
		end = min(end, offset+length)
	}
	f.text, f.odd = f.text[offset:end], true
	return f
}

func number(x syntax.ArithmExpr) (int, bool) {
	switch e := x.(type) {
	case *syntax.Word:
		n, err := strconv.Atoi(e.Lit())
		return n, err == nil
	case *syntax.UnaryArithm:
		n, ok := number(e.X)
		return -n, ok && e.Op == syntax.Minus
	case *syntax.ParenArithm:
		return number(e.X)
	}
	return 0, false
}

func (r *shellRun) replace(p *syntax.Replace, f, unknown field) field {
	orig, with := r.word(p.Orig), r.word(p.With)
	if f.dynamic || orig.dynamic || with.dynamic || isGlob(orig.text) || orig.text == "" {
		unknown.lead = f.lead
		return unknown
	}
	if len(f.text)*max(1, len(with.text)) > 1<<22 {
		return unknown
	}
	n := 1
	if p.All {
		n = -1
	}
	f.text, f.odd = strings.Replace(f.text, orig.text, with.text, n), true
	return f
}

// lookup returns what a variable holds: assigned earlier in the script, a positional parameter, or known everywhere.
func (r *shellRun) lookup(name string) (field, bool) {
	if v, ok := r.vars[name]; ok && v.ref {
		name = r.meant(name)
	}
	if v, ok := r.vars[name]; ok && !v.gone {
		return v.field, true
	}
	switch name {
	case "0":
		return r.zero, r.zero.text != ""
	case "HOME":
		return literal(r.s.home()), true
	case "PWD":
		if r.s.dir == "" {
			return literal("."), true
		}
		return literal(r.s.dir), true
	case "SHELL", "BASH":
		return literal("/bin/bash"), true
	case "IFS":
		return literal(" "), true
	case "TMPDIR":
		return literal(scratchVariable), true // wherever it is, it is not all of /tmp
	case "USER", "LOGNAME":
		return literal(r.s.view.User), r.s.view.User != ""
	case "PATH": // only its first character is the same everywhere
		return field{text: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, true
	case "$", "!":
		return field{text: "4242", dynamic: true}, true // some process of its own
	case "?", "#", "-", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID":
		return field{text: "0", dynamic: true}, true
	}
	if i, err := strconv.Atoi(name); err == nil && i > 0 && i <= len(r.params) {
		given := r.params[i-1]
		given.flow.handed = true
		return given, true
	}
	return field{}, false
}

// ansiC resolves the escapes of $'…'.
func ansiC(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'f', 'v', 'e', 'E':
			b.WriteByte("\n\t\r\a\b\f\v\x1b\x1b"[strings.IndexByte("ntrabfveE", c)])
		case 'x':
			i += escape(&b, text[i+1:], 16, 2, true)
		case 'u':
			i += escape(&b, text[i+1:], 16, 4, false)
		case 'U':
			i += escape(&b, text[i+1:], 16, 8, false)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += escape(&b, text[i:], 8, 3, true) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape writes the character at most width digits of the base name, and returns how many digits there were.
func escape(b *strings.Builder, text string, base, width int, isByte bool) int {
	n := 0
	for n < len(text) && n < width && strings.IndexByte("0123456789abcdefABCDEF"[:map[int]int{8: 8, 16: 22}[base]], text[n]) >= 0 {
		n++
	}
	if n == 0 {
		return 0
	}
	code, err := strconv.ParseUint(text[:n], base, 32)
	switch {
	case err != nil || code == 0:
	case isByte:
		b.WriteByte(byte(code))
	default:
		b.WriteRune(rune(code))
	}
	return n
}

// echoEscapes resolves the escapes of echo -e and of printf's %b, where an octal number has a zero in front.
func echoEscapes(text string) string {
	if !strings.Contains(text, `\0`) {
		return ansiC(text)
	}
	b := []byte(text)
	out := b[:0]
	for i := 0; i < len(b); i++ {
		out = append(out, b[i])
		if b[i] != '\\' || i+1 >= len(b) {
			continue
		}
		if i++; b[i] == '0' && i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '7' {
			continue // the zero goes; up to three digits follow
		}
		out = append(out, b[i])
	}
	return ansiC(string(out))
}

func printable(text string) bool {
	for _, c := range text {
		if c < ' ' {
			return false
		}
	}
	return true
}
