package foreign

import (
	"strings"

	"interlock/internal/lex"
)

// The quotes that languages with many of them have: Perl's q{} and s///, Ruby's %w[], here-documents.

// delimited reads what is between the bracket or sign at the place reached and the one that belongs to it.
func (x *foreignLexer) delimited(kind byte, fills bool) {
	raw := x.between()
	x.literal(kind, raw, fills, 0)
}

func (x *foreignLexer) between() string {
	if x.at >= len(x.text) {
		return ""
	}
	open := x.text[x.at]
	shut, nested := open, false
	if at := strings.IndexByte("({[<", open); at >= 0 {
		shut, nested = ")}]>"[at], true
	}
	depth, i := 1, x.at+1
	for ; i < len(x.text); i++ {
		switch c := x.text[i]; {
		case c == '\\':
			i++
			continue
		case c == shut:
			depth--
		case nested && c == open:
			depth++
		}
		if depth == 0 {
			break
		}
	}
	i = min(i, len(x.text))
	raw := x.text[min(x.at+1, i):i]
	x.at = i + 1
	return raw
}

// percent reads Ruby's %w[a b], %x{command}, %q(text), %(text).
func (x *foreignLexer) percent() bool {
	kind, from := byte('Q'), x.at+1
	if c := x.byteAt(from); lex.IsNameStart(c) {
		kind, from = c, from+1
	}
	if c := x.byteAt(from); strings.IndexByte("wWiIqQxr", kind) < 0 || c <= ' ' || lex.IsNameStart(c) || c >= '0' &&
		c <= '9' || c == '=' {
		return false
	}
	x.at = from
	switch kind {
	case 'w', 'W', 'i', 'I':
		x.list(x.between())
	case 'x':
		x.delimited(foreignCommand, true)
	case 'r':
		x.delimited(foreignPattern, false)
		x.flags()
	default:
		x.delimited(foreignText, kind == 'Q')
	}
	return true
}

// list adds a list of words.
func (x *foreignLexer) list(raw string) {
	x.add(foreignOp, "[", false)
	for _, word := range strings.Fields(raw) {
		x.add(foreignText, word, false)
		x.add(foreignOp, ",", false)
	}
	x.add(foreignOp, "]", false)
}

// perlQuote reads q, qq, qw, qx, qr, m, s, tr and y with the delimiters they are given.
func (x *foreignLexer) perlQuote(rest string) bool {
	if c := x.byteAt(x.at - 1); c == '$' || c == '@' || c == '%' || c == '>' || c == '&' || c == '{' && x.hashKey(rest) {
		return false
	}
	word := ""
	for _, w := range [...]string{"qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"} {
		if strings.HasPrefix(rest, w) {
			word = w
			break
		}
	}
	c := x.byteAt(x.at + len(word))
	after := x.at + len(word)
	if word != "" && c == ' ' && len(word) == 2 && word[0] == 'q' { // qw (a b)
		after = lex.SkipAny(x.text, after, " ")
		if c = x.byteAt(after); strings.IndexByte("({[</", c) < 0 {
			return false
		}
	}
	if word == "" || c <= ' ' || lex.IsNameStart(c) || c >= '0' && c <= '9' || strings.IndexByte(",;)=.", c) >= 0 || c == '-' &&
		x.byteAt(after+1) == '>' {
		return false
	}
	x.at = after
	switch word {
	case "q":
		x.delimited(foreignText, false)
	case "qq":
		x.delimited(foreignText, true)
	case "qw":
		x.list(x.between())
	case "qx":
		x.delimited(foreignCommand, true)
	case "m", "qr":
		x.delimited(foreignPattern, false)
		x.flags()
	default:
		x.substitution(word, c)
	}
	return true
}

// hashKey reports whether a word in braces is the key of a table and no quote: $h{s}, $h{y}.
func (x *foreignLexer) hashKey(rest string) bool {
	end := strings.IndexByte(rest[:min(len(rest), 4)], '}')
	return end > 0
}

// maxForeignLevel bounds programs inside texts of programs, since each is cut into words once more.
const maxForeignLevel = 4

// substitution reads s/pattern/replacement/flags. With the flag e the replacement is a program, which is read in its place.
func (x *foreignLexer) substitution(word string, open byte) {
	x.between()
	if strings.IndexByte("({[<", open) >= 0 {
		x.at = lex.SkipAny(x.text, x.at, " \t\n")
	} else {
		x.at-- // the sign in the middle ends one part and begins the next
	}
	replacement := x.between()
	from := x.at
	x.flags()
	x.add(foreignPattern, "", false)
	if word != "s" || strings.IndexByte(x.text[min(from, len(x.text)):min(x.at, len(x.text))], 'e') < 0 ||
		x.level >= maxForeignLevel {
		return
	}
	inner := &foreignLexer{lang: x.lang, text: replacement, level: x.level + 1}
	for inner.at < len(replacement) && len(inner.out) < maxForeignTokens {
		before := inner.at
		inner.next()
		inner.at = max(inner.at, before+1)
	}
	x.add(foreignOp, ";", false)
	x.out = append(x.out, inner.out...)
	x.add(foreignOp, ";", false)
}

// angle reads Perl's <FILE>, <$file> and <*.c>.
func (x *foreignLexer) angle(rest string) bool {
	end := strings.IndexAny(rest[:min(len(rest), 256)], "> \n;")
	if end < 0 || rest[end] != '>' {
		return false
	}
	if inner := rest[1:end]; strings.ContainsAny(inner, "*?/~") {
		x.add(foreignName, "glob", false)
		x.add(foreignOp, "(", false)
		x.add(foreignText, inner, true)
		x.add(foreignOp, ")", false)
	} else {
		x.add(foreignPattern, "", false)
	}
	x.at += end + 1
	return true
}

// heredoc notes a here-document: <<"E", <<~E, <<<E.
func (x *foreignLexer) heredoc(rest string) bool {
	syntax := x.lang.Syntax
	if syntax != "perl" && syntax != "ruby" && syntax != "php" || x.ended() && !x.gap || len(x.here) >= 8 {
		return false
	}
	i := lex.SkipAny(rest, 2, "<~-")
	quote := byte('"')
	if i < len(rest) && (rest[i] == '"' || rest[i] == '\'') {
		quote = rest[i]
		i++
	}
	start := i
	for i < len(rest) && (lex.IsNameStart(rest[i]) || rest[i] >= '0' && rest[i] <= '9') {
		i++
	}
	if i == start || rest[start] >= '0' && rest[start] <= '9' {
		return false
	}
	x.here = append(x.here, foreignHere{end: rest[start:i], token: len(x.out)})
	x.add(foreignText, "", quote == '"')
	if i < len(rest) && rest[i] == quote {
		i++
	}
	x.at += i
	return true
}

// documents reads the here-documents that the line before announced.
func (x *foreignLexer) documents() {
	for _, h := range x.here {
		start := x.at
		for x.at < len(x.text) {
			line, _, _ := strings.Cut(x.text[x.at:], "\n")
			begin := x.at
			x.at = min(len(x.text), x.at+len(line)+1)
			if word := strings.TrimSpace(line); strings.TrimRight(word, ";,)") == h.end {
				x.out[h.token].text = x.text[start:begin]
				break
			}
			if x.at >= len(x.text) {
				x.out[h.token].text = x.text[start:]
			}
		}
	}
	x.here = nil
}
