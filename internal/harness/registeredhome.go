package harness

import "strings"

// Home is the Interlock home that a registered command names, or nothing.
func (r Registration) Home() string {
	words := r.Argv
	if len(words) == 0 {
		words = shellWords(r.Shell)
	}
	for i := 0; i+1 < len(words); i++ {
		if words[i] == "--home" {
			return words[i+1]
		}
	}
	return ""
}

// shellWords are the words of a line as Interlock writes them for a shell: quotes stand around whole words or parts of them. What
// another wrote there, with expansions and substitutions, is not what such a line holds.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	inside, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			i++
			word.WriteByte('\'')
			inside = true
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}
