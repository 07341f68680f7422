package shell

import (
	"strconv"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// scratchVariable represents what TMPDIR holds.
const scratchVariable = "/tmp/TMPDIR"

// substitute runs a command substitution and takes its output if that is constant.
func (r *shellRun) substitute(p *syntax.CmdSubst) flow.Field {
	// ``` begins a block of text
	if end := int(p.End().Offset()); len(p.Stmts) == 0 && !(p.Backquotes && end < len(r.Src) && r.Src[end] == '`') {
		return flow.Field{}
	}
	out := r.subshell(func() flow.Flow {
		return r.deeper(func() flow.Flow {
			if len(p.Stmts) == 1 && p.Stmts[0].Cmd == nil && len(p.Stmts[0].Redirs) == 1 { // $(< file)
				return r.redirects(p.Stmts[0], flow.Flow{}).In
			}
			return r.stmts(p.Stmts, flow.Flow{})
		})
	})
	if out.Endless {
		r.gathers("$(…)")
		out.Endless = false
	}
	if out.Known {
		text := strings.TrimRight(out.Text, "\n")
		out.Known, out.Text = false, ""
		return flow.Field{Text: text, Odd: true, Flow: out}
	}
	if len(out.Items) > 0 {
		f := out.Items[0]
		out.Items = nil
		f.Flow.Taint(out)
		return f
	}
	out.Items = nil
	return flow.Field{Text: r.source(p), Dynamic: true, Lead: true, Flow: out}
}

// param expands a parameter.
func (r *shellRun) param(p *syntax.ParamExp) flow.Field {
	unknown := flow.Field{Text: r.source(p), Dynamic: true, Lead: true}
	if p.Exp != nil && p.Exp.Word != nil {
		unknown.Flow.Taint(r.word(p.Exp.Word).Flow)
	}
	if p.Param == nil || p.Length || p.Width || p.Names != 0 {
		return unknown
	}
	name := p.Param.Value
	f, known := r.lookup(name)
	if !known && p.Index == nil && !masked(p) {
		unknown.Flow.Named = r.secretName(name)
	}
	if p.Excl && known && !f.Dynamic {
		f, known = r.lookup(f.Text)
	}
	if p.Index != nil {
		f, known = r.element(name, p.Index)
	}
	switch {
	case p.Exp != nil:
		return r.expansion(p, f, known, unknown)
	case !known && r.noParameter(name):
		return flow.Field{}
	case !known:
		unknown.Unset = true
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

func (r *shellRun) element(name string, index syntax.ArithmExpr) (flow.Field, bool) {
	v := r.vars[r.meant(name)]
	if !r.S.Spend(len(v.Keys) / 16) {
		return flow.Field{}, false
	}
	return element(v, r.key(index))
}

// expansion handles ${x:-word} and its kin.
func (r *shellRun) expansion(p *syntax.ParamExp, f flow.Field, known bool, unknown flow.Field) flow.Field {
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known {
			return f
		}
		def := r.word(p.Exp.Word)
		if def.Text == "" {
			unknown.Unset = true
			return unknown
		}
		def.Flow.Taint(flow.Flow{Named: unknown.Flow.Named})
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			r.set(p.Param.Value, flow.VarValue(def))
		}
		return def
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull: // if it is not set, this is nothing: then less happens
		if r.vars[p.Param.Value].Gone || known && f.Text == "" && !f.Dynamic {
			return flow.Field{}
		}
		return r.word(p.Exp.Word)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if known {
			return f
		}
		return unknown // the shell stops if it is empty: not the hazard an unset variable is
	case syntax.UpperAll, syntax.LowerAll:
		if known && !f.Dynamic {
			if f.Odd = true; p.Exp.Op == syntax.UpperAll {
				f.Text = strings.ToUpper(f.Text)
			} else {
				f.Text = strings.ToLower(f.Text)
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
func (r *shellRun) trim(e *syntax.Expansion, f, unknown flow.Field) flow.Field {
	pattern := r.word(e.Word)
	if pattern.Dynamic || f.Dynamic {
		f.Dynamic = true
		return f
	}
	suffix := e.Op == syntax.RemSmallSuffix || e.Op == syntax.RemLargeSuffix
	long := e.Op == syntax.RemLargeSuffix || e.Op == syntax.RemLargePrefix
	if !r.S.Spend(len(f.Text) * (len(pattern.Text) + 1) / 64) {
		return unknown
	}
	best := -1
	for i := 0; i <= len(f.Text); i++ {
		piece := f.Text[:i]
		if suffix {
			piece = f.Text[i:]
		}
		if know.MatchGlob(pattern.Text, piece) && (best < 0 || long != suffix) {
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
		f.Text = f.Text[:best]
	} else {
		f.Text = f.Text[best:]
	}
	return f
}

func slice(s *syntax.Slice, f, unknown flow.Field) flow.Field {
	offset, ok := number(s.Offset)
	if !ok || f.Dynamic || offset > len(f.Text) || offset < -len(f.Text) {
		return unknown
	}
	if offset < 0 {
		offset += len(f.Text)
	}
	end := len(f.Text)
	if s.Length != nil {
		length, ok := number(s.Length)
		if !ok || length < 0 {
			return unknown
		}
		end = min(end, offset+length)
	}
	f.Text, f.Odd = f.Text[offset:end], true
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

func (r *shellRun) replace(p *syntax.Replace, f, unknown flow.Field) flow.Field {
	orig, with := r.word(p.Orig), r.word(p.With)
	if f.Dynamic || orig.Dynamic || with.Dynamic || know.IsGlob(orig.Text) || orig.Text == "" {
		unknown.Lead = f.Lead
		return unknown
	}
	if len(f.Text)*max(1, len(with.Text)) > 1<<22 {
		return unknown
	}
	n := 1
	if p.All {
		n = -1
	}
	f.Text, f.Odd = strings.Replace(f.Text, orig.Text, with.Text, n), true
	return f
}

// lookup returns what a variable holds: assigned earlier in the script, a positional parameter, or known everywhere.
func (r *shellRun) lookup(name string) (flow.Field, bool) {
	if v, ok := r.vars[name]; ok && v.Ref {
		name = r.meant(name)
	}
	if v, ok := r.vars[name]; ok && !v.Gone {
		return v.Field, true
	}
	switch name {
	case "0":
		return r.zero, r.zero.Text != ""
	case "HOME":
		return flow.Literal(r.S.Home()), true
	case "PWD":
		if r.S.Dir == "" {
			return flow.Literal("."), true
		}
		return flow.Literal(r.S.Dir), true
	case "SHELL", "BASH":
		return flow.Literal("/bin/bash"), true
	case "IFS":
		return flow.Literal(" "), true
	case "TMPDIR":
		return flow.Literal(scratchVariable), true // wherever it is, it is not all of /tmp
	case "INTERLOCK_HOME":
		if dir, known := r.S.SelfHome(); known {
			return flow.Literal(dir), true
		}
	case "USER", "LOGNAME":
		return flow.Literal(r.S.View.User), r.S.View.User != ""
	case "PATH": // only its first character is the same everywhere
		return flow.Field{Text: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, true
	case "_":
		return r.final, r.final.Text != ""
	case "$", "!":
		return flow.Field{Text: "4242", Dynamic: true}, true // some process of its own
	case "?", "#", "-", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID":
		return flow.Field{Text: "0", Dynamic: true}, true
	}
	if i, err := strconv.Atoi(name); err == nil && i > 0 && i <= len(r.params) {
		given := r.params[i-1]
		given.Flow.Handed = true
		return given, true
	}
	return flow.Field{}, false
}

// echoEscapes resolves the escapes of echo -e and of printf's %b, where an octal number has a zero in front.
func echoEscapes(text string) string {
	if !strings.Contains(text, `\0`) {
		return lex.AnsiC(text)
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
	return lex.AnsiC(string(out))
}

func printable(text string) bool {
	for _, c := range text {
		if c < ' ' {
			return false
		}
	}
	return true
}
