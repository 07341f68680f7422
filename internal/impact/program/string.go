package program

import (
	"strings"
	"unicode/utf8"

	"interlock/internal/lex"
)

// A codePieces collects the value of a string literal as it is read.
type codePieces struct {
	text  strings.Builder
	parts []codePart
}

// compute ends the text so far and adds the source of an expression.
func (p *codePieces) compute(source string) {
	if p.text.Len() > 0 {
		p.parts = append(p.parts, codePart{text: p.text.String()})
		p.text.Reset()
	}
	p.parts = append(p.parts, codePart{text: source, computed: true})
}

func (p *codePieces) token() codeToken {
	t := codeToken{kind: codeString}
	if p.parts == nil {
		t.text = p.text.String()
		return t
	}
	if p.text.Len() > 0 {
		p.parts = append(p.parts, codePart{text: p.text.String()})
	}
	t.parts = p.parts
	return t
}

// text reads a string literal whose prefix has been read.
func (r *codeReader) text(prefix string, quote byte) {
	long := !r.script && strings.HasPrefix(r.in[r.at:], strings.Repeat(string(quote), 3))
	closing := r.in[r.at : r.at+1]
	if long {
		closing = r.in[r.at : r.at+3]
	}
	i := r.at + len(closing)
	raw, formatted := strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft")
	var value codePieces
	for i < len(r.in) && !strings.HasPrefix(r.in[i:], closing) {
		c := r.in[i]
		switch {
		case c == '\n' && !long:
			r.open = true
			r.pushToken(value.token())
			r.at = i
			return
		case c == '\\' && i+1 < len(r.in):
			if raw {
				value.text.WriteString(r.in[i : i+2])
				i += 2
				continue
			}
			i = unescape(&value.text, r.in, i)
			continue
		case formatted && c == '{' && strings.HasPrefix(r.in[i:], "{{"), formatted && c == '}' &&
			strings.HasPrefix(r.in[i:], "}}"):
			value.text.WriteByte(c)
			i += 2
			continue
		case formatted && c == '{' && i >= r.literal:
			if source, end := computedPart(r.in, i+1, long); end > 0 {
				value.compute(source)
				i = end
				continue
			}
			r.literal = min(len(r.in), i+maxComputed)
		}
		value.text.WriteByte(c)
		i++
	}
	r.open = r.open || i >= len(r.in)
	r.pushToken(value.token())
	r.at = min(len(r.in), i+len(closing))
}

// maxComputed bounds how far the end of an expression inside a string is looked for.
const maxComputed = 4096

// computedPart returns the expression of an f-string that begins at i, and where the text goes on. What follows a colon or
// a conversion is how it is printed.
func computedPart(in string, i int, long bool) (source string, end int) {
	limit := min(len(in), i+maxComputed)
	depth, stop := 0, -1
	for at := i; at < limit; at++ {
		switch c := in[at]; c {
		case '\n':
			if !long {
				return "", 0
			}
		case '\'', '"':
			if stop >= 0 {
				continue
			}
			next := skipQuoted(in[:limit], at)
			if next == 0 {
				return "", 0
			}
			at = next - 1
		case '(', '[', '{':
			depth++
		case ')', ']':
			depth--
		case '!', ':':
			if depth == 0 && stop < 0 && !strings.HasPrefix(in[at:], "!=") {
				stop = at
			}
		case '}':
			if depth > 0 {
				depth--
				continue
			}
			if stop < 0 {
				stop = at
			}
			return strings.TrimRight(in[i:stop], " ="), at + 1
		}
	}
	return "", 0
}

// skipQuoted returns where the string that begins at i ends, or 0.
func skipQuoted(in string, i int) int {
	quote := in[i]
	if strings.HasPrefix(in[i:], strings.Repeat(string(quote), 3)) && quote != '`' {
		if end := strings.Index(in[i+3:], in[i:i+3]); end >= 0 {
			return i + 3 + end + 3
		}
		return 0
	}
	for at := i + 1; at < len(in); at++ {
		switch in[at] {
		case '\\':
			at++
		case quote:
			return at + 1
		case '\n':
			if quote != '`' {
				return 0
			}
		}
	}
	return 0
}

