package know

import (
	"strings"

	"interlock/internal/lex"
)

// A wish is words by which people ask for an act of a kind.
type wish struct {
	Kind  string
	Words []string
}

func wishesOf(data map[string][]string) []wish {
	var out []wish
	for _, kind := range lex.SortedNames(data) {
		for _, phrase := range data[kind] {
			out = append(out, wish{kind, strings.Fields(phrase)})
		}
	}
	return out
}
