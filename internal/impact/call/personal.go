package call

import (
	"strings"

	"interlock/internal/lex"
)

// personalText reports whether a message says of a person what is not handed around: where somebody lives, or a record as a
// service gave it out. It is no verdict on the message; it only means that it is more than talk.
func personalText(text string) bool {
	if strings.Contains(text, "{'") || strings.Contains(text, "{\"") || strings.Contains(text, "': '") ||
		strings.Contains(text, `": "`) {
		return true // a record, written as a program writes it
	}
	number, named := 0, false // words since a house number, and whether the last was a name or a number
	for _, field := range strings.Fields(text) {
		word := strings.ToLower(strings.Trim(field, ".,;:()'\""))
		switch {
		case number > 0 && streetWords.Has(word) && named:
			return true
		case word != "" && len(word) <= 5 && digitsAt(word, 0, len(word)):
			number = 3
		case number > 0:
			number--
		}
		named = field[0] < 'a' || field[0] > 'z'
	}
	return false
}

// streetWords end the first line of an address.
var streetWords = lex.Set([]string{"street", "avenue", "ave", "road", "boulevard", "blvd", "drive", "lane", "ln",
	"apt", "apartment"})
