package ruleset

import "strings"

// Glob reports whether pattern matches the whole of text: * means any run of characters, ? any one, everything else
// itself regardless of case. It takes time proportional to the product of the lengths at worst and never recurses.
func Glob(pattern, text string) bool { return matchFolded(foldText(pattern), foldText(text)) }

// matchFolded is Glob over texts that are folded already.
func matchFolded(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			t += runeLength(text[t])
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func runeLength(first byte) int {
	switch {
	case first < 0xC0:
		return 1
	case first < 0xE0:
		return 2
	case first < 0xF0:
		return 3
	}
	return 4
}

// foldText lowers ASCII letters, and the two letters outside ASCII that RE2's case folding equates with ASCII ones: the
// long s (U+017F) and the Kelvin sign (U+212A). A prefilter that left those two alone would miss what a pattern matches.
func foldText(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' || c == 0xC5 || c == 0xE2 {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case strings.HasPrefix(s[i:], "\u017f"):
			b.WriteByte('s')
			i++
		case strings.HasPrefix(s[i:], "\u212a"):
			b.WriteByte('k')
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// globLiterals returns the runs of plain characters that any text matching the glob holds.
func globLiterals(pattern string) [][]string {
	var groups [][]string
	for _, run := range strings.FieldsFunc(foldText(pattern), func(r rune) bool { return r == '*' || r == '?' }) {
		if len(run) >= minLiteral {
			groups = append(groups, []string{run})
		}
	}
	return groups
}
