package foreign

import (
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Kinds of foreignToken.
const (
	foreignName    = 'n' // with its sigil, if the language writes one
	foreignText    = 's' // a quoted text; raw is how it was written if something may be put into it
	foreignNumber  = 'd'
	foreignOp      = 'o'
	foreignCommand = 'b' // a command in backquotes
	foreignPattern = 'r' // a regular expression, or what reads a line: nothing happens in it
	foreignLine    = 'l' // the end of a line
)

// A foreignToken is one word of a program.
type foreignToken struct {
	kind  byte
	text  string
	fills bool // values of variables are put into the text
	space bool // white space comes before it
}

func (t *foreignToken) is(text string) bool { return t.kind == foreignOp && t.text == text }

// A foreignLexer cuts a program into words. It reads every byte once.
type foreignLexer struct {
	lang   *know.Language
	text   string
	at     int
	out    []foreignToken
	here   []foreignHere // here-documents that begin on the next line
	gap    bool          // white space is before what comes
	broken bool          // something put into a text does not end, so that nobody looks again
	level  int           // programs inside patterns of programs
}

// A foreignHere is a here-document announced on a line.
type foreignHere struct {
	end   string
	token int
}

const maxForeignTokens = 1 << 16

// foreignOps are the operators of more than one character by the first, longest first.
var foreignOps = [128][]string{
	'<': {"<=>", "<<=", "<<<", "<-", "<<", "<=", "<>"},
	'*': {"**=", "*=", "**"},
	'|': {"||=", "|>", "|&", "||"},
	'&': {"&&=", "&&", "&."},
	'/': {"//=", "/=", "//"},
	'.': {"...", "..", ".="},
	'=': {"===", "=>", "==", "=~"},
	'!': {"!==", "!=", "!~"},
	'>': {">>=", ">>", ">="},
	'%': {"%>%", "%="},
	':': {"::", ":="},
	'-': {"->", "-=", "--"},
	'+': {"+=", "++"},
	'~': {"~="},
	'?': {"?.", "?:"},
}

// tokens cuts text into words; false says that it was too much.
func tokens(l *know.Language, text string, spend func(int) bool) ([]foreignToken, bool) {
	x := &foreignLexer{lang: l, text: text, out: make([]foreignToken, 0, min(len(text)/2+1, 32))}
	for x.at < len(text) {
		if len(x.out)%64 == 63 && !spend(16) || len(x.out) > maxForeignTokens {
			return nil, false
		}
		before := x.at
		x.next()
		x.at = max(x.at, before+1)
	}
	return x.out, true
}

func (x *foreignLexer) add(kind byte, text string, fills bool) {
	x.out = append(x.out, foreignToken{kind: kind, text: text, fills: fills, space: x.gap})
	x.gap = false
}

func (x *foreignLexer) byteAt(i int) byte {
	if i >= 0 && i < len(x.text) {
		return x.text[i]
	}
	return 0
}

// ended reports whether a value has just ended, so that what follows is an operator.
func (x *foreignLexer) ended() bool {
	if len(x.out) == 0 {
		return false
	}
	switch t := &x.out[len(x.out)-1]; t.kind {
	case foreignOp:
		return t.text == ")" || t.text == "]" || t.text == "}"
	case foreignName:
		return !x.lang.Keywords[t.text] && !(x.lang.Bare && callable(x.lang, t.text) && x.gap)
	case foreignLine:
		return false
	}
	return true
}

func (x *foreignLexer) next() {
	c, rest := x.text[x.at], x.text[x.at:]
	switch {
	case c == '\n':
		x.add(foreignLine, "", false)
		x.at++
		x.documents()
		return
	case c == ' ' || c == '\t' || c == '\r':
		x.gap = true
		x.at++
		return
	case c == '\\' && x.byteAt(x.at+1) == '\n':
		x.at += 2
		return
	case x.comment(rest) || x.quoted(c, rest):
		return
	case lex.IsNameStart(c) || c >= 0x80:
		x.word(x.at, x.at)
		return
	case c >= '0' && c <= '9':
		end := x.at
		for end < len(x.text) && (lex.IsNameStart(x.text[end]) || x.text[end] >= '0' && x.text[end] <= '9' ||
			x.text[end] == '.' && x.byteAt(end+1) >= '0' && x.byteAt(end+1) <= '9') {
			end++
		}
		x.add(foreignNumber, x.text[x.at:end], false)
		x.at = end
		return
	case x.sigil(c):
		return
	}
	for _, op := range foreignOps[c&0x7f] {
		if strings.HasPrefix(rest, op) {
			x.add(foreignOp, op, false)
			x.at += len(op)
			return
		}
	}
	x.add(foreignOp, rest[:1], false)
	x.at++
}

// word reads a name that begins at from and whose letters begin at i.
func (x *foreignLexer) word(from, i int) {
	for i < len(x.text) && (lex.IsNameStart(x.text[i]) || x.text[i] >= '0' && x.text[i] <= '9' || x.text[i] >= 0x80 ||
		x.text[i] == '.' && x.lang.Syntax == "r") {
		i++
	}
	if c := x.byteAt(i); (c == '!' || c == '?') &&
		(x.lang.Syntax == "ruby" || x.lang.Syntax == "elixir" || x.lang.Syntax == "julia" && c == '!') && x.byteAt(i+1) != '=' {
		i++
	}
	x.add(foreignName, x.text[from:i], false)
	x.at = i
}

// sigil reads a name with a sign before it: $x, @x, %h, :symbol.
func (x *foreignLexer) sigil(c byte) bool {
	next := x.byteAt(x.at + 1)
	switch syntax := x.lang.Syntax; {
	case c == '$' && (syntax == "perl" || syntax == "php" || syntax == "ruby" || syntax == "vim"):
		if lex.IsNameStart(next) {
			x.word(x.at, x.at+1)
			return true
		}
		if next != '{' && next != '$' && next != 0 && next != '(' {
			x.add(foreignName, x.text[x.at:x.at+2], false)
			x.at += 2
			return true
		}
	case c == '@' && (syntax == "perl" || syntax == "ruby"), c == '%' && syntax == "perl" && !x.ended():
		for next == '@' {
			x.at++
			next = x.byteAt(x.at + 1)
		}
		if lex.IsNameStart(next) {
			x.word(x.at, x.at+1)
			return true
		}
	case c == ':' && (syntax == "ruby" || syntax == "elixir") && lex.IsNameStart(next) && (!x.ended() || x.gap) &&
		x.byteAt(x.at-1) != ':':
		x.symbol()
		return true
	case c == '-' && syntax == "perl" && lex.IsNameStart(next) && !lex.IsNameStart(x.byteAt(x.at+2)) && !x.ended(): // -e $file
		x.at += 2
		return true
	}
	return false
}

// symbol reads :name, which is a text or, in Elixir, mostly the name of a module.
func (x *foreignLexer) symbol() {
	end := x.at + 1
	for lex.IsNameStart(x.byteAt(end)) || x.byteAt(end) >= '0' && x.byteAt(end) <= '9' {
		end++
	}
	kind, from := byte(foreignText), x.at+1
	if x.lang.Syntax == "elixir" {
		kind, from = foreignName, x.at
	}
	x.add(kind, x.text[from:end], false)
	x.at = end
}

func (x *foreignLexer) comment(rest string) bool {
	if x.page(rest) {
		return true
	}
	for _, mark := range x.lang.Comments {
		if !strings.HasPrefix(rest, mark) || mark == "#" && x.lang.Syntax == "php" && strings.HasPrefix(rest, "#[") {
			continue
		}
		end := strings.IndexByte(rest, '\n')
		closing := map[string]string{"/*": "*/", "--[[": "]]", "#=": "=#"}[mark]
		if closing != "" {
			if end = strings.Index(rest, closing); end >= 0 {
				end += len(closing)
			}
		}
		if end < 0 {
			end = len(rest)
		}
		x.at += end
		return true
	}
	return false
}

// quoted reads a text in quotes of whatever form the language has.
func (x *foreignLexer) quoted(c byte, rest string) bool {
	switch {
	case strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''") && x.lang.Syntax == "groovy":
		x.until(rest[:3], 3, rest[0] == '"')
	case c == '"':
		x.plain('"', foreignText, puts(x.lang))
	case c == '\'' && x.lang.Syntax != "awk" && !(x.lang.Syntax == "julia" && x.ended()):
		x.plain('\'', foreignText, false)
	case c == '`':
		return x.backquoted()
	case c == '/' && x.lang.Regex && !x.ended():
		x.plain('/', foreignPattern, false)
		x.flags()
	case c == '[' && x.lang.Syntax == "lua" && x.byteAt(x.at+1) == '[':
		x.until("]]", 2, false)
	case c == '%' && x.lang.Syntax == "ruby" && !x.ended():
		return x.percent()
	case c == '~' && x.lang.Syntax == "elixir" && lex.IsNameStart(x.byteAt(x.at+1)):
		x.at++
		kind := byte(foreignText)
		if x.text[x.at]|0x20 == 'r' {
			kind = foreignPattern
		}
		x.at++
		x.delimited(kind, true)
	case strings.HasPrefix(rest, "<<"):
		return x.heredoc(rest)
	case c == '<' && x.lang.Syntax == "perl" && !x.ended():
		return x.angle(rest)
	case lex.IsNameStart(c) && x.lang.Syntax == "perl":
		return x.perlQuote(rest)
	default:
		return false
	}
	return true
}

// backquoted reads what is in backquotes: a name, or a command that is run.
func (x *foreignLexer) backquoted() bool {
	switch x.lang.Syntax {
	case "r":
		x.plain('`', foreignName, false)
	case "perl", "ruby", "php", "julia":
		x.plain('`', foreignCommand, true)
	default:
		return false
	}
	return true
}

// plain reads a text up to the next such quote that has no backslash before it.
func (x *foreignLexer) plain(quote byte, kind byte, fills bool) {
	start := x.at + 1
	i := start
	for i < len(x.text) && x.text[i] != quote {
		if kind == foreignPattern && x.text[i] == '\n' {
			break
		}
		if x.text[i] == '\\' {
			i++
		} else if fills {
			i = x.filled(i)
		}
		i++
	}
	i = min(i, len(x.text))
	x.literal(kind, x.text[start:i], fills, quote)
	x.at = i + 1
}

// filled skips what is put into a text at i, in which quotes do not end it: #{…}, ${…}, @{…}, $(…).
func (x *foreignLexer) filled(i int) int {
	c, open := x.text[i], x.byteAt(i+1)
	if c != '#' && c != '$' && c != '@' || open != '{' && (open != '(' || x.lang.Syntax != "julia") || x.broken {
		return i
	}
	shut, depth := byte('}'), 0
	if open == '(' {
		shut = ')'
	}
	for j := i + 1; j < len(x.text); j++ {
		switch x.text[j] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	x.broken = true
	return i
}

// literal adds a text. One that values are put into is resolved when it is reached.
func (x *foreignLexer) literal(kind byte, raw string, fills bool, quote byte) {
	switch {
	case fills:
	case quote == '"':
		raw = lex.AnsiC(raw)
	case quote != 0 && strings.IndexByte(raw, '\\') >= 0:
		raw = strings.ReplaceAll(strings.ReplaceAll(raw, `\'`, "'"), `\\`, `\`)
		if x.lang.Syntax == "lua" || x.lang.Syntax == "r" || x.lang.Syntax == "elixir" || x.lang.Syntax == "groovy" {
			raw = lex.AnsiC(raw)
		}
	}
	x.add(kind, raw, fills)
}

func (x *foreignLexer) until(end string, skip int, fills bool) {
	start := x.at + skip
	stop := strings.Index(x.text[start:], end)
	if stop < 0 {
		stop = len(x.text) - start
	}
	x.literal(foreignText, x.text[start:start+stop], fills, 0)
	x.at = start + stop + len(end)
}

func (x *foreignLexer) flags() {
	for lex.IsNameStart(x.byteAt(x.at)) {
		x.at++
	}
}

// page reads documentation that is between lines of its own: =begin and =end, =pod and =cut.
func (x *foreignLexer) page(rest string) bool {
	if rest[0] != '=' || x.at > 0 && x.text[x.at-1] != '\n' || !lex.IsNameStart(x.byteAt(x.at+1)) {
		return false
	}
	end := map[string]string{"perl": "\n=cut", "ruby": "\n=end"}[x.lang.Syntax]
	if end == "" {
		return false
	}
	if at := strings.Index(rest, end); at >= 0 {
		rest = rest[:at+len(end)]
	}
	x.at += len(rest)
	return true
}

// puts reports whether values are put into texts in double quotes.
func puts(l *know.Language) bool {
	return l.Syntax != "lua" && l.Syntax != "r" && l.Syntax != "awk" && l.Syntax != "vim"
}
