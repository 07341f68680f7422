package program

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/web"
)

// A codeSort is the sort of a token of a program.
type codeSort uint8

const (
	codeName codeSort = iota + 1
	codeString
	codeNumber
	codeMark
)

// A codeToken is one token of a program. A string's text is its value. One that is computed in part (an f-string, a
// template) has its pieces in parts instead.
type codeToken struct {
	kind   codeSort
	line   bool  // it is the first of a logical line in Python, and of any line in JavaScript
	ticked bool  // a template, which may be called
	indent int32 // column of the first token of a line
	pair   int32 // of a bracket: where its other one is, or -1
	text   string
	parts  []codePart
}

// A codePart is a piece of a string: text as it is, or the source of an expression.
type codePart struct {
	text     string
	computed bool
}

func (t codeToken) is(mark string) bool { return t.kind == codeMark && t.text == mark }

// A codeReader turns Python or JavaScript into tokens in one pass. It is no parser: it knows where strings and comments
// end, which is what keeps data from being taken for code.
type codeReader struct {
	in       string
	at       int
	script   bool    // JavaScript
	open     bool    // a string is not closed
	fresh    bool    // a line has begun and has no token yet
	begins   int     // where the line begins
	literal  int     // up to here no expression in a string has an end
	brackets []int32 // the open ones
	deepest  int
	doubtful bool // a slash may begin a regular expression or divide
	slashes  bool // such slashes begin one
	tokens   []codeToken
}

func readCode(in string, script bool) *codeReader { return readCodeAs(in, script, false) }

// readCodeAs takes a slash for the beginning of a regular expression where that is not certain.
func readCodeAs(in string, script, slashes bool) *codeReader {
	in = plainLines(in, script)
	r := &codeReader{in: in, script: script, slashes: slashes, fresh: true, tokens: make([]codeToken, 0, len(in)/4+2)}
	for r.at < len(in) && len(r.tokens) <= fact.MaxWork { // beyond it the count alone refuses
		r.next()
	}
	return r
}

// plainLines gives a program the one kind of line end, and drops the mark that files may begin with. Both languages end a
// line, and with it a comment, at a carriage return; JavaScript also at two separators that look like nothing.
func plainLines(in string, script bool) string {
	in = strings.TrimPrefix(in, "\ufeff")
	if strings.IndexByte(in, '\r') >= 0 {
		in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	}
	if script && (strings.Contains(in, "\u2028") || strings.Contains(in, "\u2029")) {
		in = strings.ReplaceAll(strings.ReplaceAll(in, "\u2028", "\n"), "\u2029", "\n")
	}
	return in
}

// wideBlank returns the length of a blank of more than one byte at i, which JavaScript takes for a blank, or 0.
func wideBlank(in string, i int) int {
	if in[i] < 0xc2 {
		return 0
	}
	c, n := utf8.DecodeRuneInString(in[i:])
	if c == 0xfeff || unicode.Is(unicode.Zs, c) {
		return n
	}
	return 0
}

// push adds the token that begins where the reader is.
func (r *codeReader) push(kind codeSort, text string) { r.pushToken(codeToken{kind: kind, text: text}) }

func (r *codeReader) pushToken(t codeToken) {
	t.line, t.indent, t.pair = r.fresh, int32(max(0, r.at-r.begins)), -1
	r.fresh = false
	r.tokens = append(r.tokens, t)
}

// next reads one token, or what is between tokens.
func (r *codeReader) next() {
	in, c := r.in, r.in[r.at]
	if (c == '!' || c == '%') && r.cellLine() || r.prompt() || r.blank() || r.comment() {
		return
	}
	switch {
	case c == '"' || c == '\'':
		r.text("", c)
	case c == '`' && r.script:
		r.template()
	case c == '/' && r.script && r.regexAllowed():
		r.regex()
	case isCodeName(c) && !(c >= '0' && c <= '9'), r.script && strings.HasPrefix(in[r.at:], `\u`):
		r.name()
	case c >= '0' && c <= '9':
		r.number()
	default:
		r.mark(c)
	}
}

// prompt passes what an interpreter of Python prompts with.
func (r *codeReader) prompt() bool {
	if rest := r.in[r.at:]; !r.fresh || r.script || !strings.HasPrefix(rest, ">>> ") && !strings.HasPrefix(rest, "... ") {
		return false
	}
	r.at += 4
	r.begins = r.at
	return true
}

