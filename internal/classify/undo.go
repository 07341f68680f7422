package classify

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"interlock/internal/lex"
	"interlock/internal/personal"
	"interlock/internal/secret"
)

// maxLayers bounds how often a text is taken out of an encoding that is in another one.
const maxLayers = 2

// unescaped is a text with its escapes undone: percent signs of addresses, \u and \x of programs, the numbers and commonest names of
// HTML. It is no other text, and ok is false, where they hold nothing but signs of markup: those need no second look.
func unescaped(text string) (v view, ok bool) {
	if strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '&') < 0 {
		return v, false
	}
	at := 0
	for ; at < len(text) && !ok; at++ {
		r, _, n := escape(text, at)
		ok = n > 0 && tells(r)
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
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 ||
		r == ' ' || r == '@' || r == '-' || r == '_' || r == '.' || r == '+' || r == '%' || r == '\\'
}

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

// backslash reads \xHH, \uHHHH, a pair of these, \u{H} and \UHHHHHHHH.
func backslash(text string) (r rune, n int) {
	if len(text) < 4 {
		return 0, 0
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

// references are the names of characters that HTML has and texts are hidden behind.
const references = "amp & lt < gt > quot \" apos ' commat @ period . colon : lowbar _ hyphen - dash - sol / num # plus + comma ,"

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
	name, _, closed := strings.Cut(text[1:min(len(text), 10)], ";")
	if !closed || name == "" {
		return 0, 0
	}
	if name == "nbsp" {
		return ' ', len(name) + 2
	}
	if at := strings.Index(" "+references, " "+name+" "); at >= 0 && len(name) > 1 {
		r, _ = utf8.DecodeRuneInString(references[at+len(name)+1:])
		return r, len(name) + 2
	}
	return 0, 0
}

// through adds what is found in a text as a view has it, where that stood.
func (v *view) through(all []found, find func(text string, all []found) []found) []found {
	n := len(all)
	all = find(v.text, all)
	for i := n; i < len(all); i++ {
		s := &all[i]
		s.Start, s.End = v.place(s.Start), v.place(s.End)
		s.End = max(s.End, s.Start+1) // within one escape
	}
	return all
}

// hexText is what a word of hexadecimal digits says, or nil if that is no text.
func hexText(word string) []byte {
	word = strings.TrimPrefix(word, "0x")
	if len(word)%2 != 0 || len(word) < minEncoded {
		return nil
	}
	for at := 0; at < len(word); at += 2 {
		if c, n := digits16(word[at:], 2, 2); n == 0 || !readableByte(byte(c)) {
			return nil
		}
	}
	out := make([]byte, 0, len(word)/2)
	for at := 0; at < len(word); at += 2 {
		c, _ := digits16(word[at:], 2, 2)
		out = append(out, byte(c))
	}
	if !utf8.Valid(out) {
		return nil
	}
	return out
}

// hexPairs is what pairs of hexadecimal digits say that one sign stands between, as dumps are written, or nil; and where they end.
func hexPairs(text string, start int) (plain []byte, end int) {
	end = start + 2
	if end >= len(text) || strings.IndexByte(" :,", text[end]) < 0 {
		return nil, end
	}
	between := text[end]
	for at := start; ; at = end + 1 {
		c, n := digits16(text[at:], 2, 2)
		if n == 0 || at+2 < len(text) && inBase64(text[at+2]) {
			break
		}
		plain, end = append(plain, byte(c)), at+2
		if end >= len(text) || text[end] != between || end+1 >= len(text) {
			break
		}
	}
	if 2*len(plain) < minEncoded || !readable(plain) {
		return nil, end
	}
	return plain, end
}

// The bounds on what is read over the ends of lines: characters of one line, and of all.
const (
	maxBroken = 512
	maxChain  = 4 << 10
)

// broken adds tokens and numbers that a line break stands in, as it does where lines are folded.
func (r *Ruleset) broken(text string, all []found) []found {
	seen := 0 // up to here tokens were looked for
	for at := strings.IndexByte(text, '\n'); at >= 0; {
		if r.personal {
			all = r.brokenNumber(text, at, all)
		}
		if r.secrets && at >= seen {
			all, seen = r.brokenToken(text, at, all)
		}
		next := strings.IndexByte(text[at+1:], '\n')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return all
}

// around returns where the text before a line break ends and that behind it begins.
func around(text string, at int) (before, behind int) {
	before, behind = at, at+1
	for before > 0 && at-before < 64 && isBlank(text[before-1]) {
		before--
	}
	for behind < len(text) && behind-at < 64 && isBlank(text[behind]) {
		behind++
	}
	return before, behind
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func inToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '+' || c == '/' || c == '='
}

// brokenToken looks for a token over a line break, and over those behind it as long as lines are one word. Before next all was seen.
func (r *Ruleset) brokenToken(text string, at int, all []found) (_ []found, next int) {
	next = at + 1
	before, behind := around(text, at)
	if before == 0 || behind >= len(text) || !inToken(text[before-1]) || !inToken(text[behind]) {
		return all, next
	}
	from := before
	for from > 0 && before-from < maxBroken && inToken(text[from-1]) {
		from--
	}
	if !mayGoOn(text, from, before, behind) {
		return all, next
	}
	var v view
	out := make([]byte, 0, 2*(before-from)+64)
	add := func(from, to int) {
		for i := from; i < to; i++ {
			out, v.places = append(out, text[i]), append(v.places, int32(i))
		}
	}
	add(from, before)
	for behind < len(text) && len(out) < maxChain {
		end := behind
		for end < len(text) && end-behind < maxBroken && inToken(text[end]) {
			end++
		}
		add(behind, end)
		behind = end
		if end < len(text) && text[end] == '\r' {
			end++
		}
		if end == len(text) || text[end] != '\n' {
			break
		}
		_, more := around(text, end)
		if more == len(text) || !inToken(text[more]) {
			break
		}
		behind, next = more, end+1
	}
	v.text, v.places = string(out), append(v.places, int32(behind))
	for _, s := range secret.Find(v.text) {
		if start, end := v.place(s.Start), v.place(s.End-1)+1; strings.IndexByte(text[start:end], '\n') >= 0 {
			if rule := r.rule("secret", s.Kind, ""); rule >= 0 {
				all = append(all, found{start, end, s.Kind, "", rule})
			}
		}
	}
	return all, next
}

// mayGoOn reports whether what ends a line and what begins the next can be one token: long, with a digit, and not the time at which
// lines of logs begin.
func mayGoOn(text string, from, before, behind int) bool {
	digits := 0
	for at := from; at < before; at++ {
		if text[at] >= '0' && text[at] <= '9' {
			digits++
		}
	}
	end := behind
	for end < len(text) && end-behind < maxBroken && inToken(text[end]) {
		if text[end] >= '0' && text[end] <= '9' {
			digits++
		}
		end++
	}
	timed := end+1 < len(text) && text[end] == ':' && inNumber(text[end+1])
	whole := end < len(text) && (text[end] == '\n' || text[end] == '\r') // then the digits may be in the next line
	return (digits > 0 || whole) && !timed && before-from+end-behind >= 16
}

// brokenNumber looks for a number over a line break that needs no word beside it: of a card, an account or a person.
func (r *Ruleset) brokenNumber(text string, at int, all []found) []found {
	before, behind := around(text, at)
	if before == 0 || behind >= len(text) || !inNumber(text[before-1]) || !inNumber(text[behind]) {
		return all
	}
	from, to := before, behind
	for from > 0 && before-from < 40 && (inNumber(text[from-1]) || isBlank(text[from-1]) || text[from-1] == '\n') {
		from--
	}
	for from < before && (isBlank(text[from]) || text[from] == '\n') {
		from++
	}
	for letters := 0; from > 0 && letters < 2 && text[from-1] >= 'A' && text[from-1] <= 'Z'; letters++ { // an account's country
		from--
	}
	for to < len(text) && to-behind < 40 && (inNumber(text[to]) || isBlank(text[to]) || text[to] == '\n') {
		to++
	}
	for to > behind && (isBlank(text[to-1]) || text[to-1] == '\n') {
		to--
	}
	if from > 0 && inToken(text[from-1]) && text[from-1] != '=' || to < len(text) && inToken(text[to]) ||
		to+1 < len(text) && (text[to] == ':' || text[to] == '.') && inNumber(text[to+1]) {
		return all
	}
	digits, formed := 0, false
	for _, c := range []byte(text[from:to]) {
		if c >= '0' && c <= '9' {
			digits++
		}
		formed = formed || c == '-' || c >= 'A'
	}
	if digits < 9 || digits > 34 || !formed && (digits < 13 || digits > 19) {
		return all
	}
	for _, between := range []string{"", " "} {
		v := unfolded(text, from, to, between)
		for _, s := range personal.Find(v.text) {
			start, end := v.place(s.Start), v.place(s.End-1)+1
			rule := r.rule("personal", s.Kind, string(s.Tier))
			if s.Tier == personal.High && rule >= 0 && strings.IndexByte(text[start:end], '\n') >= 0 {
				return append(all, found{start, end, s.Kind, string(s.Tier), rule})
			}
		}
	}
	return all
}

// unfolded is a part of a text with its line breaks, and the blanks beside them, replaced. A sign stands before it, because of a text
// that is nothing but a number more is believed.
func unfolded(text string, from, to int, between string) view {
	v := view{places: []int32{int32(from), int32(from)}}
	out := []byte("| ")
	for at := from; at < to; {
		end := at
		for end < to && (isBlank(text[end]) || text[end] == '\n') {
			end++
		}
		piece := text[at:max(end, at+1)]
		if strings.IndexByte(piece, '\n') >= 0 {
			piece = between
		}
		for range len(piece) {
			v.places = append(v.places, int32(at))
		}
		out = append(out, piece...)
		at = max(end, at+1)
	}
	v.text, v.places = string(out), append(v.places, int32(to))
	return v
}

func inNumber(c byte) bool { return c >= '0' && c <= '9' || c == '-' }
