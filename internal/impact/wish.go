package impact

import (
	"slices"
	"sort"
	"strings"

	"interlock/internal/inject"
)

// maxWishes bounds how much of what a user said is read for wishes, in bytes.
const maxWishes = 32 << 10

// Wishes returns the kinds of act that the user's words ask for, in order: spend, message, account, delete, credential. It is a
// reading of prose, and good for no more than keeping a question from being put that the user has just answered.
func (a *Analyser) Wishes(said string) []string {
	low := strings.ToLower(said[:min(len(said), maxWishes)])
	var kinds []string
	for _, sentence := range strings.FieldsFunc(low,
		func(r rune) bool { return r == '.' || r == '!' || r == '?' || r == ';' || r == '\n' }) {
		words := strings.FieldsFunc(sentence, func(r rune) bool {
			return r != '-' && r != '\'' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
		})
		at := make(map[string][]int, len(words))
		for n, word := range words {
			at[word] = append(at[word], n)
			if single, plural := strings.CutSuffix(word, "s"); plural {
				at[single] = append(at[single], n)
			}
		}
		for _, w := range a.know.ToolTable().Wishes {
			if !slices.Contains(kinds, w.Kind) && wished(words, at, w.Words) {
				kinds = append(kinds, w.Kind)
			}
		}
	}
	sort.Strings(kinds)
	return kinds
}

// maxGap is how far apart two words of a wish may stand.
const maxGap = 5

func wished(words []string, at map[string][]int, wish []string) bool {
	for _, first := range at[wish[0]] {
		if first > 0 && denies(words[first-1]) || first > 1 && denies(words[first-2]) {
			continue
		}
		last, all := first, true
		for _, word := range wish[1:] {
			places := at[word]
			next := sort.SearchInts(places, last+1)
			if all = next < len(places) && places[next]-last <= maxGap; !all {
				break
			}
			last = places[next]
		}
		if all {
			return true
		}
	}
	return false
}

func denies(word string) bool {
	switch word {
	case "not", "don't", "never", "without", "no", "nobody", "cannot", "can't", "doesn't":
		return true
	}
	return false
}

// Orders reports whether a text holds instructions for the model that reads it, as far as can be seen.
func Orders(text string) bool { return inject.Injected(text) }
