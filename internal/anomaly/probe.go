package anomaly

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

// maxWords bounds of how many words an action's patterns are made.
const maxWords = 12

// Families are the patterns that an action is one of: what it says, without the digits in it, and with one of its words after the
// first left open. Two actions that differ in one word alone have a pattern in common, so an agent that tries one name after
// another is seen doing it, and one that does the same thing again and again is not.
func Families(text string) []uint64 {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '*' })
	if len(words) > maxWords {
		words = append(words[:maxWords-1:maxWords-1], strings.Join(words[maxWords-1:], " "))
	}
	for n, word := range words {
		words[n] = strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '0'
			}
			return r
		}, word)
	}
	families := make([]uint64, 0, len(words))
	for open := range words {
		if open == 0 && len(words) > 1 {
			continue // the program, or the tool
		}
		h := fnv.New64a()
		for n, word := range words {
			if n == open {
				word = "*"
			}
			h.Write([]byte(word))
			h.Write([]byte{0})
		}
		families = append(families, h.Sum64())
	}
	return families
}

// Name names an action by its text.
func Name(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// probed remembers an action that only reads and went wrong, under each of its patterns.
func (p *Profile) probed(f Fact) {
	for _, of := range f.Families {
		at := slices.IndexFunc(p.Slot.Probes, func(one Pattern) bool { return one.Of == of })
		if at < 0 {
			if len(p.Slot.Probes) >= maxPattern {
				p.Slot.Probes = slices.Delete(p.Slot.Probes, 0, 1)
			}
			p.Slot.Probes = append(p.Slot.Probes, Pattern{Of: of, Actions: []uint64{f.Probe}})
			continue
		}
		one := &p.Slot.Probes[at]
		if len(one.Actions) < maxVariant && !slices.Contains(one.Actions, f.Probe) {
			one.Actions = append(one.Actions, f.Probe)
		}
	}
}

// variants is how many different actions of one pattern went wrong in this slot.
func (p *Profile) variants() (most int) {
	for _, one := range p.Slot.Probes {
		most = max(most, len(one.Actions))
	}
	return most
}
