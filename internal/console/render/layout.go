package render

import (
	"strconv"
	"strings"
	"unicode"

	"interlock/internal/admission/core"
)

// A Piece is a stretch of text that either shows as itself or has been spelled out.
type Piece struct {
	Text    string
	Special bool
}

// Visible spells out every character of a text that does not show as itself, line ends included, so that what an agent
// wrote can't pass for something else on the page.
func Visible(s string) []Piece { return pieces(s, false) }

// inPlain is visible for what is no markup, such as the name of a bar.
func inPlain(s string) string {
	var b strings.Builder
	for _, p := range Visible(s) {
		if p.Special {
			p.Text = "⟦" + p.Text + "⟧"
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Readable is visible for texts of several lines.
func Readable(s string) []Piece { return pieces(s, true) }

func pieces(s string, lines bool) []Piece {
	var out []Piece
	start := 0
	for i, r := range s {
		if core.Shows(r) && r != unicode.ReplacementChar || r == '\n' && lines {
			continue
		}
		if i > start {
			out = append(out, Piece{Text: s[start:i]})
		}
		out = append(out, Piece{Text: spelled(r), Special: true})
		start = i + len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], string(unicode.ReplacementChar)) {
			start = i + 1 // one byte that is no UTF-8
		}
	}
	if start < len(s) {
		out = append(out, Piece{Text: s[start:]})
	}
	return out
}

// spelled names a character.
func spelled(r rune) string {
	switch r {
	case '\n':
		return "↵"
	case '\t':
		return "⇥"
	default:
		return "U+" + strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16))[1:]
	}
}

// Shorten cuts a text for a list, at a character.
func Shorten(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Comma writes a number in groups of three.
func Comma(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
