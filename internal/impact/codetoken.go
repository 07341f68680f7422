package impact

import (
	"strings"
	"unicode/utf8"
)

// The sorts of tokens of a program.
type codeSort uint8

const (
	codeName codeSort = iota + 1
	codeString
	codeNumber
	codeMark
	codeLine // end of a logical line
)

// A codeToken is one token of a program. A string's text is its value; where it is computed in part (an f-string, a
// template) dynamic is set and the computed parts are left out of the text.
type codeToken struct {
	kind    codeSort
	text    string
	dynamic bool
}

func (t codeToken) is(mark string) bool { return t.kind == codeMark && t.text == mark }

// A codeReader turns Python or JavaScript into tokens in one pass. It is no parser: it knows where strings and comments
// end, which is what keeps data from being taken for code.
type codeReader struct {
	in       string
	at       int
	script   bool // JavaScript
	nesting  int  // open brackets
	deepest  int
	tokens   []codeToken
	computed []string // expressions inside f-strings and templates, to be read as code
	open     bool     // a string is not closed
}

func readCode(in string, script bool) *codeReader {
	r := &codeReader{in: in, script: script, tokens: make([]codeToken, 0, len(in)/5+4)}
	for r.at < len(in) && len(r.tokens) <= maxWork { // beyond it the count alone refuses
		r.next()
	}
	return r
}

func (r *codeReader) push(kind codeSort, text string) {
	r.tokens = append(r.tokens, codeToken{kind: kind, text: text})
}

func (r *codeReader) next() {
	in, c := r.in, r.in[r.at]
	switch {
	case c == '\n':
		r.at++
		if r.nesting == 0 || r.script {
			r.push(codeLine, "")
		}
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		r.at++
	case c == '\\' && r.at+1 < len(in) && in[r.at+1] == '\n':
		r.at += 2
	case c == '#' && !r.script, r.script && strings.HasPrefix(in[r.at:], "//"), c == '#' && r.script && r.at == 0:
		if end := strings.IndexByte(in[r.at:], '\n'); end >= 0 {
			r.at += end
		} else {
			r.at = len(in)
		}
	case r.script && strings.HasPrefix(in[r.at:], "/*"):
		if end := strings.Index(in[r.at+2:], "*/"); end >= 0 {
			r.at += end + 4
		} else {
			r.at, r.open = len(in), true
		}
	case c == '"' || c == '\'':
		r.text("", c)
	case c == '`' && r.script:
		r.template()
	case c == '/' && r.script && r.regexAllowed():
		r.regex()
	case isCodeName(c) && !(c >= '0' && c <= '9'):
		r.name()
	case c >= '0' && c <= '9':
		start := r.at
		for r.at < len(in) && (isCodeName(in[r.at]) || in[r.at] == '.') {
			r.at++
		}
		r.push(codeNumber, in[start:r.at])
	default:
		r.mark(c)
	}
}

func (r *codeReader) mark(c byte) {
	switch c {
	case '(', '[', '{':
		r.nesting++
		r.deepest = max(r.deepest, r.nesting)
	case ')', ']', '}':
		r.nesting = max(0, r.nesting-1)
	}
	for _, two := range [...]string{"==", "!=", "=>", "<=", ">=", "+=", ":=", "?.", "**", "//", "&&", "||"} {
		if strings.HasPrefix(r.in[r.at:], two) {
			r.push(codeMark, two)
			r.at += 2
			return
		}
	}
	r.push(codeMark, r.in[r.at:r.at+1])
	r.at++
}

func isCodeName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (r *codeReader) name() {
	start := r.at
	for r.at < len(r.in) && isCodeName(r.in[r.at]) {
		r.at++
	}
	word := r.in[start:r.at]
	if !r.script && len(word) <= 3 && r.at < len(r.in) && (r.in[r.at] == '"' || r.in[r.at] == '\'') && strings.Trim(strings.ToLower(word), "rbfut") == "" {
		r.text(strings.ToLower(word), r.in[r.at])
		return
	}
	r.push(codeName, word)
}