// unescape writes what the escape at i means and returns where it ends.
func unescape(value *strings.Builder, in string, i int) int {
	digits, base, from := 0, rune(16), i+2
	switch c := in[i+1]; c {
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
		if strings.HasPrefix(in[from:], "{") { // \u{…} of JavaScript
			return unescapeBraced(value, in, from+1)
		}
	case 'U':
		digits = 8
	case '0', '1', '2', '3', '4', '5', '6', '7':
		base, from = 8, i+1
		for digits < 3 && from+digits < len(in) && in[from+digits] >= '0' && in[from+digits] <= '7' {
			digits++
		}
	default:
		value.WriteByte(c)
	}
	if digits == 0 {
		return i + 2
	}
	code, end := rune(0), from
	for end < len(in) && end < from+digits && lex.HexValue(in[end]) >= 0 {
		code = code*base + rune(lex.HexValue(in[end]))
		end++
	}
	if end < from+digits || !utf8.ValidRune(code) || code == 0 {
		value.WriteByte(in[i+1])
		return i + 2
	}
	value.WriteRune(code)
	return end
}

func unescapeBraced(value *strings.Builder, in string, i int) int {
	code, end := rune(0), i
	for end < len(in) && end < i+6 && lex.HexValue(in[end]) >= 0 {
		code = code<<4 | rune(lex.HexValue(in[end]))
		end++
	}
	if end < len(in) && in[end] == '}' && utf8.ValidRune(code) && code != 0 {
		value.WriteRune(code)
		return end + 1
	}
	value.WriteString("u{")
	return i
}

// template reads a template literal of JavaScript.
func (r *codeReader) template() {
	i := r.at + 1
	var value codePieces
	for i < len(r.in) && r.in[i] != '`' {
		if r.in[i] == '\\' && i+1 < len(r.in) {
			i = unescape(&value.text, r.in, i)
			continue
		}
		if i >= r.literal && strings.HasPrefix(r.in[i:], "${") {
			if end := closingBrace(r.in[:min(len(r.in), i+maxComputed)], i+2, 0); end > 0 {
				value.compute(r.in[i+2 : end])
				i = end + 1
				continue
			}
			r.literal = min(len(r.in), i+maxComputed)
		}
		value.text.WriteByte(r.in[i])
		i++
	}
	r.open = r.open || i >= len(r.in)
	token := value.token()
	token.ticked = true
	r.pushToken(token)
	r.at = min(len(r.in), i+1)
}

// closingBrace returns where the brace is closed that was opened before i, or 0. Strings and templates inside are skipped.
func closingBrace(in string, i, level int) int {
	depth := 0
	for ; i < len(in); i++ {
		switch in[i] {
		case '\'', '"':
			next := skipQuoted(in, i)
			if next == 0 {
				return 0
			}
			i = next - 1
		case '`':
			if i = closingTick(in, i+1, level+1); i == 0 {
				return 0
			}
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return 0
}

func closingTick(in string, i, level int) int {
	for ; i < len(in); i++ {
		switch {
		case in[i] == '\\':
			i++
		case in[i] == '`':
			return i
		case strings.HasPrefix(in[i:], "${") && level < 4:
			if i = closingBrace(in, i+2, level); i == 0 {
				return 0
			}
		}
	}
	return 0
}

// regexAllowed reports whether a slash begins a regular expression here: not after a value.
func (r *codeReader) regexAllowed() bool {
	n := len(r.tokens) - 1
	if n < 0 {
		return true
	}
	last := &r.tokens[n]
	switch last.kind {
	case codeNumber, codeString:
		return false
	case codeName:
		switch last.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await",
			"yield", "instanceof":
			return true
		}
		return false
	}
	switch last.text {
	case "]", "++", "--":
		return false
	case ")": // the head of a statement, or a call
		opened := int(last.pair)
		if opened < 1 || r.tokens[opened-1].kind != codeName {
			return false
		}
		switch r.tokens[opened-1].text {
		case "if", "while", "for", "with":
			return true
		}
		return false
	case "}": // a block, or an object
		opened := int(last.pair)
		if opened < 1 {
			return opened == 0
		}
		before := &r.tokens[opened-1]
		if before.is(")") || before.is(";") || before.is("{") || before.is("}") || before.text == "else" || before.text == "do" ||
			before.text == "try" || before.text == "finally" {
			return true
		}
		if before.kind == codeMark && !before.is(":") || before.text == "return" { // an object
			return false
		}
		r.doubtful = true // the body of a class, or something after a label
		return r.slashes
	}
	return true
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
			i++
			for i < len(r.in) && isCodeName(r.in[i]) {
				i++
			}
			r.push(codeNumber, "/regex/")
			r.at = i
			return
		}
	}
	r.mark('/')
}
