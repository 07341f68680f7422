package know

import (
	"strings"

	"interlock/internal/lex"
)

// A Wish is words by which people ask for an act of a kind.
type Wish struct {
	Kind  string
	Words []string
}

func wishesOf(data map[string][]string) []Wish {
	var out []Wish
	for _, kind := range lex.SortedNames(data) {
		for _, phrase := range data[kind] {
			out = append(out, Wish{kind, strings.Fields(phrase)})
		}
	}
	return out
}
