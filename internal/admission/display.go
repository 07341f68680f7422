package admission

import (
	"fmt"
	"strings"
	"unicode"

	"interlock"
)

// Display is the text an approver is shown and signs over by digest: the whole action, nothing cut, with every control,
// bidirectional and invisible character spelled out so that what is read is what would run (AISVS 9.2.2).
func Display(a interlock.Action) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + visible(value) + "\n")
		}
	}
	line("kind", string(a.Kind))
	line("tool", a.Tool)
	line("dir", a.Dir)
	line("stated purpose", a.Hint)
	b.WriteString("\n")
	if len(a.Arguments) > 0 {
		b.WriteString(visible(string(a.Arguments)) + "\n")
	}
	if a.Input != "" {
		for _, l := range strings.Split(a.Input, "\n") {
			b.WriteString(visible(l) + "\n")
		}
	}
	return b.String()
}

// visible spells out every character that does not show as itself, as ⟦U+202E⟧. The opening bracket is spelled out as
// well, so that no text can pass for a spelling.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || r == '⟦' || !Shows(r) {
			fmt.Fprintf(&b, "⟦%U⟧", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Shows reports whether a character is seen as itself. What Unicode calls printable is not enough: some letters and marks
// are drawn as nothing at all, such as the Hangul filler, variation selectors and the Braille blank.
func Shows(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
