package classify

import (
	"encoding/base64"
	"strings"

	"interlock/internal/lex"
)

// What may be text that is encoded: words from a length on, in base64 or hexadecimal, and dumps of bytes.
const (
	minEncoded = 15 // eleven bytes
	minDump    = 11 // bytes
	minFolded  = 40 // characters of the lines over which a word is folded
	maxStarts  = 4  // places in a word at which what is encoded may begin
)

// encoded adds the words of a text, in base64 or hexadecimal, that hold something once they are decoded: each whole, under the
// strictest rule.
func (r *Ruleset) encoded(text string, all []found, deep int) []found {
	alone := 0 // up to here lines were looked at as one word, in vain
	for at := 0; at < len(text); {
		if !inBase64(text[at]) {
			at++
			continue
		}
		start := at
		for at < len(text) && inBase64(text[at]) {
			at++
		}
		if plain, end := dump(text, start); end > 0 {
			if plain != "" {
				all = r.holds(plain, start, end, all, deep)
			}
			at = max(at, end)
			continue
		}
		if at-start < minEncoded {
			continue
		}
		if at-start >= minFolded && start >= alone {
			if word, end := foldedWord(text, start, at); end > at {
				before := len(all)
				if all = r.word(word, start, end, all, deep); len(all) > before {
					at = end
					continue
				}
				alone = end
			}
		}
		all = r.word(text[start:at], start, at, all, deep)
	}
	return all
}

func inBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// foldedWord is a word that goes on over the ends of lines, as encoders fold it: all its lines but the last are as long as the first.
// The first of a text may be the rest of one.
func foldedWord(text string, start, end int) (word string, stop int) {
	var out []byte
	stop = end
	for length := end - start; ; {
		next := nextLine(text, stop)
		last := next
		for last < len(text) && inBase64(text[last]) {
			last++
		}
		n := last - next
		if n == 0 || n > length && (start > 0 || out != nil) {
			return string(out), stop
		}
		if out == nil {
			out = append(make([]byte, 0, 4*length), text[start:end]...)
		}
		out, stop = append(out, text[next:last]...), last
		if n < length {
			return string(out), stop
		}
		length = n
	}
}

// nextLine returns where the text of the line behind the one begins that ends at a place; the end of the text if it does not end there.
func nextLine(text string, at int) int {
	for at < len(text) && isBlank(text[at]) {
		at++
	}
	if at == len(text) || text[at] != '\n' {
		return len(text)
	}
	_, behind := around(text, at)
	return behind
}

// word looks at the parts of a word that may be encoded by themselves: between signs of equality, and behind what leads to them, as
// in data/… and key=…. What stands in a text's beginning may be the rest of a word.
func (r *Ruleset) word(word string, start, end int, all []found, deep int) []found {
	for at := 0; at < len(word); {
		for at < len(word) && word[at] == '=' {
			at++
		}
		stop := at
		for stop < len(word) && word[stop] != '=' {
			stop++
		}
		if stop-at >= minEncoded {
			from, to := start, end
			if len(word) == end-start { // it is not folded
				from, to = start+at, start+len(word)-len(strings.TrimLeft(word[stop:], "="))
			}
			all = r.part(word[at:stop], start == 0 && at == 0, from, to, all, deep)
		}
		at = stop
	}
	return all
}

// part looks at a part of the word between two places.
func (r *Ruleset) part(part string, rest bool, start, end int, all []found, deep int) []found {
	before := len(all)
	try := func(from int) bool {
		if plain := decodedWord(part[from:]); plain != "" {
			all = r.holds(plain, start, end, all, deep)
		}
		return len(all) > before
	}
	from := 0
	for range maxStarts {
		if try(from) {
			return all
		}
		next := strings.IndexAny(part[from:], "/-_")
		if next < 0 || len(part)-from-next-1 < minEncoded {
			break
		}
		from += next + 1
	}
	for from := 1; rest && from < 4 && len(part)-from >= minEncoded && !try(from); from++ {
	}
	return all
}

