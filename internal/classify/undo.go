package classify

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"interlock/internal/lex"
)

// maxLayers bounds how often a text is taken out of an encoding that is in another one.
const maxLayers = 2

// unescaped is a text with its escapes undone: percent signs of addresses, \u, \x, \n and octal numbers of programs, and of HTML its
// references and the tags within a line. It is no other text, and ok is false, where they hold nothing but signs of markup: those
// need no second look.
func unescaped(text string) (v view, ok bool) {
	if strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '&') < 0 &&
		strings.IndexByte(text, '<') < 0 {
		return v, false
	}
	at := 0
	for ; at < len(text) && !ok; at++ {
		if c := text[at]; c == '%' || c == '\\' || c == '&' || c == '<' {
			r, _, n := escape(text, at)
			ok = n > 0 && (tells(r) || c == '\\' && (r == '\n' || r == '/'))
		}
	}
	if !ok {
		return v, false
	}
	out := make([]byte, 0, len(text))
	v.places = make([]int32, 0, len(text)+1)
	for at = 0; at < len(text); {
		r, single, n := escape(text, at)
		switch {
		case n == 0:
			out, n = append(out, text[at]), 1
		case r == nothing:
		case single:
			out = append(out, byte(r))
		default:
			out = utf8.AppendRune(out, r)
		}
		for len(v.places) < len(out) {
			v.places = append(v.places, int32(at))
		}
		at += n
	}
	v.places = append(v.places, int32(len(text)))
	v.text = string(out)
	return v, true
}

// tells reports a character of which texts are made, rather than markup.
func tells(r rune) bool {
	return r == nothing || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 ||
		r == ' ' || r == '@' || r == '-' || r == '_' || r == '.' || r == '+' || r == '%' || r == '\\'
}

// nothing takes the place of an escape that no character is seen for.
const nothing rune = -1

// escape reads the escape that begins at a place, and how long it is; 0: there is none. single says that it is one byte, of UTF-8
// perhaps.
func escape(text string, at int) (r rune, single bool, n int) {
	switch text[at] {
	case '%':
		if r, n = digits16(text[at+1:], 2, 2); n > 0 {
			return r, true, n + 1
		}
	case '\\':
		r, n = backslash(text[at:])
	case '&':
		r, n = reference(text[at:])
	case '<':
		r, n = inline(text[at:])
	}
	return r, false, n
}

// digits16 reads between least and most hexadecimal digits.
func digits16(text string, least, most int) (value rune, n int) {
	for n < most && n < len(text) {
		d := lex.HexValue(text[n])
		if d < 0 {
			break
		}
		value = value<<4 | rune(d)
		n++
	}
	if n < least {
		return 0, 0
	}
	return value, n
}

// backslash reads \n, \/, \xHH, \NNN, \uHHHH, a pair of these, \u{H} and \UHHHHHHHH.
func backslash(text string) (r rune, n int) {
	if len(text) > 1 {
		switch text[1] {
		case 'n', 'r':
			return '\n', 2
		case '/':
			return '/', 2
		}
	}
	if len(text) < 4 {
		return 0, 0
	}
	if text[1] >= '0' && text[1] <= '3' && text[2] >= '0' && text[2] <= '7' && text[3] >= '0' && text[3] <= '7' {
		return rune(text[1]-'0')<<6 | rune(text[2]-'0')<<3 | rune(text[3]-'0'), 4
	}
	switch text[1] {
	case 'x':
		r, n = digits16(text[2:], 2, 2)
	case 'U':
		r, n = digits16(text[2:], 8, 8)
	case 'u':
		if text[2] == '{' {
			if r, n = digits16(text[3:], 1, 6); n > 0 && 3+n < len(text) && text[3+n] == '}' {
				return r, n + 4
			}
			return 0, 0
		}
		if r, n = digits16(text[2:], 4, 4); n > 0 && utf16.IsSurrogate(r) && strings.HasPrefix(text[6:], `\u`) {
			if low, more := digits16(text[8:], 4, 4); more > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
				return utf16.DecodeRune(r, low), 12
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	return r, n + 2
}

// maxReference bounds the name of a character in HTML.
const maxReference = 32

// reference reads &#D;, &#xH; and &name;, whose last sign may be missing after a number.
func reference(text string) (r rune, n int) {
	if len(text) < 4 {
		return 0, 0
	}
	if text[1] == '#' {
		if text[2]|0x20 == 'x' {
			if r, n = digits16(text[3:], 1, 6); n > 0 {
				n += 3
			}
		} else {
			for n = 2; n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9'; n++ {
			}
			value, err := strconv.Atoi(text[2:n])
			if err != nil {
				return 0, 0
			}
			r = rune(value)
		}
		if n > 0 && n < len(text) && text[n] == ';' {
			n++
		}
		return r, n
	}
	for n = 1; n < len(text) && n < maxReference && isLetter(text[n]); n++ {
	}
	if n < 3 || n == len(text) || text[n] != ';' {
		return 0, 0
	}
	n++
	plain := html.UnescapeString(text[:n])
	if plain == text[:n] {
		return 0, 0
	}
	r, _ = utf8.DecodeRuneInString(plain)
	return r, n
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// tags are those of HTML that stand within a line and are not seen.
const tags = " a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span strike strong sub sup time tt " +
	"u var wbr "

// maxTag bounds a tag with its attributes.
const maxTag = 256

// inline reads a tag of HTML that stands within a line, the end of a line, or a comment.
func inline(text string) (r rune, n int) {
	text = text[:min(len(text), maxTag)]
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text, "-->"); end >= 0 {
			return nothing, end + 3
		}
		return 0, 0
	}
	at := 1
	if at < len(text) && text[at] == '/' {
		at++
	}
	for n = at; n < len(text) && isLetter(text[n]); n++ {
	}
	if n == at || n-at > 6 || n == len(text) || strings.IndexByte(" />", text[n]) < 0 {
		return 0, 0
	}
	name, end := strings.ToLower(text[at:n]), strings.IndexAny(text[n:], "<>")
	switch {
	case end < 0 || text[n+end] == '<':
		return 0, 0
	case name == "br":
		return '\n', n + end + 1
	case strings.Contains(tags, " "+name+" "):
		return nothing, n + end + 1
	}
	return 0, 0
}