// text reads a string literal whose prefix has been read.
func (r *codeReader) text(prefix string, quote byte) {
	long := !r.script && strings.HasPrefix(r.in[r.at:], strings.Repeat(string(quote), 3))
	closing := string(quote)
	if long {
		closing = r.in[r.at : r.at+3]
	}
	i := r.at + len(closing)
	raw, formatted := strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft")
	var value strings.Builder
	token := codeToken{kind: codeString}
	for i < len(r.in) && !strings.HasPrefix(r.in[i:], closing) {
		c := r.in[i]
		switch {
		case c == '\n' && !long:
			r.open = true
			token.text, r.at = value.String(), i
			r.tokens = append(r.tokens, token)
			return
		case c == '\\' && i+1 < len(r.in):
			if raw {
				value.WriteString(r.in[i : i+2])
				i += 2
				continue
			}
			i = unescape(&value, r.in, i)
			continue
		case formatted && c == '{' && strings.HasPrefix(r.in[i:], "{{"):
			value.WriteByte('{')
			i += 2
			continue
		case formatted && c == '{':
			end := strings.IndexAny(r.in[i:min(len(r.in), i+2048)], "}\n")
			if end > 0 {
				r.computed = append(r.computed, r.in[i+1:i+end])
				value.WriteByte(0)
				token.dynamic = true
				i += end + 1
				continue
			}
		}
		value.WriteByte(c)
		i++
	}
	if i >= len(r.in) {
		r.open = true
	}
	token.text = value.String()
	r.tokens = append(r.tokens, token)
	r.at = min(len(r.in), i+len(closing))
}

// unescape writes what the escape at i stands for and returns where it ends.
func unescape(value *strings.Builder, in string, i int) int {
	digits := 0
	switch in[i+1] {
	case 'n':
		value.WriteByte('\n')
	case 't':
		value.WriteByte('\t')
	case 'r':
		value.WriteByte('\r')
	case '\n':
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	default:
		value.WriteByte(in[i+1])
	}
	if digits == 0 {
		return i + 2
	}
	code := rune(0)
	end := i + 2
	for end < len(in) && end < i+2+digits && hexValue(in[end]) >= 0 {
		code = code<<4 | rune(hexValue(in[end]))
		end++
	}
	if end < i+2+digits || !utf8.ValidRune(code) {
		value.WriteByte(in[i+1])
		return i + 2
	}
	value.WriteRune(code)
	return end
}

// template reads a template literal of JavaScript.
func (r *codeReader) template() {
	i := r.at + 1
	var value strings.Builder
	token := codeToken{kind: codeString}
	for i < len(r.in) && r.in[i] != '`' {
		if r.in[i] == '\\' && i+1 < len(r.in) {
			i = unescape(&value, r.in, i)
			continue
		}
		if strings.HasPrefix(r.in[i:], "${") {
			depth, end := 1, i+2
			for end < len(r.in) && end < i+2048 && depth > 0 {
				switch r.in[end] {
				case '{':
					depth++
				case '}':
					depth--
				}
				end++
			}
			if depth == 0 {
				r.computed = append(r.computed, r.in[i+2:end-1])
				value.WriteByte(0)
				token.dynamic = true
				i = end
				continue
			}
		}
		value.WriteByte(r.in[i])
		i++
	}
	r.open = r.open || i >= len(r.in)
	token.text = value.String()
	r.tokens = append(r.tokens, token)
	r.at = min(len(r.in), i+1)
}

// regexAllowed reports whether a slash begins a regular expression here: not after a value.
func (r *codeReader) regexAllowed() bool {
	if len(r.tokens) == 0 {
		return true
	}
	last := r.tokens[len(r.tokens)-1]
	switch last.kind {
	case codeNumber, codeString:
		return false
	case codeName:
		return last.text == "return" || last.text == "typeof" || last.text == "case" || last.text == "in" || last.text == "of"
	}
	return !last.is(")") && !last.is("]") && !last.is("}")
}

func (r *codeReader) regex() {
	class := false
	for i := r.at + 1; i < len(r.in) && r.in[i] != '\n'; i++ {
		switch c := r.in[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			r.at = i + 1
			for r.at < len(r.in) && isCodeName(r.in[r.at]) {
				r.at++
			}
			r.push(codeNumber, "/regex/")
			return
		}
	}
	r.mark('/')
}