// holds adds a place where something is encoded that a rule is about.
func (r *Ruleset) holds(plain string, start, end int, all []found, deep int) []found {
	worst := -1
	inner := r.risks(plain, r.layers(plain, nil, deep), deep)
	for n := range inner {
		if worst < 0 || r.worse(inner[n].rule, inner[worst].rule) {
			worst = n
		}
	}
	if worst >= 0 {
		all = append(all, found{start, end, inner[worst].kind, inner[worst].tier, inner[worst].rule})
	}
	return all
}

// decodedWord is the text that a word says once it is decoded, or nothing.
func decodedWord(word string) string {
	if plain := hexText(word); plain != "" {
		return plain
	}
	const head = 16
	var first [12]byte
	if !mixed(word) || !lex.Textual(unbase64(first[:0], word[:min(len(word), head)])) {
		return ""
	}
	return lex.PlainText(unbase64(make([]byte, 0, len(word)*3/4), word))
}

// mixed reports a word with letters of both sizes, which the base64 of a text has.
func mixed(word string) bool {
	var small, large bool
	for i := 0; i < len(word) && !(small && large); i++ {
		small, large = small || word[i] >= 'a' && word[i] <= 'z', large || word[i] >= 'A' && word[i] <= 'Z'
	}
	return small && large
}

// unbase64 decodes base64 of both alphabets, as far as its bytes are whole; nil: it is none.
func unbase64(to []byte, word string) []byte {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(word, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(word)%4 == 1 {
		word = word[:len(word)-1]
	}
	out, err := encoding.AppendDecode(to, []byte(word))
	if err != nil {
		return nil
	}
	return out
}

// hexText is what a word of hexadecimal digits says, or nothing if that is no text.
func hexText(word string) string {
	if strings.HasPrefix(word, "0x") {
		word = word[2:]
	}
	var first [minDump]byte
	if len(word) < 2*minDump || !lex.Textual(unhex(first[:0], word[:2*minDump])) {
		return ""
	}
	return lex.PlainText(unhex(make([]byte, 0, len(word)/2), word))
}

// unhex decodes hexadecimal digits, the last one alone left out; nil: there is something else among them.
func unhex(to []byte, word string) []byte {
	for at := 0; at+1 < len(word); at += 2 {
		c, n := digits16(word[at:], 2, 2)
		if n == 0 {
			return nil
		}
		to = append(to, byte(c))
	}
	return to
}

// dump is what groups of two, four or eight hexadecimal digits say that one sign stands between, as dumps and programs write bytes, or
// nothing; and where they end. That is nowhere, 0, where there are few.
func dump(text string, start int) (plain string, end int) {
	size := hexDigits(text, start+prefixed(text, start))
	if size != 2 && size != 4 && size != 8 {
		return "", 0
	}
	var out []byte
	between := byte(0)
	for at := start; ; {
		from := at + prefixed(text, at)
		if hexDigits(text, from) != size || from+size < len(text) && text[from+size] != '-' && inBase64(text[from+size]) {
			break
		}
		if out == nil {
			if from+size == len(text) || strings.IndexByte(" :,-", text[from+size]) < 0 {
				return "", 0
			}
			between, out = text[from+size], make([]byte, 0, 32)
		}
		out, end = unhex(out, text[from:from+size]), from+size
		if end == len(text) || text[end] != between {
			break
		}
		for at = end + 1; at < len(text) && at-end < 3 && (text[at] == ' ' || text[at] == '\n'); at++ {
		}
	}
	if len(out) < minDump {
		return "", 0
	}
	return lex.PlainText(out), end
}

// prefixed is how long the sign for hexadecimal digits is that stands at a place.
func prefixed(text string, at int) int {
	if strings.HasPrefix(text[at:], "0x") {
		return 2
	}
	return 0
}

// hexDigits is how many hexadecimal digits stand at a place, up to nine.
func hexDigits(text string, at int) (n int) {
	for n < 9 && at+n < len(text) && lex.HexValue(text[at+n]) >= 0 {
		n++
	}
	return n
}
