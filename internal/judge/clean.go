package judge

import (
	"strings"
	"unicode/utf8"
)

// clean is a text of a model in one line, without what is not seen, cut to so many bytes.
func clean(text string, most int) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case r <= ' ' || r == 0x85 || r == 0xa0 || r == 0x2028 || r == 0x2029:
			space = b.Len() > 0
			continue
		case hidden(r) || r == utf8.RuneError:
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if b.Len()+utf8.RuneLen(r) > most {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ")
}