// blank passes what separates tokens: blanks, and line ends, which end a statement outside brackets.
func (r *codeReader) blank() bool {
	switch c := r.in[r.at]; {
	case c == '\n':
		r.at++
		if len(r.brackets) == 0 || r.script {
			r.fresh, r.begins = true, r.at
		}
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		r.at++
	case c == '\\' && r.at+1 < len(r.in) && r.in[r.at+1] == '\n':
		r.at += 2
	default:
		if !r.script {
			return false
		}
		wide := wideBlank(r.in, r.at)
		r.at += wide
		return wide > 0
	}
	return true
}

// comment passes a comment. A # begins one in Python, and in JavaScript only in front of everything.
func (r *codeReader) comment() bool {
	rest := r.in[r.at:]
	switch {
	case rest[0] == '#' && (!r.script || r.at == 0), r.script && strings.HasPrefix(rest, "//"):
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			r.at += end
		} else {
			r.at = len(r.in)
		}
	case r.script && strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			r.at += end + 4
		} else {
			r.at, r.open = len(r.in), true
		}
	default:
		return false
	}
	return true
}

func (r *codeReader) number() {
	end := r.at
	for end < len(r.in) && (isCodeName(r.in[end]) || r.in[end] == '.') {
		end++
	}
	r.push(codeNumber, r.in[r.at:end])
	r.at = end
}

func (r *codeReader) mark(c byte) {
	rest := r.in[r.at:]
	if len(rest) > 3 {
		rest = rest[:3]
	}
	switch c {
	case '(', '[', '{':
		r.push(codeMark, rest[:1])
		r.brackets = append(r.brackets, int32(len(r.tokens)-1))
		r.deepest = max(r.deepest, len(r.brackets))
		r.at++
		return
	case ')', ']', '}':
		r.push(codeMark, rest[:1])
		if n := len(r.brackets); n > 0 {
			opened := r.brackets[n-1]
			r.tokens[opened].pair, r.tokens[len(r.tokens)-1].pair = int32(len(r.tokens)-1), opened
			r.brackets = r.brackets[:n-1]
		}
		r.at++
		return
	}
	n := markLength(rest, r.script)
	r.push(codeMark, rest[:n])
	r.at += n
}

// markLength returns how many bytes of rest are one operator.
func markLength(rest string, script bool) int {
	if len(rest) == 3 {
		switch rest {
		case "===", "!==", "...", "**=", "//=", "??=", "||=", "&&=", "<<=", ">>=":
			return 3
		}
	}
	if len(rest) >= 2 {
		switch rest[:2] {
		case "==", "!=", "=>", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", ":=", "?.", "??", "**", "//", "&&",
			"||", "<<", ">>", "->":
			return 2
		case "++", "--":
			if script {
				return 2
			}
		}
	}
	return 1
}

func isCodeName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (r *codeReader) name() {
	end, wide := r.at, false
	for end < len(r.in) && (isCodeName(r.in[end]) || r.script && strings.HasPrefix(r.in[end:], `\u`)) {
		if r.script && r.in[end] >= 0xc2 && wideBlank(r.in, end) > 0 {
			break
		}
		wide = wide || r.in[end] >= 0x80 || r.in[end] == '\\'
		end++
	}
	word := r.in[r.at:end]
	if wide {
		word = plainName(word, r.script)
	}
	if !r.script && len(word) <= 3 && end < len(r.in) && (r.in[end] == '"' || r.in[end] == '\'') &&
		strings.Trim(strings.ToLower(word), "rbfut") == "" {
		r.at = end
		r.text(strings.ToLower(word), r.in[end])
		return
	}
	r.push(codeName, word)
	r.at = end
}

// plainName gives a name as the language understands it: Python takes letters of other widths and faces for the plain ones,
// JavaScript takes escapes.
func plainName(word string, script bool) string {
	var out strings.Builder
	if script {
		for i := 0; i < len(word); {
			if strings.HasPrefix(word[i:], `\u`) {
				i = unescape(&out, word, i)
				continue
			}
			out.WriteByte(word[i])
			i++
		}
		return out.String()
	}
	for _, c := range web.FoldWide(word) {
		if c >= 0x1d400 && c <= 0x1d6a3 { // the faces of mathematics, 26 capitals and 26 small letters each
			if n := (c - 0x1d400) % 52; n < 26 {
				c = 'A' + n
			} else {
				c = 'a' + n - 26
			}
		}
		out.WriteRune(c)
	}
	return out.String()
}
